// SPDX-License-Identifier: GPL-2.0-or-later
/* three.c - the one that is not followed. */
#define NO_CHECKPOINT
#include "one.c"
