/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sort_keys.h - numbers of 32 bits, each with what it belongs to, put in order.
 *
 * A key holds the number in its upper half and whatever else in its lower one.
 */
#ifndef SORT_KEYS_H
#define SORT_KEYS_H

#include <stdint.h>

/*
 * The @n keys at @keys by the lowest @bits of their upper halves, those alike in the order they have;
 * @spare has room for as many.  Returns the one of the two that holds the result.
 */
uint64_t *sort_keys(uint64_t *keys, uint64_t *spare, uint32_t n, unsigned bits);

#endif /* SORT_KEYS_H */
