/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * line_file.h - which line of source a place in the code comes from, by the file's debug information.
 */
#ifndef LINE_FILE_H
#define LINE_FILE_H

#include <stdbool.h>
#include <stdint.h>

struct line_file;

/* The ELF file open as @fd (borrowed), called @path, with its debug file if it has one.  NULL: no memory, or it has none. */
struct line_file *line_file_open(int fd, const char *path);
void line_file_close(struct line_file *f);

/* The line of the instruction at @vaddr, of the file without its folder; false: not known.  *@file lives as long as @f. */
bool line_file_find(struct line_file *f, uint64_t vaddr, const char **file, uint32_t *line);

#endif /* LINE_FILE_H */
