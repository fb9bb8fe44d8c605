// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * advise_steps.c - what would put an area into huge pages.
 *
 * What each call does and needs: madvise(2), mmap(2), memfd_create(2), glibc's manual ("Memory Related
 * Tunables"), ld(1), Documentation/admin-guide/mm/transhuge.rst.
 */
#include "config.h"

#include <inttypes.h>
#include <stdarg.h>

#include "advise.h"
#include "runtime/core/hvar_image.h"

static const char *const names[] = {
	"admin", "prctl", "no-nohugepage", "madvise", "collapse", "tunable", "align", "hugetlb", "link", "anonymous",
};

const char *advise_call_name(enum advise_call c)
{
	return names[c];
}

enum advise_why advise_report_why(const struct advise_report *r, const struct advise_region *g)
{
	return advise_verdict(g, !r->no_samples, advise_tlb_pages(r->tlb));
}

size_t advise_report_areas(const struct advise_report *r)
{
	size_t n = 0;

	for (size_t i = 0; i < r->n_of; i++)
		n += r->of[i].regions->n;
	return n;
}

uint64_t advise_report_lost(const struct advise_report *r)
{
	uint64_t n = 0;

	for (size_t i = 0; i < r->n_of; i++)
		n += r->of[i].regions->lost;
	return n;
}

struct telling {
	void (*fn)(void *ctx, enum advise_call c, const char *text);
	void *ctx;
};

__attribute__((format(printf, 3, 4))) static void tell(const struct telling *t, enum advise_call c, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	t->fn(t->ctx, c, text);
}

static uint64_t length(const struct advise_region *g)
{
	return g->vma.end - g->vma.start;
}

static void tell_madvise(const struct telling *t, const struct advise_region *g)
{
	/* the whole of a variable may be asked for by its name */
	if (g->object_size >= ADVISE_HUGE && g->name)
		tell(t, ADVISE_CALL_MADVISE, "madvise() of the pages of %s with MADV_HUGEPAGE, before they are touched: now 0x%" PRIx64 ", %" PRIu64 " bytes",
		     g->name, g->vma.start, length(g));
	else
		tell(t, ADVISE_CALL_MADVISE, "madvise((void *)0x%" PRIx64 ", %" PRIu64 ", MADV_HUGEPAGE), after it is mapped and before it is touched",
		     g->vma.start, length(g));
}

static void tell_admin(const struct telling *t, const struct advise_report *r, bool shmem)
{
	if (r->disabled)
		tell(t, ADVISE_CALL_PRCTL, "the process, or what started it, has called prctl(PR_SET_THP_DISABLE): leave that out");
	if (!r->thp)
		return;
	if (!shmem && r->thp->enabled == ADVISE_NEVER)
		tell(t, ADVISE_CALL_ADMIN, "root: echo madvise > /sys/kernel/mm/transparent_hugepage/enabled (it is never: until then the kernel gives none)");
	else if (!shmem && r->thp->enabled == ADVISE_MODE_UNKNOWN)
		tell(t, ADVISE_CALL_ADMIN, "a kernel with CONFIG_TRANSPARENT_HUGEPAGE: this one does not tell of any");
	else if (shmem && r->thp->shmem <= ADVISE_NEVER)
		tell(t, ADVISE_CALL_ADMIN, "root: echo advise > /sys/kernel/mm/transparent_hugepage/shmem_enabled (it is %s: until then the kernel gives none)",
		     *r->thp->shmem_word ? r->thp->shmem_word : "not known");
}

static void tell_align(const struct telling *t, const struct advise_region *g)
{
	if (!g->spans.ends || (!(g->vma.start % ADVISE_HUGE) && !(g->vma.end % ADVISE_HUGE)))
		return;
	if (g->object_size)
		tell(t, ADVISE_CALL_ALIGN, "__attribute__((aligned(%" PRIu64 "))) on %s: %" PRIu64 " pages at the ends stay small without it",
		     ADVISE_HUGE, g->name ? g->name : "the variable", g->spans.ends);
	else
		tell(t, ADVISE_CALL_ALIGN, "aligned_alloc(%" PRIu64 ", size), with a size that is a multiple of that: %" PRIu64 " pages at the ends stay small without it",
		     ADVISE_HUGE, g->spans.ends);
}

static void tell_pool(const struct telling *t, const struct advise_report *r, const struct advise_region *g, const char *how)
{
	uint64_t want = (length(g) + ADVISE_HUGE - 1) / ADVISE_HUGE;

	if (r->thp)
		tell(t, ADVISE_CALL_HUGETLB, "%s, with %" PRIu64 " huge pages in the pool: root: sysctl vm.nr_hugepages=%" PRIu64 " (now %" PRIu64 ", %" PRIu64 " free)",
		     how, want, r->thp->pool_pages - r->thp->pool_free + want, r->thp->pool_pages, r->thp->pool_free);
	else
		tell(t, ADVISE_CALL_HUGETLB, "%s, with %" PRIu64 " huge pages in the pool (vm.nr_hugepages)", how, want);
}

static void of_shm(const struct telling *t, const struct advise_report *r, const struct advise_region *g)
{
	tell_admin(t, r, true);
	tell_madvise(t, g);
	tell_align(t, g);
	tell_pool(t, r, g, "memfd_create() with MFD_HUGETLB, or MAP_HUGETLB");
}

static void of_file(const struct telling *t, const struct advise_report *r, const struct advise_region *g)
{
	if (!g->object_size && g->kind == HVAR_KIND_FILE) { /* mapped as plain data */
		tell(t, ADVISE_CALL_ANON, "read the file into memory of its own, by mmap() with MAP_ANONYMOUS, and madvise() that with MADV_HUGEPAGE: pages of files are small, but for some file systems");
		return;
	}
	tell_admin(t, r, false);
	tell(t, ADVISE_CALL_LINK, "link with -Wl,-z,common-page-size=2097152 -Wl,-z,max-page-size=2097152, so that its segments begin on 2 MiB");
	tell(t, ADVISE_CALL_MADVISE,
	     "madvise((void *)0x%" PRIx64 ", %" PRIu64 ", MADV_HUGEPAGE): pages of a file become huge only where its file system or CONFIG_READ_ONLY_THP_FOR_FS does that",
	     g->vma.start, length(g));
}

void advise_steps(const struct advise_report *r, const struct advise_region *g,
		  void (*fn)(void *ctx, enum advise_call c, const char *text), void *ctx)
{
	const struct telling t = { fn, ctx };
	bool always = r->thp && r->thp->enabled == ADVISE_ALWAYS;

	if (g->refused)
		tell(&t, ADVISE_CALL_UNREFUSE, "leave out madvise(MADV_NOHUGEPAGE), which the program has called for it");
	if (g->vma.region == HVAR_REGION_SHM) {
		of_shm(&t, r, g);
		return;
	}
	if (g->vma.region == HVAR_REGION_FILE) {
		of_file(&t, r, g);
		return;
	}
	tell_admin(&t, r, false);
	if (!g->asked && !(always && g->eligible))
		tell_madvise(&t, g);
	else
		tell(&t, ADVISE_CALL_COLLAPSE,
		     "madvise((void *)0x%" PRIx64 ", %" PRIu64 ", MADV_COLLAPSE) once it is filled (Linux 6.1): it may have huge pages, and has few; it was touched before, or no 2 MiB were free",
		     g->vma.start, length(g));
	if (g->malloced || g->vma.region == HVAR_REGION_HEAP)
		tell(&t, ADVISE_CALL_TUNABLE, "GLIBC_TUNABLES=glibc.malloc.hugetlb=1 in the environment, where malloc is that of glibc 2.35 or newer");
	tell_align(&t, g);
	if (g->vma.region == HVAR_REGION_ANON && !g->object_size)
		tell_pool(&t, r, g, "mmap() with MAP_HUGETLB");
}
