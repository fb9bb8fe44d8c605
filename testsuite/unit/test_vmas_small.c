// SPDX-License-Identifier: GPL-2.0-or-later
/* test_vmas_small.c - the VMA list's tests with nodes so small that its tree gets high. */
#define HVAR_VMAS_LEAF_SHIFT 3
#define TEST_NAME	     "vmas_small"
#include "testsuite/unit/test_vmas.c"
