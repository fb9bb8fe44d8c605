// SPDX-License-Identifier: GPL-2.0-or-later
/* hotvar-cflags: -O1 -g -pthread -static */
/* line_short_static.c - line_short without a loader and a libc of its own: what valgrind reads and translates of those takes it longest. */
#include "line_short.c"
