/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * heap_names.h - what objects are called: by the innermost function that is no allocator and no wrapper of one.
 *
 *	heap:parse_line@parser.c:42	its file and line
 *	heap:parse_line@libfoo.so+0x11a2	no line is known: the place in the module
 *	heap:libfoo.so+0x11a2		nor is the function
 *	heap:[unknown]			the stack is not known at all
 *
 * A wrapper is a function of the library that valgrind loads; one whose name has malloc, calloc, realloc or memalign
 * in it, or ends in alloc, allocate, strdup, strndup, wcsdup or memdup, whatever its case and with _ or digits after it; mmap, mmap64 and mremap;
 * operator new; all of the C++ and Rust standard libraries, by namespace or, where it was inlined, by the name of its
 * file.  If there is nothing else, the outermost counts.
 */
#ifndef HEAP_NAMES_H
#define HEAP_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One frame of a stack; strings are the text's; "" and 0: not known. */
struct heap_frame {
	const char *function, *file, *module;
	uint64_t line, addr;
};

/* The frames in the @len bytes at @text (struct stream_heap), at most @max into @v; how many. */
size_t heap_names_frames(const char *text, size_t len, struct heap_frame *v, size_t max);

/* Is this function an allocator, or a wrapper of one?  @inlined: it has become a part of another. */
bool heap_names_wraps(const struct heap_frame *f, bool inlined);

/* What an object that was allocated, or (@mapped: "mmap:...") a mapping that was made there is called, malloc'd; NULL: no memory. */
char *heap_names_make(const struct heap_frame *v, size_t n, bool mapped);

#endif /* HEAP_NAMES_H */
