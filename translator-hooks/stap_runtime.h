/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stap_runtime.h - stap's own C runtime, mended where it is at fault or does not fit the kernel.
 *
 * Distributions ship pairs of SystemTap and kernel in which no script builds, or no module loads, for
 * one line of the runtime, or in which output is lost.  What tells is the text of the kernel's headers and of the runtime, never a
 * version.  The original is left alone: stap gets a copy of it by -R.
 */
#ifndef STAP_RUNTIME_H
#define STAP_RUNTIME_H

#include <stdbool.h>
#include <stddef.h>

#include "runtime/user/err.h"

/*
 * What is to be mended of the runtime @dir for the kernel whose build tree is @build, as words for
 * people in @what ("" if nothing).  Returns how many mends, 0 also where it cannot be told.
 */
int stap_runtime_faults(const char *dir, const char *build, char *what, size_t n);

/*
 * Make a mended copy of @dir for the kernel of @build, in this user's cache folder and nobody else's to
 * write, or find the one made before of the same text.  Its path goes to @out.  Returns 0, or -errno and @e.
 */
int stap_runtime_mend(const char *dir, const char *build, char *out, size_t n, struct err *e);

#endif /* STAP_RUNTIME_H */
