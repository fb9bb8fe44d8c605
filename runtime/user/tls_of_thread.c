// SPDX-License-Identifier: GPL-2.0-or-later
/* tls_of_thread.c - thread pointers and a map of files -> each file's thread-local block of each thread. */
#include "config.h"

#include "tls_of_thread.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "proc.h"

/*
 * Where behind the thread pointer glibc has the thread's number, which is cleared when the thread ends (struct pthread).  The
 * start and the size of its stack follow, elsewhere in each version, so far, and how much of that is without access; all that
 * ends so soon behind it.  Before them are the program's own words, with counters that are small: no stack begins or is so low.
 */
enum { TID_AT = 720, STACK_UNTIL = 2048, STACK_END = 8192, STACK_MIN = 16384 };

/* Words at the thread pointer (glibc: tcbhead_t). */
struct head {
	uint64_t self, table, again;
};

static bool get(pid_t pid, uint64_t addr, void *buf, size_t n)
{
	return proc_peek(pid, addr, buf, n);
}

/* The thread's table has its length before it; entry @i is 16 bytes, of which the first 8 are the block's address. */
bool tls_of_thread_entry(pid_t pid, uint64_t table, uint64_t i, uint64_t *out)
{
	uint64_t n;

	return get(pid, table - 16, &n, sizeof(n)) && n < TLS_NUMBERS_MAX && i <= n &&
	       get(pid, table + 16 * i, out, sizeof(*out));
}

bool tls_of_thread_holds(pid_t pid, const struct tls_block *b)
{
	uint64_t at = 0;
	struct head h;

	if (!get(pid, b->thread, &h, sizeof(h)))
		return errno == ESRCH;
	if (h.self != b->thread || h.again != b->thread)
		return false;
	return !b->number || (h.table && !(h.table % 8) && tls_of_thread_entry(pid, h.table, b->number, &at) && at == b->start);
}

/* Are @w the start and the size of the stack of the thread at @thread? */
static bool are_stack(const uint64_t *w, uint64_t thread)
{
	uint64_t end;

	return w[0] >= STACK_MIN && w[1] >= STACK_MIN && w[0] < thread && w[1] < thread && !__builtin_add_overflow(w[0], w[1], &end) &&
	       end > thread + STACK_UNTIL && end - thread < STACK_END;
}

bool tls_of_thread_ask(pid_t pid, struct tls_block *b, uint32_t *tid)
{
	uint64_t words[(STACK_UNTIL - TID_AT) / 8];
	size_t i;

	if (!get(pid, b->thread + TID_AT, words, sizeof(words)))
		return false;
	*tid = (int32_t)words[0] > 0 ? (uint32_t)words[0] : 0; /* -1: joined */
	b->stack = b->guard = 0;
	for (i = 1; i + 2 < sizeof(words) / sizeof(*words) && !b->stack; i++) {
		if (!are_stack(words + i, b->thread))
			continue;
		b->stack = words[i];
		b->guard = words[i + 2] < words[i + 1] ? words[i + 2] : 0;
	}
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

/* What @m says of itself: its distance, or else its number; each 0 if it does not. */
static void ask(pid_t pid, const struct tls_module *m, uint64_t *distance, uint64_t *number)
{
	uint64_t word;
	uint32_t i;

	*distance = m->distance;
	*number = 0;
	for (i = 0; i < m->n_slots && i < 2 && !m->distance; i++) {
		const struct hvar_image_tls_slot *s = &m->slots[i];

		if (!get(pid, m->bias + s->vaddr, &word, sizeof(word)))
			continue;
		if (s->kind == HVAR_TLS_SLOT_OFFSET)
			*distance = s->value - word;
		else if (s->kind == HVAR_TLS_SLOT_DESC)
			descriptor(pid, m->bias + s->vaddr, s->value, distance, number);
		else if (word && word < TLS_NUMBERS_MAX)
			*number = word;
	}
}

static void add_module(struct tls_of_thread *t, const struct tls_process *p, const struct tls_module *m, uint32_t id,
		       const uint64_t *threads, size_t n)
{
	uint64_t distance, number, at;
	struct head h;
	size_t k;

	ask(p->pid, m, &distance, &number);
	for (k = 0; k < n; k++) {
		uint64_t thread = threads[k];

		if (distance && distance < thread)
			add(t, p->vmas, &(struct tls_block){ thread - distance, thread - distance + m->memsz, thread, .module = id });
		else if (number && get(p->pid, thread, &h, sizeof(h)) && h.table && !(h.table % 8) &&
			 tls_of_thread_entry(p->pid, h.table, number, &at) && at && at != ~(uint64_t)0)
			add(t, p->vmas, &(struct tls_block){ at, at + m->memsz, thread, .module = id, .number = (uint32_t)number });
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
	struct tls_module m;
	uint32_t last = 0;
	uint64_t end = 0;
	size_t i, longest = 0;

	t->n = 0;
	for (v = hvar_vmas_next(p->vmas, 0); v && n; v = hvar_vmas_next(p->vmas, v->end)) {
		/* a file's areas follow each other; what is mapped twice is two files here */
		if (v->region != HVAR_REGION_FILE || !v->module || v->module == last)
			continue;
		memset(&m, 0, sizeof(m));
		if (!p->module(p->ctx, p->vmas, v, &m))
			continue;
		last = v->module;
		add_module(t, p, &m, v->module, threads, n);
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
