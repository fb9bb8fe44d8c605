/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * debug_file.h - the separate file that holds the symbols and debug information of a stripped one.
 *
 * It is looked for where debuggers look, in this order:
 *
 *	DEBUGDIR/.build-id/6c/9b2d...e1.debug	by the build-id
 *	DIR/NAME  DIR/.debug/NAME  DEBUGDIR/DIR/NAME	by .gnu_debuglink, which says NAME and a CRC
 *
 * DIR is the file's own folder.  DEBUGDIR is each of $HOTVAR_DEBUGDIR (separated by colons), or
 * /usr/lib/debug.  It is believed only if its build-id is the file's; without build-ids, if the CRC is
 * right and it is for the same machine.  Where nothing is found, a file that debuginfod brought once, by build-id
 * too, in libdebuginfod's own cache (debug_server.h).
 */
#ifndef DEBUG_FILE_H
#define DEBUG_FILE_H

#include <stdint.h>

#include "elf_file.h"

enum debug_origin { DEBUG_BY_BUILD_ID, DEBUG_BY_LINK, DEBUG_BY_SERVER };

struct debug_file {
	struct elf_file f; /* with its section headers */
	int fd;
	enum debug_origin origin;
	char path[4096]; /* f.name */
};

/*
 * Find and open the debug file of @f, which has its section headers read.
 *
 * Returns 0 (close it with debug_file_close()); -ENOENT: there is none, or none that can be believed:
 * then @e says why, or has no text if there is none at all; or -errno.
 */
int debug_file_open(const struct elf_file *f, struct debug_file *out, struct err *e);
void debug_file_close(struct debug_file *d);

/*
 * If @f has no symbols or debug information of its own, and nobody else has it, ask debuginfod, if that may be asked
 * (debug_server.h).  Returns 0: debug_file_open() finds one now; -ENOENT or -errno.
 */
int debug_file_fetch(const struct elf_file *f);

/*
 * The path of a debug file of build-id @id into @path of PATH_MAX bytes, of one that is there, or that debuginfod brings
 * if it may be asked: @name says to the user what it is.  Whether it has that build-id is the caller's to see.
 */
bool debug_file_by_id(const uint8_t *id, size_t len, const char *name, char *path);

/*
 * A number that changes when another debug file of @f would be found: a hash of what
 * all places where one is looked for hold.  0 if there is nothing.  Reads no debug file.
 */
uint64_t debug_file_key(const struct elf_file *f);

/*
 * The path and the CRC that .gnu_debuglink of @f holds, into @name of 256 bytes.  False if there is
 * none, or none that can be one.
 */
bool debug_file_link(const struct elf_file *f, char name[256], uint32_t *crc);

#endif /* DEBUG_FILE_H */
