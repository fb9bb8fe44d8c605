// SPDX-License-Identifier: GPL-2.0-or-later
/* hotvar-cflags: -O2 -g -static */
/* advise_static.c - advise_access without a dynamic loader. */
#include "advise_access.c"
