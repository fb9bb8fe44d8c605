// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * prefetch_code.c - the decoder of the Valgrind tool (hvt_prefetch_code.h), for samples: one source, so both see the same.
 */
#include "config.h"

#include "runtime/valgrind/hvt_prefetch_code.c"
