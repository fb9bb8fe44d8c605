// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * advise_verify.c - hotvar advise --verify: runs of CMD by turns, without and with huge pages.
 *
 * What they print goes to /dev/null: the first run, which was watched, has printed it.  A file that
 * is the input is read from where it was; another input only the first run had.
 */
#include "config.h"

#include "advise_verify.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/wait.h>
#include <unistd.h>

int advise_rerun_begin(struct advise_rerun *r, struct err *e)
{
	int now = personality(0xffffffff);

	r->thp = advise_thp_set(ADVISE_THP_NONE);
	if (r->thp < 0)
		return err_set(e, -r->thp, "cannot run a command without huge pages: prctl(PR_SET_THP_DISABLE): %s; it takes Linux 3.15",
			       strerror(-r->thp));
	r->persona = (unsigned long)(unsigned)now;
	if (now < 0 || personality(r->persona | ADDR_NO_RANDOMIZE) < 0)
		return err_set(e, errno, "cannot run a command at the same addresses again: personality: %s; leave out --verify", strerror(errno));
	return 0;
}

void advise_rerun_end(const struct advise_rerun *r)
{
	personality(r->persona);
	advise_thp_set(r->thp);
}

off_t advise_input_at(void)
{
	return lseek(0, 0, SEEK_CUR);
}

/* ---- input and output of a run ---- */

struct ends {
	int kept[3]; /* ours, while CMD has others; -1 */
};

/* Put /dev/null in the place of @fd. */
static void put_null(struct ends *s, int fd, int flags)
{
	int null = open("/dev/null", flags | O_CLOEXEC);

	s->kept[fd] = null < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 3);
	if (s->kept[fd] >= 0)
		dup2(null, fd);
	if (null >= 0)
		close(null);
}

static void quiet(struct ends *s, off_t input)
{
	s->kept[0] = -1;
	if (input >= 0)
		lseek(0, input, SEEK_SET);
	else if (!isatty(0))
		put_null(s, 0, O_RDONLY);
	fflush(stdout);
	put_null(s, 1, O_WRONLY);
	put_null(s, 2, O_WRONLY);
}

static void loud(const struct ends *s)
{
	for (int fd = 0; fd < 3; fd++)
		if (s->kept[fd] >= 0) {
			dup2(s->kept[fd], fd);
			close(s->kept[fd]);
		}
}

/* ---- what is advised ---- */

/* Does the kernel give huge pages there as the machine is set? */
static bool may_be_asked(const struct advise_thp *thp, const struct advise_region *g)
{
	if (g->vma.region == HVAR_REGION_FILE)
		return false;
	return (g->vma.region == HVAR_REGION_SHM ? thp->shmem : thp->enabled) >= ADVISE_MADVISE;
}

/* The ranges to ask for, and what faults should fall by. */
static int gather(const struct advise_verify *v, const struct advise_report *r, struct advise_verified *out, struct advise_range **ranges,
		  size_t *n)
{
	*ranges = calloc(r->of->regions->n + 1, sizeof(**ranges));
	*n = 0;
	if (!*ranges)
		return -ENOMEM;
	for (size_t i = 0; i < r->of->regions->n; i++) {
		const struct advise_region *g = &r->of->regions->v[i];

		if (advise_report_why(r, g) != ADVISE_GIVEN)
			continue;
		out->areas++;
		if (!may_be_asked(v->thp, g)) {
			out->left_out++;
			continue;
		}
		(*ranges)[(*n)++] = (struct advise_range){ .start = g->vma.start, .end = g->vma.end };
		out->pages += advise_spans_without(&g->spans);
		out->expected_fall += advise_spans_without(&g->spans) - advise_spans_with(&g->spans);
	}
	return 0;
}

static uint64_t fallbacks(void)
{
	char line[128];
	uint64_t n = 0;
	FILE *f = fopen("/proc/vmstat", "re");

	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, "thp_fault_fallback ", 19))
			n = strtoull(line + 19, NULL, 10);
	if (f)
		fclose(f);
	return n;
}

static int run_all(struct advise_verify *v, struct advise_run *runs[2], struct advise_range *ranges, size_t n, struct err *e)
{
	for (unsigned i = 0; i < 2 * v->rounds; i++) {
		struct advise_run *r = &runs[i % 2][i / 2];
		struct ends ends;
		int err;

		*r = (struct advise_run){ .launch = v->launch, .argv = v->argv, .with = i % 2, .ranges = ranges, .n_ranges = n,
					  .find_callers = i == 1, .asked = v->asked };
		quiet(&ends, v->input);
		err = advise_run(r, e);
		loud(&ends);
		if (err)
			return err;
		v->wait_status = r->wait_status;
		v->failed = r->wait_status != 0;
		if (v->failed)
			return err_exit(e, ECHILD, WIFSIGNALED(r->wait_status) ? 128 + WTERMSIG(r->wait_status) : WEXITSTATUS(r->wait_status),
					"cannot verify: '%s' failed when it was run again: it must be a command that can be repeated", v->argv[0]);
	}
	return 0;
}

int advise_verify(struct advise_verify *v, const struct advise_report *r, struct err *e)
{
	struct advise_verified out = { .rounds = v->rounds, .input_gone = v->input < 0 && !isatty(0) };
	struct advise_run *runs[2] = { calloc(v->rounds, sizeof(*runs[0])), calloc(v->rounds, sizeof(*runs[1])) };
	struct advise_range *ranges = NULL;
	size_t n = 0;
	int err = runs[0] && runs[1] ? gather(v, r, &out, &ranges, &n) : -ENOMEM;

	if (err)
		err_set(e, ENOMEM, "cannot verify: no memory: free some");
	else if (!n)
		err = err_set(e, ENOTSUP,
			      "cannot verify: the kernel gives no huge pages for what is advised: root: echo madvise > /sys/kernel/mm/transparent_hugepage/enabled (for shared memory: advise, into shmem_enabled)");
	if (!err) {
		uint64_t before = fallbacks();

		err = run_all(v, runs, ranges, n, e);
		out.fallbacks = fallbacks() - before;
	}
	if (!err) {
		out.runs[0] = runs[0];
		out.runs[1] = runs[1];
		out.ranges = ranges;
		out.n_ranges = n;
		if (v->json)
			advise_verified_json(v->f, &out);
		else
			advise_verified_text(v->f, &out);
	}
	for (size_t i = 0; i < n; i++)
		unwind_fini(&ranges[i].by);
	free(ranges);
	free(runs[0]);
	free(runs[1]);
	return err;
}
