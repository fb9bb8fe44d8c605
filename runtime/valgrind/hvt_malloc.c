// SPDX-License-Identifier: GPL-2.0-or-later
#include "hvt_malloc.h"

#include "pub_tool_basics.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_replacemalloc.h"
#include "pub_tool_tooliface.h"
#include "pub_tool_vkiscnums.h"

#include "hvt_heap.h"
#include "hvt_line.h"
#include "hvt_sys.h"

#define PAGE 4096UL

enum { ZERO_BY_KERNEL = 256 << 10, MADV_DONTNEED_ = 4 };

/* Of much memory the kernel's pages are zeros already, and need not be there at all. */
static void zero(Addr p, SizeT size)
{
	Addr first = (p + PAGE - 1) & ~(PAGE - 1), stop = (p + size) & ~(PAGE - 1);

	if (size < ZERO_BY_KERNEL || hvt_sys(__NR_madvise, (long)first, (long)(stop - first), MADV_DONTNEED_, 0, 0, 0)) {
		VG_(memset)((void *)p, 0, size);
		return;
	}
	VG_(memset)((void *)p, 0, first - p);
	VG_(memset)((void *)stop, 0, p + size - stop);
}

static void *allocate(ThreadId tid, SizeT align, SizeT size)
{
	void *p;

	if ((SSizeT)size < 0)
		return NULL;
	p = VG_(cli_malloc)(align < VG_(clo_alignment) ? VG_(clo_alignment) : align, size);
	if (p) {
		hvt_heap_begin(tid, (Addr)p, size);
		hvt_line_object((Addr)p, size);
	}
	return p;
}

static void *malloc_(ThreadId tid, SizeT n)
{
	return allocate(tid, 0, n);
}

static void *memalign_(ThreadId tid, SizeT align, SizeT n)
{
	return allocate(tid, align, n);
}

static void *new_aligned(ThreadId tid, SizeT n, SizeT align)
{
	return allocate(tid, align, n);
}

/* As newer versions of Valgrind call them, with the alignment that was asked for. */
static void *memalign_asked(ThreadId tid, SizeT align, SizeT asked, SizeT n)
{
	(void)asked;
	return allocate(tid, align, n);
}

static void *new_aligned_asked(ThreadId tid, SizeT n, SizeT align, SizeT asked)
{
	(void)asked;
	return allocate(tid, align, n);
}

static void *calloc_(ThreadId tid, SizeT n, SizeT each)
{
	SizeT size;
	void *p;

	if (__builtin_mul_overflow(n, each, &size))
		return NULL;
	p = allocate(tid, 0, size);
	if (p)
		zero((Addr)p, size);
	return p;
}

/* What is no object is left alone. */
static void free_(ThreadId tid, void *p)
{
	struct hvt_heap_object o;

	(void)tid;
	if (!hvt_heap_find((Addr)p, &o))
		return;
	hvt_heap_end(&o);
	VG_(cli_free)(p);
}

static void delete_aligned(ThreadId tid, void *p, SizeT align)
{
	(void)align;
	free_(tid, p);
}

static void *realloc_(ThreadId tid, void *p, SizeT size)
{
	SizeT room;
	struct hvt_heap_object o;
	void *to;

	if (!p)
		return allocate(tid, 0, size);
	if ((SSizeT)size < 0 || !hvt_heap_find((Addr)p, &o))
		return NULL;
	room = VG_(cli_malloc_usable_size)(p);
	if (size <= room && (room <= 64 || size >= room / 2)) {
		hvt_heap_end(&o);
		hvt_heap_begin(tid, (Addr)p, size);
		if (size > o.size)
			hvt_line_object((Addr)p + o.size, size - o.size);
		return p;
	}
	to = allocate(tid, 0, size);
	if (!to)
		return NULL;
	VG_(memcpy)(to, p, o.size < size ? o.size : size);
	free_(tid, p);
	return to;
}

static SizeT usable_size(ThreadId tid, void *p)
{
	struct hvt_heap_object o;

	(void)tid;
	return hvt_heap_find((Addr)p, &o) ? o.size : 0;
}

/* Valgrind 3.22 has given some of its call-backs one argument more. */
typedef void *alloc_1(ThreadId, SizeT);
typedef void *alloc_2(ThreadId, SizeT, SizeT);
typedef void *alloc_3(ThreadId, SizeT, SizeT, SizeT);
typedef void free_1(ThreadId, void *);
typedef void free_2(ThreadId, void *, SizeT);
typedef void *realloc_1(ThreadId, void *, SizeT);
typedef SizeT size_1(ThreadId, void *);
typedef void needs_old(alloc_1 *, alloc_1 *, alloc_2 *, alloc_1 *, alloc_2 *, alloc_2 *, alloc_2 *, free_1 *, free_1 *, free_2 *,
		       free_1 *, free_2 *, realloc_1 *, size_1 *, SizeT);
typedef void needs_new(alloc_1 *, alloc_1 *, alloc_3 *, alloc_1 *, alloc_3 *, alloc_3 *, alloc_2 *, free_1 *, free_1 *, free_2 *,
		       free_1 *, free_2 *, realloc_1 *, size_1 *, SizeT);

void hvt_malloc_init(void)
{
	void *volatile needs = VG_(needs_malloc_replacement);

	if (__builtin_types_compatible_p(__typeof__(VG_(needs_malloc_replacement)), needs_old))
		((needs_old *)needs)(malloc_, malloc_, new_aligned, malloc_, new_aligned, memalign_, calloc_,
								     free_, free_, delete_aligned, free_, delete_aligned, realloc_,
								     usable_size, 0);
	else
		((needs_new *)needs)(malloc_, malloc_, new_aligned_asked, malloc_, new_aligned_asked,
								     memalign_asked, calloc_, free_, free_, delete_aligned, free_,
								     delete_aligned, realloc_, usable_size, 0);
}
