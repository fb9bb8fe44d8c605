/* hotvar-cflags: -O1 -g -static */
// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * page_read.c - a process's pages as the kernel has them, and what it costs to read them.
 *
 *	page_read raw PID START END	read the pagemap of a range, and nothing else
 *	page_read dump PID	each page of areas of 64 MiB or less: its address, pagemap entry, kpageflags, mapcount, bytes of its folio
 *	page_read time CMD...	nanoseconds of CPU time that CMD takes, and its memory in KiB, on stderr
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGE = 4096 };

static int raw(char **argv)
{
	static uint64_t e[1 << 14];
	uint64_t at = strtoull(argv[3], NULL, 16) / PAGE, end = strtoull(argv[4], NULL, 16) / PAGE, present = 0;
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%s/pagemap", argv[2]);
	fd = open(path, O_RDONLY);
	while (at < end) {
		ssize_t n = pread(fd, e, sizeof(e), (off_t)at * 8) / 8;

		if (n <= 0)
			return 1;
		for (ssize_t i = 0; i < n; i++)
			present += e[i] >> 63;
		at += (uint64_t)n;
	}
	printf("%" PRIu64 "\n", present);
	return 0;
}

/* Words @first to @first + @n of @fd; what cannot be read is 0. */
static void words(int fd, uint64_t first, uint64_t *w, size_t n)
{
	memset(w, 0, n * sizeof(*w));
	if (pread(fd, w, n * sizeof(*w), (off_t)(first * sizeof(*w))) < 0)
		memset(w, 0, n * sizeof(*w));
}

/* Bytes of the folio of frame @pfn: a head (bit 15) and the tails (16) that follow it, within 2 MiB. */
static uint64_t folio(int fd, uint64_t pfn)
{
	static uint64_t w[512], chunk = ~0ull;
	size_t i = pfn % 512, end;

	if (pfn / 512 != chunk)
		words(fd, pfn / 512 * 512, w, 512);
	chunk = pfn / 512;
	if (!(w[i] >> 15 & 3))
		return PAGE;
	while (i && w[i] >> 16 & 1)
		i--;
	for (end = i + 1; end < 512 && w[end] >> 16 & 1; end++)
		;
	return (end - i) * PAGE;
}

static int dump(const char *pid)
{
	int pages, flags = open("/proc/kpageflags", O_RDONLY), counts = open("/proc/kpagecount", O_RDONLY);
	uint64_t start, end, e, flag, count, pfn;
	char path[64], line[4400];
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%s/pagemap", pid);
	pages = open(path, O_RDONLY);
	snprintf(path, sizeof(path), "/proc/%s/maps", pid);
	maps = fopen(path, "r");
	if (pages < 0 || !maps)
		return 2;
	while (fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%" SCNx64 "-%" SCNx64, &start, &end) != 2 || end - start > (uint64_t)1 << 26 || end >> 63)
			continue;
		for (uint64_t at = start; at < end; at += PAGE) {
			words(pages, at / PAGE, &e, 1);
			if (!e)
				continue;
			pfn = e >> 63 ? e & (((uint64_t)1 << 55) - 1) : 0;
			words(flags, pfn, &flag, 1);
			words(counts, pfn, &count, 1);
			printf("%" PRIx64 " %" PRIx64 " %" PRIx64 " %" PRIx64 " %" PRIx64 "\n", at, e, flag, count, folio(flags, pfn));
		}
	}
	return 0;
}

static int timed(char **argv)
{
	struct rusage u;
	int status;
	pid_t pid = fork();

	if (!pid) {
		execvp(argv[2], argv + 2);
		_exit(127);
	}
	if (wait4(pid, &status, 0, &u) != pid)
		return 1;
	fprintf(stderr, "%" PRIu64 " %ld\n",
		(uint64_t)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000000000u +
			(uint64_t)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1000u,
		u.ru_maxrss);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

int main(int argc, char **argv)
{
	const char *what = argc > 2 ? argv[1] : "";

	if (!strcmp(what, "time"))
		return timed(argv);
	if (!strcmp(what, "raw") && argc > 4)
		return raw(argv);
	if (!strcmp(what, "dump"))
		return dump(argv[2]);
	return 2;
}
