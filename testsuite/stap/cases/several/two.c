// SPDX-License-Identifier: GPL-2.0-or-later
/* two.c - the second. */
#include "one.c"
