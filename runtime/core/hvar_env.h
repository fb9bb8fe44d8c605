/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hvar_env.h - the one file that knows where the core is being compiled.
 *
 * The core needs from its environment: the fixed-width integers, bool, NULL,
 * the errno numbers, memcpy(), memmove(), memset() and memcmp().  Nothing else:
 * it never allocates, locks, sleeps, prints, exits or reads a clock.
 */
#ifndef HVAR_ENV_H
#define HVAR_ENV_H

#ifdef __KERNEL__
#include <linux/errno.h>
#include <linux/string.h>
#include <linux/types.h>
#ifdef HVAR_KERNEL_OBJECT
#define HVAR_API /* compiled on its own, as the object test does */
#else
/* stap builds everything as one translation unit. */
#define HVAR_API static __attribute__((unused))
#endif
#else
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#define HVAR_API
#endif

/* 4096 on every machine the images are made for; pages of a map, not of a TLB. */
#define HVAR_PAGE_SHIFT 12
#define HVAR_PAGE_SIZE  ((uint64_t)1 << HVAR_PAGE_SHIFT)
#define HVAR_PAGE_MASK  (HVAR_PAGE_SIZE - 1)

#define HVAR_PAGE_DOWN(a) ((uint64_t)(a) & ~HVAR_PAGE_MASK)
#define HVAR_PAGE_UP(a)   (((uint64_t)(a) + HVAR_PAGE_MASK) & ~HVAR_PAGE_MASK)

#define HVAR_ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

#endif /* HVAR_ENV_H */
