/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hvt_link.h - the tool's connection to hotvar.
 *
 * A process whose connection cannot be had, or breaks since hotvar is gone, runs on
 * and is counted for nobody.
 */
#ifndef HVT_LINK_H
#define HVT_LINK_H

#include "pub_tool_basics.h"

#include "hvt_wire.h"

/* The abstract name to connect to, and a path if that is not known (NAME:PATH), from the command line; borrowed. */
void hvt_link_name(const HChar *name);

/*
 * Connect anew and send the HVT_HELLO with the descriptor @fd; @ppid is set after a
 * fork; hotvar's answer is waited for.  False: there is no connection now.
 */
Bool hvt_link_hello(Int fd, UInt ppid);

/* Send @m, whose type and facts are set, and @len bytes at @more after it. */
void hvt_link_send(struct hvt_message *m, const void *more, SizeT len);

/* @fd, moved to where the program neither sees nor closes it; close-on-exec. */
Int hvt_link_safe_fd(Int fd);

#endif /* HVT_LINK_H */
