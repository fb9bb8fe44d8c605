// SPDX-License-Identifier: GPL-2.0-or-later
/* hotvar-cflags: -O2 -g -static -pthread -DNO_LIBRARY */
/* line_processes_static.c - line_processes without a loader and a libc of its own, and so without cow. */
#include "line_processes.c"
