/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hvt_malloc.h - malloc and its like, that stand in for the program's.
 *
 * They are called only if the library that leads to them is loaded into the program: a folder of valgrind's files
 * without it leaves the program its own.
 */
#ifndef HVT_MALLOC_H
#define HVT_MALLOC_H

/* Before options are known. */
void hvt_malloc_init(void);

#endif /* HVT_MALLOC_H */
