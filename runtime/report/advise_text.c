// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * advise_text.c - what "hotvar advise" writes for people.
 */
#include "config.h"

#include <inttypes.h>

#include "advise.h"
#include "pages.h"
#include "printable.h"
#include "runtime/core/hvar_image.h"
#include "runtime/user/advise_process.h"

#define PAGE 4096

static void put_size(FILE *f, uint64_t bytes)
{
	if (bytes >= (uint64_t)10 << 30)
		fprintf(f, "%.1f GiB", (double)bytes / (1u << 30));
	else if (bytes >= 1 << 20)
		fprintf(f, "%.1f MiB", (double)bytes / (1 << 20));
	else
		fprintf(f, "%" PRIu64 " KiB", bytes >> 10);
}

static void head(FILE *f, const struct advise_report *r)
{
	if (r->pid)
		fprintf(f, "Huge pages for process %d, watched for %.3g s\n", r->pid, r->seconds);
	else
		fputs("Huge pages, by a recording\n", f);
	if (r->tlb->small)
		fprintf(f, "TLB: %u translations of 4 KiB reach ", r->tlb->small);
	else
		fprintf(f, "TLB: not told (%s); taken as %d translations of 4 KiB, which reach ", r->tlb->source, ADVISE_TLB_ASSUMED);
	put_size(f, advise_tlb_pages(r->tlb) * PAGE);
	if (r->tlb->small)
		fprintf(f, " (%s)", r->tlb->source);
	if (r->thp)
		fprintf(f, "; transparent huge pages: %s, for shmem: %s, defrag: %s; hugetlb pool: %" PRIu64 " pages\n",
			advise_mode_name(r->thp->enabled), *r->thp->shmem_word ? r->thp->shmem_word : "unknown",
			*r->thp->defrag ? r->thp->defrag : "unknown", r->thp->pool_pages);
	else
		fputs("; this machine's: the recording's may be another\n", f);
	if (r->without && r->thp && r->thp->enabled == ADVISE_ALWAYS)
		fputs("The kernel gives huge pages to all that fits; the program was watched without them, to tell what they are good for\n", f);
}

static void put_step(void *ctx, enum advise_call c, const char *text)
{
	FILE *f = ctx;

	(void)c;
	fputs("    - ", f);
	printable_put(f, text);
	putc('\n', f);
}

static void area(FILE *f, const struct advise_report *r, const struct advise_of *of, const struct advise_region *g)
{
	char prot[5];

	pages_prot(g->vma.prot, prot);
	fprintf(f, "\n0x%" PRIx64 "-0x%" PRIx64 " %s %s ", g->vma.start, g->vma.end, prot, hvar_kind_name(g->kind));
	put_size(f, g->vma.end - g->vma.start);
	if (g->name) {
		fputs(", ", f);
		printable_put(f, g->name);
	}
	if (g->path) {
		fputs(", of ", f);
		printable_put(f, g->path);
	}
	if (of != r->of) {
		fprintf(f, ", in process %d", of->pid);
		if (*of->comm) {
			fputs(" (", f);
			printable_put(f, of->comm);
			putc(')', f);
		}
	}
	if (g->gone)
		fputs(" (unmapped since)", f);
	putc('\n', f);
}

static void evidence(FILE *f, const struct advise_report *r, const struct advise_region *g)
{
	const struct advise_jumps_sum *j = &g->jumps;
	uint64_t reach = advise_tlb_pages(r->tlb);

	if (g->smaps)
		fprintf(f, "  touched: %" PRIu64 " pages of 4 KiB %s%.3g s, %.1f times what the TLB reaches; so in %u of %u intervals\n",
			g->touched, r->since_start ? "since its start, not within " : "within ", r->interval, (double)g->touched / (double)reach, g->often,
			g->intervals);
	else
		fprintf(f, "  touched: at least %" PRIu64 " pages of 4 KiB, as far as samples tell\n", g->touched);
	if (!r->no_samples) {
		fprintf(f, "  order: %" PRIu64 " of %" PRIu64 " pairs of accesses by one instruction were jumps, to %" PRIu64 " different pages",
			j->far, j->pairs, advise_jumps_pages(j));
		if (g->code) {
			fputs("; most in ", f);
			printable_put(f, g->code);
		}
		putc('\n', f);
	}
	if (g->smaps && !g->hugetlb)
		fprintf(f, "  pages: %" PRIu64 " in memory, %" PRIu64 " of them in huge pages; %s\n", g->rss, g->spans.huge,
			g->refused ? "MADV_NOHUGEPAGE was asked for" :
			g->asked   ? "MADV_HUGEPAGE was asked for" :
			r->without ? "it was watched without" :
			g->eligible ? "the kernel may give huge ones" :
				      "the kernel gives no huge ones");
}

static void expected(FILE *f, const struct advise_region *g)
{
	fprintf(f, "  expected: %" PRIu64 " pages become %" PRIu64 " of 2 MiB and %" PRIu64 " of 4 KiB; page faults to touch them all: %" PRIu64 " now, %" PRIu64 " then",
		g->spans.small + g->spans.ends, g->spans.spans, g->spans.ends, advise_spans_now(&g->spans),
		advise_spans_with(&g->spans));
	if (advise_spans_more(&g->spans)) {
		fputs("; ", f);
		put_size(f, advise_spans_more(&g->spans));
		fputs(" more memory", f);
	}
	putc('\n', f);
}

static void not_known(FILE *f, const struct advise_report *r)
{
	if (r->no_samples)
		fprintf(f, "not known: in which order memory is accessed: %s\n", r->no_samples);
	if (!r->tlb->small)
		fprintf(f, "not known: what the TLB reaches: %s\n", r->tlb->source);
	if (r->pid && r->since_start)
		fputs("not known: what was touched in each interval: the reference bits could not be cleared; run as its owner or as root\n", f);
	if (!r->pid)
		fputs("not known: which pages were in memory or huge, and how often each was touched: watch the program with 'hotvar advise -p' or '-- CMD'\n", f);
	if (advise_report_lost(r))
		fprintf(f, "not known: %" PRIu64 " times there was no room for an area\n", advise_report_lost(r));
	if (r->unread)
		fprintf(f, "not known: %" PRIu64 " samples were left out: there was new code all the time, which is read %d times in some 10 ms at most\n",
			r->unread, ADVISE_PROCESS_READS);
	if (r->starved)
		fputs("not known: areas, and processes that it started, for which no open files were left: raise the limit with \"ulimit -n\"\n", f);
	if (r->guarded)
		fprintf(f, "not known: the memory of %" PRIu64 " process%s, which guard%s it as set-user-ID programs do: run hotvar as root\n",
			r->guarded, r->guarded == 1 ? "" : "es", r->guarded == 1 ? "s" : "");
	if (r->left)
		fprintf(f, "not known: what %zu process%s did that it started and that ran on when it had ended: watch %s, or what %s has started since, with 'hotvar advise -p %d'\n",
			r->left, r->left == 1 ? "" : "es", r->left == 1 ? "it" : "one of them", r->left == 1 ? "it" : "that", r->left_one);
	if (r->unwatched)
		fprintf(f, "not known: %" PRIu64 " samples are of processes that had run for less than 10 ms, or were more than 64 at once%s\n",
			r->unwatched, r->starved ? ", or for which no open files were left" : "");
	if (r->lost)
		fprintf(f, "not known: %" PRIu64 " samples were lost\n", r->lost);
}

static void given_one(FILE *f, const struct advise_report *r, const struct advise_of *of, const struct advise_region *g)
{
	area(f, r, of, g);
	evidence(f, r, g);
	expected(f, g);
	fputs("  to change it:\n", f);
	advise_steps(r, g, put_step, f);
}

static void refused_one(FILE *f, const struct advise_report *r, const struct advise_of *of, const struct advise_region *g)
{
	area(f, r, of, g);
	fprintf(f, "  no advice: %s\n", advise_why_text(advise_report_why(r, g)));
	evidence(f, r, g);
}

/* Those that there is advice for, or the others. */
static size_t areas(FILE *f, const struct advise_report *r, bool given)
{
	size_t n = 0;

	for (size_t k = 0; k < r->n_of; k++)
		for (size_t i = 0; i < r->of[k].regions->n; i++) {
			const struct advise_region *g = &r->of[k].regions->v[i];

			if ((advise_report_why(r, g) == ADVISE_GIVEN) != given)
				continue;
			n++;
			(given ? given_one : refused_one)(f, r, &r->of[k], g);
		}
	return n;
}

size_t advise_text(FILE *f, const struct advise_report *r)
{
	size_t all = advise_report_areas(r), given;

	head(f, r);
	given = areas(f, r, true);
	if (!given)
		fputs("\nNo advice.", f);
	if (!given && !all && r->guarded)
		fputs(" Not all memory could be looked at.\n", f);
	else if (!given && !all)
		fputs(r->pid ? " No area has more in memory than the TLB reaches.\n" : " No area that is larger than the TLB reaches was accessed, as far as samples tell.\n", f);
	else if (!given)
		fprintf(f, " Of %zu large area%s:\n", all, all == 1 ? "" : "s");
	if (!given || r->all)
		areas(f, r, false);
	putc('\n', f);
	not_known(f, r);
	return given;
}
