// SPDX-License-Identifier: GPL-2.0-or-later
/* hotvar-cflags: -O2 -g -pthread -static */
/* line_threads_static.c - line_threads without a loader and a libc of its own: what valgrind reads and translates of those takes it longest. */
#include "line_threads.c"
