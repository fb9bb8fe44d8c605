// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "thread_tls.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "proc.h"
#include "translator-hooks/tls_slots.h"

/* How much of an area is searched for thread pointers: all of small ones, the ends of others; and of all together. */
#define WHOLE	   ((uint64_t)1 << 20)
#define PART	   ((uint64_t)256 << 10)
#define ALL	   ((uint64_t)128 << 20)
#define ALIGN	   64	/* of a thread's control block in glibc */
/* Pagemap entries: Documentation/admin-guide/mm/pagemap.rst */
#define PM_PRESENT ((uint64_t)1 << 63)
#define PM_SWAP	   ((uint64_t)1 << 62)

/* Words at the thread pointer (glibc: tcbhead_t). */
struct head {
	uint64_t self, table, again;
};

struct thread_tls {
	pid_t pid;
	int pagemap; /* -1: cannot be read */
	uint64_t *threads;
	size_t n_threads, cap_threads;
	struct tls_of_thread blocks;
};

struct thread_tls *thread_tls_new(pid_t pid)
{
	struct thread_tls *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->pid = pid;
	t->pagemap = proc_open(pid, "pagemap", O_RDONLY);
	return t;
}

void thread_tls_free(struct thread_tls *t)
{
	if (!t)
		return;
	if (t->pagemap >= 0)
		close(t->pagemap);
	free(t->threads);
	tls_of_thread_fini(&t->blocks);
	free(t);
}

static bool get(const struct thread_tls *t, uint64_t addr, void *buf, size_t n)
{
	return proc_peek(t->pid, addr, buf, n);
}

/* ---- threads ---- */

static void note_thread(struct thread_tls *t, uint64_t at, uint64_t table)
{
	uint64_t generation;

	if (!table || table % 8 || !tls_of_thread_entry(t->pid, table, 0, &generation))
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

void thread_tls_look(struct thread_tls *t, const struct hvar_vmas *vmas, tls_module_fn module, void *ctx)
{
	struct tls_process p = { t->pid, vmas, module, ctx };

	t->n_threads = 0;
	search_all(t, vmas);
	tls_of_thread_look(&t->blocks, &p, t->threads, t->n_threads);
}

const struct tls_of_thread *thread_tls_blocks(const struct thread_tls *t)
{
	return &t->blocks;
}

/* What is asked of an image, and who asks. */
struct by_image {
	hvar_image_of_fn image_of;
	void *ctx;
	uint32_t exe;
	bool linker; /* the process runs "ld.so PROGRAM": its file is no program */
};

static bool by_image(void *ctx, const struct hvar_vmas *vmas, const struct hvar_vma *v, struct tls_module *out)
{
	const struct by_image *by = ctx;
	const struct hvar_image *img;
	struct hvar_place place;
	uint32_t why;

	img = by->image_of(by->ctx, v->module, &why);
	if (!img || !img->tls.memsz)
		return false;
	hvar_resolve(vmas, v->start, by->image_of, by->ctx, &place);
	if (!(place.flags & HVAR_PLACE_VADDR) || place.module != v->module)
		return false;
	out->memsz = img->tls.memsz;
	out->bias = place.bias;
	if (v->module == by->exe || (by->linker && img->flags & HVAR_IMAGE_PROGRAM))
		out->distance = tls_layout_distance(img->tls.memsz, img->tls.vaddr, img->tls.align);
	out->slots = hvar_image_table(img, HVAR_IMAGE_TLS_SLOTS, sizeof(*out->slots), &out->n_slots);
	return true;
}

void thread_tls_look_images(struct thread_tls *t, const struct hvar_vmas *vmas, hvar_image_of_fn image_of,
			    void *ctx, uint32_t exe)
{
	struct by_image by = { image_of, ctx, exe, true };
	const struct hvar_image *img;
	uint32_t why;

	img = exe ? image_of(ctx, exe, &why) : NULL;
	by.linker = !img || !(img->flags & HVAR_IMAGE_PROGRAM);
	thread_tls_look(t, vmas, by_image, &by);
}

bool thread_tls_find(const struct thread_tls *t, uint64_t addr, hvar_image_of_fn image_of, void *ctx,
		     struct hvar_place *p, uint64_t *thread)
{
	const struct tls_block *b = tls_of_thread_find(&t->blocks, addr);
	const struct hvar_image *img;
	uint32_t why;

	img = b ? image_of(ctx, b->module, &why) : NULL;
	if (!img)
		return false;
	tls_of_thread_place(b, addr, img, p);
	*thread = b->thread;
	return true;
}
