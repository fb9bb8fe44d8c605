// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "thread_tls.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "runtime/core/hvar_image_format.h"

/* How much of an area is searched for thread pointers: all of small ones, the ends of others; and of all together. */
#define WHOLE	   ((uint64_t)1 << 20)
#define PART	   ((uint64_t)256 << 10)
#define ALL	   ((uint64_t)128 << 20)
#define ALIGN	   64	/* of a thread's control block in glibc */
#define BLOCKS_MAX ((size_t)1 << 20)
#define NUMBERS_MAX 65536
/* Pagemap entries: Documentation/admin-guide/mm/pagemap.rst */
#define PM_PRESENT ((uint64_t)1 << 63)
#define PM_SWAP	   ((uint64_t)1 << 62)

/* One file's block in one thread. */
struct block {
	uint64_t start, end, thread;
	uint32_t module;
	bool doubtful; /* overlaps another's: one of the two is not where it was thought to be */
};

/* Words at the thread pointer (glibc: tcbhead_t). */
struct head {
	uint64_t self, table, again;
};

struct thread_tls {
	pid_t pid;
	int pagemap; /* -1: cannot be read */
	uint64_t *threads;
	size_t n_threads, cap_threads;
	struct block *v; /* by start */
	size_t n, cap;
};

struct thread_tls *thread_tls_new(pid_t pid)
{
	struct thread_tls *t = calloc(1, sizeof(*t));

	char path[64];

	if (!t)
		return NULL;
	t->pid = pid;
	snprintf(path, sizeof(path), "/proc/%d/pagemap", (int)pid);
	t->pagemap = open(path, O_RDONLY | O_CLOEXEC);
	return t;
}

void thread_tls_free(struct thread_tls *t)
{
	if (!t)
		return;
	if (t->pagemap >= 0)
		close(t->pagemap);
	free(t->threads);
	free(t->v);
	free(t);
}

static bool get(const struct thread_tls *t, uint64_t addr, void *buf, size_t n)
{
	struct iovec to = { buf, n }, from = { (void *)(uintptr_t)addr, n };

	return process_vm_readv(t->pid, &to, 1, &from, 1, 0) == (ssize_t)n;
}

/* ---- threads ---- */

/* The thread's table has its length before it; entry @i is 16 bytes, of which the first 8 are the block's address. */
static bool table_entry(const struct thread_tls *t, uint64_t table, uint64_t i, uint64_t *out)
{
	uint64_t n;

	return get(t, table - 16, &n, sizeof(n)) && n < NUMBERS_MAX && i <= n &&
	       get(t, table + 16 * i, out, sizeof(*out));
}

static void note_thread(struct thread_tls *t, uint64_t at, uint64_t table)
{
	uint64_t generation;

	if (!table || table % 8 || !table_entry(t, table, 0, &generation))
		return;
	if (t->n_threads == t->cap_threads) {
		size_t cap = t->cap_threads ? 2 * t->cap_threads : 16;
		uint64_t *v = realloc(t->threads, cap * sizeof(*v));

		if (!v)
			return;
		t->threads = v;
		t->cap_threads = cap;
	}
	t->threads[t->n_threads++] = at;
}

/* Read [@start, @end), but for pages that are not there: reading would make them, and they hold nothing. */
static void read_pages(const struct thread_tls *t, uint64_t start, uint64_t end, uint8_t *buf)
{
	uint64_t entries[WHOLE >> HVAR_PAGE_SHIFT], at, run;
	size_t n = (size_t)(end - start) >> HVAR_PAGE_SHIFT, i, k;

	memset(buf, 0, (size_t)(end - start));
	if (t->pagemap < 0 || pread(t->pagemap, entries, n * 8, (off_t)(start >> HVAR_PAGE_SHIFT) * 8) !=
				      (ssize_t)(n * 8))
		memset(entries, 0xff, sizeof(entries));
	for (i = 0; i < n; i = k) {
		for (k = i; k < n && entries[k] & (PM_PRESENT | PM_SWAP); k++)
			;
		at = start + (i << HVAR_PAGE_SHIFT);
		run = (k - i) << HVAR_PAGE_SHIFT;
		if (run && !get(t, at, buf + (at - start), run))
			for (; run; run -= HVAR_PAGE_SIZE, at += HVAR_PAGE_SIZE)
				get(t, at, buf + (at - start), HVAR_PAGE_SIZE);
		k += k == i;
	}
}

static void search(struct thread_tls *t, uint64_t start, uint64_t end, uint8_t *buf)
{
	uint64_t at;
	size_t i, n = (size_t)(end - start);
	struct head h;

	read_pages(t, start, end, buf);
	for (i = 0; i + sizeof(h) <= n; i += ALIGN) {
		at = start + i;
		memcpy(&h, buf + i, sizeof(h));
		if (h.self == at && h.again == at)
			note_thread(t, at, h.table);
	}
}

static void search_all(struct thread_tls *t, const struct hvar_vmas *vmas)
{
	const struct hvar_vma *v;
	uint8_t *buf = malloc(WHOLE);
	uint64_t left = ALL;

	for (v = hvar_vmas_next(vmas, 0); v && buf && left > WHOLE; v = hvar_vmas_next(vmas, v->end)) {
		uint64_t n = v->end - v->start;

		if ((v->region != HVAR_REGION_ANON && v->region != HVAR_REGION_HEAP) ||
		    (v->prot & 7) != (HVAR_PROT_READ | HVAR_PROT_WRITE) || v->prot & HVAR_PROT_SHARED)
			continue;
		if (n <= WHOLE) {
			search(t, v->start, v->end, buf);
		} else {
			search(t, v->start, v->start + PART, buf);
			search(t, v->end - PART, v->end, buf);
			n = 2 * PART;
		}
		left -= n;
	}
	free(buf);
}

/* ---- blocks ---- */

static void add_block(struct thread_tls *t, const struct hvar_vmas *vmas, uint64_t thread, uint64_t start,
		      uint64_t size, uint32_t module)
{
	const struct hvar_vma *v = hvar_vmas_find(vmas, start);

	if (!v || size > v->end - start || !(v->prot & HVAR_PROT_WRITE) || t->n == BLOCKS_MAX)
		return;
	if (t->n == t->cap) {
		size_t cap = t->cap ? 2 * t->cap : 64;
		struct block *b = realloc(t->v, cap * sizeof(*b));

		if (!b)
			return;
		t->v = b;
		t->cap = cap;
	}
	t->v[t->n++] = (struct block){ start, start + size, thread, module, false };
}

static uint64_t main_distance(const struct hvar_image_seg *tls)
{
	uint64_t align = tls->align && !(tls->align & (tls->align - 1)) ? tls->align : 1;

	return (tls->memsz + align - 1) & ~(align - 1);
}

/*
 * What the descriptor at @at leads to (glibc: struct tlsdesc, struct tlsdesc_dynamic_arg): a distance below the thread
 * pointer, or a number in the table of blocks, which stands beside the offset that the file asked for.
 */
static void descriptor(const struct thread_tls *t, uint64_t at, uint64_t value, uint64_t *distance, uint64_t *number)
{
	uint64_t arg, index[2];

	if (!get(t, at + 8, &arg, sizeof(arg)))
		return;
	if ((int64_t)arg < 0)
		*distance = value - arg;
	else if (arg && get(t, arg, index, sizeof(index)) && index[0] && index[0] < NUMBERS_MAX && index[1] == value)
		*number = index[0];
}

/* The blocks of module @id, loaded at @bias, in all threads. */
static void add_module(struct thread_tls *t, const struct hvar_vmas *vmas, const struct hvar_image *img,
		       uint32_t id, uint64_t bias, bool is_exe)
{
	const struct hvar_image_tls_slot *s;
	uint64_t distance = 0, number = 0, word, at;
	struct head h;
	uint32_t i, n;
	size_t k;

	s = hvar_image_table(img, HVAR_IMAGE_TLS_SLOTS, sizeof(*s), &n);
	for (i = 0; i < n && i < 2; i++) {
		if (!get(t, bias + s[i].vaddr, &word, sizeof(word)))
			continue;
		if (s[i].kind == HVAR_TLS_SLOT_OFFSET)
			distance = s[i].value - word;
		else if (s[i].kind == HVAR_TLS_SLOT_DESC)
			descriptor(t, bias + s[i].vaddr, s[i].value, &distance, &number);
		else if (word && word < NUMBERS_MAX)
			number = word;
	}
	/* the program itself is next to the thread pointer, by the ABI */
	if (is_exe)
		distance = main_distance(&img->tls);
	for (k = 0; k < t->n_threads; k++) {
		uint64_t thread = t->threads[k];

		if (distance && distance < thread)
			add_block(t, vmas, thread, thread - distance, img->tls.memsz, id);
		else if (number && get(t, thread, &h, sizeof(h)) &&
			 table_entry(t, h.table, number, &at) && at && at != ~(uint64_t)0)
			add_block(t, vmas, thread, at, img->tls.memsz, id);
	}
}

static int by_start(const void *pa, const void *pb)
{
	const struct block *a = pa, *b = pb;

	return a->start < b->start ? -1 : a->start > b->start;
}

void thread_tls_look(struct thread_tls *t, const struct hvar_vmas *vmas, hvar_image_of_fn image_of,
		     void *ctx, uint32_t exe)
{
	const struct hvar_vma *v;
	uint32_t last = 0, why;
	size_t i;

	t->n = t->n_threads = 0;
	search_all(t, vmas);
	for (v = hvar_vmas_next(vmas, 0); v && t->n_threads; v = hvar_vmas_next(vmas, v->end)) {
		const struct hvar_image *img;
		struct hvar_place p;

		/* a file's areas follow each other; what is mapped twice is two files here */
		if (v->region != HVAR_REGION_FILE || !v->module || v->module == last)
			continue;
		img = image_of(ctx, v->module, &why);
		if (!img || !img->tls.memsz)
			continue;
		hvar_resolve(vmas, v->start, image_of, ctx, &p);
		if (!(p.flags & HVAR_PLACE_VADDR) || p.module != v->module)
			continue;
		last = v->module;
		add_module(t, vmas, img, v->module, p.bias, v->module == exe);
	}
	if (t->n)
		qsort(t->v, t->n, sizeof(*t->v), by_start);
	for (i = 1; i < t->n; i++)
		if (t->v[i].start < t->v[i - 1].end)
			t->v[i].doubtful = t->v[i - 1].doubtful = true;
}

bool thread_tls_find(const struct thread_tls *t, uint64_t addr, hvar_image_of_fn image_of, void *ctx,
		     struct hvar_place *p, uint64_t *thread)
{
	size_t lo = 0, hi = t->n;
	const struct hvar_image *img;
	const struct block *b;
	uint32_t why;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (t->v[mid].start <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	b = lo ? &t->v[lo - 1] : NULL;
	if (!b || addr >= b->end || b->doubtful)
		return false;
	img = image_of(ctx, b->module, &why);
	if (!img)
		return false;
	p->module = b->module;
	p->kind = HVAR_KIND_TLS;
	p->flags = HVAR_PLACE_TLS;
	p->section = HVAR_IMAGE_NONE;
	p->symbol = hvar_image_find_tls(img, addr - b->start);
	p->reason = p->symbol != HVAR_IMAGE_NONE ? HVAR_REASON_NONE :
		    img->flags & HVAR_IMAGE_STRIPPED ? HVAR_REASON_STRIPPED : HVAR_REASON_NO_SYMBOL;
	if (p->symbol != HVAR_IMAGE_NONE) {
		p->offset = addr - b->start - img->tls_syms[p->symbol].vaddr;
		p->size = img->tls_syms[p->symbol].size;
	}
	*thread = b->thread;
	return true;
}
