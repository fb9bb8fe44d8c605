// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * page_smaps.c - what /proc/PID/smaps adds up for each area.
 *
 *	7f2a4000-7f2a6000 rw-p 00003000 fe:00 1234      /usr/lib/a b.so
 *	Rss:                   8 kB
 *	VmFlags: rd wr mr mw me ac sd
 *
 * The first line of an area begins with a hexadecimal number and "-"; a path may hold
 * anything but a newline, and is not looked at.  A number that does not fit is the largest.
 */
#include "config.h"

#include "page_smaps.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "proc.h"

#define FIELD(name, member) { name, sizeof(name) - 1, offsetof(struct page_smaps, member) }

static const struct field {
	const char *name;
	size_t len, at;
} fields[] = {
	FIELD("Rss:", rss),
	FIELD("Referenced:", referenced),
	FIELD("Shared_Dirty:", shared_dirty),
	FIELD("Private_Dirty:", private_dirty),
	FIELD("Anonymous:", anon),
	FIELD("LazyFree:", lazy_free),
	FIELD("Swap:", swap),
	FIELD("AnonHugePages:", anon_huge),
	FIELD("ShmemPmdMapped:", shmem_huge),
	FIELD("FilePmdMapped:", file_huge),
	FIELD("Shared_Hugetlb:", shared_hugetlb),
	FIELD("Private_Hugetlb:", private_hugetlb),
	FIELD("KernelPageSize:", kernel_page),
	FIELD("THPeligible:", eligible),
};

static bool range_of(const char *line, uint64_t *start, uint64_t *end)
{
	char *stop;

	if (!strchr("0123456789abcdef", line[0]) || !line[0])
		return false;
	*start = strtoull(line, &stop, 16);
	if (*stop != '-')
		return false;
	*end = strtoull(stop + 1, &stop, 16);
	return *stop == ' ' && *start < *end;
}

int page_smaps_line(struct page_smaps *s, const char *line, size_t len)
{
	uint64_t start, end, kb;

	if (range_of(line, &start, &end)) {
		memset(s, 0, sizeof(*s));
		s->start = start;
		s->end = end;
		return 1;
	}
	if (!strncmp(line, "VmFlags:", 8)) {
		s->pfn_map = strstr(line, " pf") != NULL;
		s->huge_asked = strstr(line, " hg") != NULL;
		s->huge_refused = strstr(line, " nh") != NULL;
		return 0;
	}
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		const struct field *f = &fields[i];

		if (len <= f->len || memcmp(line, f->name, f->len))
			continue;
		kb = strtoull(line + f->len, NULL, 10);
		if (kb > UINT64_MAX / 1024)
			kb = UINT64_MAX / 1024;
		memcpy((char *)s + f->at, &(uint64_t){ kb * 1024 }, sizeof(uint64_t));
		return 0;
	}
	return 0;
}

int page_smaps_read(pid_t pid, void (*fn)(void *ctx, const struct page_smaps *s), void *ctx)
{
	struct page_smaps s, last = { 0 };
	char *line = NULL;
	size_t size = 0;
	ssize_t n;
	FILE *f;
	int err, fd = proc_open(pid, "smaps", O_RDONLY);

	if (fd < 0)
		return fd;
	f = fdopen(fd, "r");
	if (!f) {
		close(fd);
		return -ENOMEM;
	}
	memset(&s, 0, sizeof(s));
	errno = 0;
	while ((n = getline(&line, &size, f)) > 0) {
		if (line[n - 1] == '\n')
			line[--n] = '\0';
		last = s;
		if (page_smaps_line(&s, line, (size_t)n) && last.end)
			fn(ctx, &last);
	}
	err = ferror(f) ? -errno : 0;
	if (s.end)
		fn(ctx, &s);
	else if (!err)
		err = -ESRCH;
	free(line);
	fclose(f);
	return err;
}
