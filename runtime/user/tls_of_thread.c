// SPDX-License-Identifier: GPL-2.0-or-later
/* tls_of_thread.c - thread pointers and a map of files -> each file's thread-local block of each thread. */
#include "config.h"

#include "tls_of_thread.h"

#include <stdlib.h>
#include <sys/uio.h>

#include "runtime/core/hvar_image_format.h"

/* More than any thread's static block has. */
#define DISTANCE_MAX ((uint64_t)1 << 30)

/* Words at the thread pointer (glibc: tcbhead_t). */
struct head {
	uint64_t self, table;
};

static bool get(pid_t pid, uint64_t addr, void *buf, size_t n)
{
	struct iovec to = { buf, n }, from = { (void *)(uintptr_t)addr, n };

	return process_vm_readv(pid, &to, 1, &from, 1, 0) == (ssize_t)n;
}

/* The thread's table has its length before it; entry @i is 16 bytes, of which the first 8 are the block's address. */
bool tls_of_thread_entry(pid_t pid, uint64_t table, uint64_t i, uint64_t *out)
{
	uint64_t n;

	return get(pid, table - 16, &n, sizeof(n)) && n < TLS_NUMBERS_MAX && i <= n &&
	       get(pid, table + 16 * i, out, sizeof(*out));
}

bool tls_of_thread_program(const struct hvar_image *img, uint64_t *out)
{
	uint64_t align = img->tls.align && !(img->tls.align & (img->tls.align - 1)) ? img->tls.align : 1;

	if (!img->tls.memsz || img->tls.memsz > DISTANCE_MAX || img->tls.vaddr & (align - 1))
		return false;
	*out = (img->tls.memsz + align - 1) & ~(align - 1);
	return true;
}

static void add(struct tls_of_thread *t, const struct hvar_vmas *vmas, const struct tls_block *b)
{
	const struct hvar_vma *v = hvar_vmas_find(vmas, b->start);
	struct tls_block *more;

	if (!v || b->end < b->start || b->end > v->end || !(v->prot & HVAR_PROT_WRITE) || t->n == TLS_BLOCKS_MAX)
		return;
	if (t->n == t->cap) {
		size_t cap = t->cap ? 2 * t->cap : 64;

		more = realloc(t->v, cap * sizeof(*more));
		if (!more)
			return;
		t->v = more;
		t->cap = cap;
	}
	t->v[t->n++] = *b;
}

/*
 * What the descriptor at @at leads to (glibc: struct tlsdesc, struct tlsdesc_dynamic_arg): a distance below the thread
 * pointer, or a number in the table of blocks, which stands beside the offset that the file asked for.
 */
static void descriptor(pid_t pid, uint64_t at, uint64_t value, uint64_t *distance, uint64_t *number)
{
	uint64_t arg, index[2];

	if (!get(pid, at + 8, &arg, sizeof(arg)))
		return;
	if ((int64_t)arg < 0)
		*distance = value - arg;
	else if (arg && get(pid, arg, index, sizeof(index)) && index[0] && index[0] < TLS_NUMBERS_MAX && index[1] == value)
		*number = index[0];
}

/* What module @id with @img, loaded at @bias, says of itself: its distance, or else its number; each 0 if it does not. */
static void ask(const struct tls_process *p, const struct hvar_image *img, uint64_t bias, uint64_t *distance,
		uint64_t *number)
{
	const struct hvar_image_tls_slot *s;
	uint64_t word;
	uint32_t i, n;

	*distance = *number = 0;
	s = hvar_image_table(img, HVAR_IMAGE_TLS_SLOTS, sizeof(*s), &n);
	for (i = 0; i < n && i < 2; i++) {
		if (!get(p->pid, bias + s[i].vaddr, &word, sizeof(word)))
			continue;
		if (s[i].kind == HVAR_TLS_SLOT_OFFSET)
			*distance = s[i].value - word;
		else if (s[i].kind == HVAR_TLS_SLOT_DESC)
			descriptor(p->pid, bias + s[i].vaddr, s[i].value, distance, number);
		else if (word && word < TLS_NUMBERS_MAX)
			*number = word;
	}
}

/* Is a program started by "ld.so PROGRAM"?  Then what the process runs is no program, as far as its file says. */
static bool runs_linker(const struct tls_process *p)
{
	const struct hvar_image *img;
	uint32_t why;

	img = p->exe ? p->image_of(p->ctx, p->exe, &why) : NULL;
	return !img || !(img->flags & HVAR_IMAGE_PROGRAM);
}

static void add_module(struct tls_of_thread *t, const struct tls_process *p, const struct hvar_image *img, uint32_t id,
		       uint64_t bias, bool is_program, const uint64_t *threads, size_t n)
{
	uint64_t distance, number, at;
	struct head h;
	size_t k;

	ask(p, img, bias, &distance, &number);
	if (is_program && !tls_of_thread_program(img, &distance))
		return;
	for (k = 0; k < n; k++) {
		uint64_t thread = threads[k];

		if (distance && distance < thread)
			at = thread - distance;
		else if (!number || !get(p->pid, thread, &h, sizeof(h)) || !h.table || h.table % 8 ||
			 !tls_of_thread_entry(p->pid, h.table, number, &at) || !at || at == ~(uint64_t)0)
			continue;
		add(t, p->vmas, &(struct tls_block){ at, at + img->tls.memsz, thread, id, false });
	}
}

static int by_start(const void *pa, const void *pb)
{
	const struct tls_block *a = pa, *b = pb;

	return a->start < b->start ? -1 : a->start > b->start;
}

void tls_of_thread_look(struct tls_of_thread *t, const struct tls_process *p, const uint64_t *threads, size_t n)
{
	const struct hvar_vma *v;
	uint32_t last = 0, why;
	bool linker = runs_linker(p);
	uint64_t end = 0;
	size_t i, longest = 0;

	t->n = 0;
	for (v = hvar_vmas_next(p->vmas, 0); v && n; v = hvar_vmas_next(p->vmas, v->end)) {
		const struct hvar_image *img;
		struct hvar_place place;

		/* a file's areas follow each other; what is mapped twice is two files here */
		if (v->region != HVAR_REGION_FILE || !v->module || v->module == last)
			continue;
		img = p->image_of(p->ctx, v->module, &why);
		if (!img || !img->tls.memsz)
			continue;
		hvar_resolve(p->vmas, v->start, p->image_of, p->ctx, &place);
		if (!(place.flags & HVAR_PLACE_VADDR) || place.module != v->module)
			continue;
		last = v->module;
		add_module(t, p, img, v->module, place.bias,
			   v->module == p->exe || (linker && img->flags & HVAR_IMAGE_PROGRAM), threads, n);
	}
	if (t->n)
		qsort(t->v, t->n, sizeof(*t->v), by_start);
	for (i = 0; i < t->n; i++) {
		if (t->v[i].start < end)
			t->v[i].doubtful = t->v[longest].doubtful = true;
		if (t->v[i].end > end) {
			end = t->v[i].end;
			longest = i;
		}
	}
}

void tls_of_thread_fini(struct tls_of_thread *t)
{
	free(t->v);
	t->v = NULL;
	t->n = t->cap = 0;
}

const struct tls_block *tls_of_thread_find(const struct tls_of_thread *t, uint64_t addr)
{
	size_t lo = 0, hi = t->n;
	const struct tls_block *b;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (t->v[mid].start <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	b = lo ? &t->v[lo - 1] : NULL;
	return b && addr < b->end && !b->doubtful ? b : NULL;
}

void tls_of_thread_place(const struct tls_block *b, uint64_t addr, const struct hvar_image *img, struct hvar_place *p)
{
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
}
