// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * lookup.c - finding a name and opening an image, of a file of 1,000,000 symbols and of a real one, against libdwfl.
 *
 * The first is what testsuite/programs/elf_many.c writes; the second is $HOTVAR_BENCH_ELF, or node.
 */
#include "config.h"

#include <elf.h>
#include <elfutils/libdwfl.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "runtime/core/hvar_image_format.h"
#include "translator-hooks/image_cache.h"

enum { SYMBOLS = 1000000, ADDRS = 1 << 20, OURS = 7, THEIRS = 100, OPENS = 101 };

static double now(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void die(const char *what)
{
	fprintf(stderr, "lookup: %s: %s\n", what, strerror(errno));
	exit(1);
}

static uint64_t rng = 88172645463325252u;

/* An address in some symbol, or just behind it; in no order. */
static uint64_t random_vaddr(const struct hvar_image *img)
{
	const struct hvar_image_sym *y;

	rng ^= rng >> 12;
	rng ^= rng << 25;
	rng ^= rng >> 27;
	y = &img->syms[(rng * 2685821657736338717u >> 32) % img->n_syms];
	return y->vaddr + (rng >> 8) % (y->size + 2);
}

/* Is @name one of the names at symbol @s? */
static bool is_name(const struct hvar_image *img, uint32_t s, const char *name)
{
	for (uint32_t n = hvar_image_aliases(img, s); n--; s++) {
		const char *ours = hvar_image_str(img, img->syms[s].name);
		size_t len = strlen(ours);

		/* of several versions ours has the version in the name */
		if (!strncmp(ours, name, len) || (strchr(ours, '@') && !strncmp(ours, name, strlen(name))))
			return true;
	}
	return false;
}

/* Milliseconds of one look-up by libdwfl; every answer is compared with ours. */
static double theirs(const char *path, const struct hvar_image *img)
{
	static const Dwfl_Callbacks callbacks = { .find_debuginfo = dwfl_standard_find_debuginfo,
		.section_address = dwfl_offline_section_address, .find_elf = dwfl_build_id_find_elf };
	Dwfl *d = dwfl_begin(&callbacks);
	Dwfl_Module *m = d ? dwfl_report_elf(d, "x", path, -1, 0, true) : NULL;
	GElf_Sym sym;
	GElf_Off off;
	unsigned differ = 0;
	double start, sum;

	if (!m || dwfl_report_end(d, NULL, NULL)) {
		fprintf(stderr, "lookup: libdwfl: %s\n", dwfl_errmsg(-1));
		exit(1);
	}
	dwfl_module_addrinfo(m, img->syms[0].vaddr, &off, &sym, NULL, NULL, NULL); /* the first call reads the table */
	start = now(CLOCK_PROCESS_CPUTIME_ID);
	for (int i = 0; i < THEIRS; i++) {
		uint64_t vaddr = random_vaddr(img);
		const char *name = dwfl_module_addrinfo(m, vaddr, &off, &sym, NULL, NULL, NULL);
		uint32_t s = hvar_image_find(img, vaddr);

		/* between two symbols, and at labels in others, libdwfl has rules of its own */
		if (s != HVAR_IMAGE_NONE && img->syms[s].size)
			differ += !name || !is_name(img, s, name);
	}
	sum = now(CLOCK_PROCESS_CPUTIME_ID) - start;
	dwfl_end(d);
	if (differ > THEIRS / 20) {
		fprintf(stderr, "lookup: libdwfl has other names for %u of %d addresses in %s\n", differ, THEIRS, path);
		exit(1);
	}
	return sum / THEIRS;
}

static double ours(const struct hvar_image *img)
{
	uint64_t *at = malloc(ADDRS * sizeof(*at)), found = 0;
	double start, sum, best = 0;

	if (!at)
		die("addresses");
	for (int i = 0; i < ADDRS; i++)
		at[i] = random_vaddr(img);
	for (int i = 0; i < ADDRS; i++)
		found += hvar_image_find(img, at[i]) != HVAR_IMAGE_NONE;
	if (found < ADDRS / 2) {
		fprintf(stderr, "lookup: only %" PRIu64 " of %d found\n", found, ADDRS);
		exit(1);
	}
	/* the least of some rounds: others disturb the caches */
	for (int k = 0; k < OURS; k++) {
		start = now(CLOCK_PROCESS_CPUTIME_ID);
		for (int i = 0; i < ADDRS; i++)
			found += hvar_image_find(img, at[i]) != HVAR_IMAGE_NONE;
		sum = now(CLOCK_PROCESS_CPUTIME_ID) - start;
		best = !k || sum < best ? sum : best;
	}
	if (found % (OURS + 1))
		die("answers change");
	free(at);
	return best / ADDRS;
}

static int by_value(const void *a, const void *b)
{
	return *(const double *)a < *(const double *)b ? -1 : *(const double *)a > *(const double *)b;
}

static struct image_file *get(int fd, const char *path)
{
	struct image_file *f;
	struct err e = { 0, "" };

	if (image_cache_get(fd, path, &f, &e)) {
		fprintf(stderr, "lookup: %s\n", e.text);
		exit(1);
	}
	return f;
}

static void bench(const char *path, const char *what)
{
	double t[OPENS], start, a, b, strs = 0;
	const struct hvar_image_table *dir;
	struct image_file *f;
	int fd, i;

	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		die(path);
	start = now(CLOCK_PROCESS_CPUTIME_ID);
	image_file_free(get(fd, path));
	printf("# %s: image built and kept in %.1f ms of the processor's time\n", what, now(CLOCK_PROCESS_CPUTIME_ID) - start);
	for (i = 0; i < OPENS; i++) {
		start = now(CLOCK_MONOTONIC);
		f = get(fd, path);
		t[i] = now(CLOCK_MONOTONIC) - start;
		if (!f->cached) {
			fprintf(stderr, "lookup: not from the cache: %s\n", image_cache_why() ? image_cache_why() : "");
			exit(1);
		}
		if (i < OPENS - 1)
			image_file_free(f);
	}
	dir = (const void *)(f->img.h + 1);
	for (uint32_t k = 0; k < f->img.h->n_tables; k++)
		if (dir[k].id == HVAR_IMAGE_STRS || dir[k].id == HVAR_IMAGE_RANGES || dir[k].id == HVAR_IMAGE_TYPES ||
		    dir[k].id == HVAR_IMAGE_MEMBERS || dir[k].id == HVAR_IMAGE_VARS)
			strs += (double)(dir[k].count * dir[k].entry);
	qsort(t, OPENS, sizeof(*t), by_value);
	a = ours(&f->img);
	b = theirs(path, &f->img);
	printf("# %s: %u symbols, look-up %.1f ns, libdwfl %.0f ns, open %.3f ms (median of %d)\n", what, f->img.n_syms, a * 1e6,
	       b * 1e6, t[OPENS / 2], OPENS);
	/* milliseconds, nanoseconds, bytes, for each of which there is a goal */
	printf("bench image-open-ms-%s ratio %.3f goal <= 1\n", what, t[OPENS / 2]);
	printf("bench image-lookup-ns-%s ratio %.1f goal <= 100\n", what, a * 1e6);
	printf("bench image-lookup-libdwfl-%s ratio %.0f goal >= 1000\n", what, b / a);
	printf("bench image-bytes-a-symbol-%s ratio %.1f goal <= 48\n", what, ((double)f->size - strs) / f->img.n_syms);
	image_file_free(f);
	close(fd);
}

int main(void)
{
	char dir[] = "/tmp/hotvar-bench-XXXXXX", path[64], line[4200];
	const char *programs = getenv("TESTPROGS"), *real = getenv("HOTVAR_BENCH_ELF");
	int rc;

	if (!programs || !mkdtemp(dir))
		die("a folder, and TESTPROGS");
	snprintf(path, sizeof(path), "%s/elf", dir);
	setenv("XDG_CACHE_HOME", dir, 1);
	setenv("HOTVAR_DEBUGDIR", dir, 1);
	snprintf(line, sizeof(line), "'%s/elf_many' %d > '%s'", programs, SYMBOLS, path);
	if (system(line))
		die(line);
	/* a file that was just written is not trusted to be unchanged: not what is measured */
	usleep(1500000);
	bench(path, "million");
	if (!real || !*real)
		real = "/usr/bin/node";
	if (!access(real, R_OK))
		bench(real, "real");
	else
		printf("# no %s here: name a large program in HOTVAR_BENCH_ELF\n", real);
	snprintf(line, sizeof(line), "rm -rf '%s'", dir);
	rc = system(line);
	return rc ? 1 : 0;
}
