/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * debug_server.h - debug files from debuginfod servers, by build-id.
 *
 * Nothing is asked of any server unless debug_server_ask() was called and $DEBUGINFOD_URLS names one.  The asking is
 * done by libdebuginfod, which is loaded then and not before, keeps what comes in its own cache and knows for a while what a
 * server does not have.  A server that is silent for 10 seconds ($DEBUGINFOD_TIMEOUT says another number) is
 * given up, and so is a file of more than 2 GiB ($DEBUGINFOD_MAXSIZE, in bytes).  ^C gives up too.  Who gives up once
 * asks no more in this run: the next files go without.
 *
 * Whether what came is the right file is the caller's to judge.  Used by one thread at a time.
 */
#ifndef DEBUG_SERVER_H
#define DEBUG_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What the user is told; either may be NULL. */
struct debug_server_hooks {
	/* Of @all bytes of the debug file of @name (0: not known yet), so many are here; @all < 0: that is over. */
	void (*progress)(const char *name, long bytes, long all);
	/* It goes on without the debug file of @name: @why, in words. */
	void (*without)(const char *name, const char *why);
	bool absent; /* also where no server has it, which is no fault of anybody */
};

/* Servers may be asked from now on.  @hooks is borrowed for ever. */
void debug_server_ask(const struct debug_server_hooks *hooks);

/* May they be: is the library there, and does $DEBUGINFOD_URLS name one? */
bool debug_server_asked(void);

/* Why not, in a sentence; NULL if all that is needed is there.  Does not matter whether it was asked for. */
const char *debug_server_why(void);

/* A number in the environment that is none, and what is taken instead, in a sentence into @text; false: the @i-th is good, or unset. */
#define DEBUG_SERVER_NUMBERS 2
bool debug_server_bad_number(unsigned i, char *text, size_t size);

/*
 * Where libdebuginfod keeps the debug file of build-id @id, into @path: false if that is too long, or nobody knows.  The
 * file may not be there; an empty one says that no server has it.
 */
bool debug_server_path(const uint8_t *id, size_t len, char *path, size_t size);

/*
 * Ask for the debug file of build-id @id; @name says of what, to the user.  Returns 0: it is at debug_server_path() now;
 * -ENOENT: no server has it; or -errno.  Not asked, it is -ENOENT.
 */
int debug_server_get(const uint8_t *id, size_t len, const char *name);

/* What came of build-id @id is not what it should be: away with it, so that it is not believed by others either. */
void debug_server_wrong(const uint8_t *id, size_t len, const char *name);

#endif /* DEBUG_SERVER_H */
