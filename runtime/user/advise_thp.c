// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * advise_thp.c - what this machine says of huge pages.
 *
 *	always [madvise] never
 *
 * The word in brackets is what is set.  Since Linux 6.8 a size of its own may say "inherit".
 */
#include "config.h"

#include "advise_thp.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The word in brackets of file @dir/@name into @out; "" if there is none. */
static void chosen(const char *dir, const char *name, char *out, size_t size)
{
	char path[256], line[256], *open, *close;
	FILE *f;

	*out = '\0';
	snprintf(path, sizeof(path), "%s%s", dir, name);
	f = fopen(path, "re");
	if (!f)
		return;
	if (fgets(line, sizeof(line), f) && (open = strchr(line, '[')) && (close = strchr(open, ']'))) {
		*close = '\0';
		snprintf(out, size, "%s", open + 1);
	}
	fclose(f);
}

static enum advise_mode mode_of(const char *word)
{
	if (!strcmp(word, "always") || !strcmp(word, "within_size") || !strcmp(word, "force"))
		return ADVISE_ALWAYS;
	if (!strcmp(word, "madvise") || !strcmp(word, "advise"))
		return ADVISE_MADVISE;
	return !strcmp(word, "never") || !strcmp(word, "deny") ? ADVISE_NEVER : ADVISE_MODE_UNKNOWN;
}

/* The setting @name, and that of pages of 2 MiB alone where there is one. */
static enum advise_mode setting(const char *sys, const char *name, char *word, size_t size)
{
	char dir[256], own[32];

	snprintf(dir, sizeof(dir), "%.200s/kernel/mm/transparent_hugepage", sys);
	chosen(dir, name, word, size);
	strncat(dir, "/hugepages-2048kB", sizeof(dir) - strlen(dir) - 1);
	chosen(dir, name, own, sizeof(own));
	if (*own && strcmp(own, "inherit"))
		snprintf(word, size, "%s", own);
	return mode_of(word);
}

static uint64_t number(const char *proc, const char *key)
{
	char path[256], line[256];
	uint64_t n = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%.200s/meminfo", proc);
	f = fopen(path, "re");
	if (!f)
		return 0;
	while (fgets(line, sizeof(line), f))
		if (!strncmp(line, key, strlen(key)))
			n = strtoull(line + strlen(key), NULL, 10);
	fclose(f);
	return n;
}

void advise_thp_read(struct advise_thp *t, const char *sys, const char *proc)
{
	char word[32], dir[256];

	memset(t, 0, sizeof(*t));
	t->enabled = setting(sys, "/enabled", word, sizeof(word));
	t->shmem = setting(sys, "/shmem_enabled", t->shmem_word, sizeof(t->shmem_word));
	snprintf(dir, sizeof(dir), "%.200s/kernel/mm/transparent_hugepage", sys);
	chosen(dir, "/defrag", t->defrag, sizeof(t->defrag));
	if (number(proc, "Hugepagesize:") == 2048) {
		t->pool_pages = number(proc, "HugePages_Total:");
		t->pool_free = number(proc, "HugePages_Free:");
	}
}

const char *advise_mode_name(enum advise_mode m)
{
	static const char *const names[] = { "unknown", "never", "madvise", "always" };

	return names[m];
}
