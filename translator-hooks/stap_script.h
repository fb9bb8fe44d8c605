/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stap_script.h - which programs and libraries the text of a script names.
 *
 * The text is not parsed, its words are only looked at, and more is found rather than less: what is
 * in a branch of the preprocessor that stap leaves out, too.
 */
#ifndef STAP_SCRIPT_H
#define STAP_SCRIPT_H

#include <stdbool.h>
#include <stddef.h>

#include "stap_options.h"

enum stap_names {
	STAP_NAMES_PROGRAM, /* process("NAME"), and macros of the vma tapset: along PATH if it has no slash; may be a pattern */
	STAP_NAMES_LIBRARY, /* .library("NAME") */
	STAP_NAMES_PID,	    /* process(1234) */
	STAP_NAMES_FILE,    /* any other string that is an absolute path */
};

/*
 * Call @each for what the script @text, a string, names; @args are $1 and @1 and so on.  @name is
 * good during the call.  Returns what @each does when that is not 0, else 0; or -ENOMEM.
 */
int stap_script_names(const char *text, const struct stap_words *args,
		      int (*each)(void *ctx, enum stap_names what, const char *name), void *ctx);

/* Does @text use the vma tapset: has it a word that begins with vma? */
bool stap_script_uses_vma(const char *text);

#endif /* STAP_SCRIPT_H */
