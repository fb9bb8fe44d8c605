/* hotvar-cflags: -O2 -g -static */
// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * prefetch_right.c - prefetch_past.c, which prefetches nothing behind the end of its array here.
 */
#undef PAST
#include "prefetch_past.c"
