/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * import.h - text of "perf script" -> the records of a recording.
 *
 * Each sample with an address is a STREAM_ACCESS.  With the records of mappings and tasks (--show-mmap-events,
 * --show-task-events) each address is seen in the map of its moment; without, perf's own names are kept beside it.
 * What is in the text is a description of another time, maybe of another machine: no process of this one is looked at.
 */
#ifndef IMPORT_H
#define IMPORT_H

#include "err.h"
#include "import_file.h"
#include "stream.h"

/* The command that makes a text with all that is needed. */
#define IMPORT_COMMAND "perf script -F +pid,+addr --show-mmap-events --show-task-events"
/* The same of a recording of Arm's SPE, of which perf prints neither data_src nor weight unless asked to. */
#define IMPORT_SPE_COMMAND "perf script --itrace=M -F +pid,+addr,+data_src,+weight --show-mmap-events --show-task-events"

/*
 * Read all of @f, which is IMPORT_FILE_TEXT, and put it to @out.  What was not understood is counted, and told in the meta
 * record "note", with the place of the first.  Returns 0; -ENODATA and @e: there are samples, but not one has an address that
 * can be told, and what to type; or -errno and @e.
 */
int import_text(struct import_file *f, struct stream *out, struct err *e);

#endif /* IMPORT_H */
