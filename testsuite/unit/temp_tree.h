/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * temp_tree.h - a folder of its own for a test, with files that the test writes.
 *
 * Before including it, include cmocka.h; temp_begin and temp_end are the group's setup and teardown.
 */
#ifndef TEMP_TREE_H
#define TEMP_TREE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static char dir[] = "/tmp/hotvar-unit.XXXXXX";

/* The path of @name in it: good until the fourth call after this one. */
static inline char *at(const char *name)
{
	static char path[4][600];
	static int n;

	n = (n + 1) % 4;
	snprintf(path[n], sizeof(path[n]), "%s/%s", dir, name);
	return path[n];
}

/* Write @text into the file @name, in folders that are made. */
static inline void put(const char *name, const char *text)
{
	char *path = at(name), *slash;
	FILE *f;

	for (slash = strchr(path + strlen(dir) + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(path, 0755);
		*slash = '/';
	}
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static inline int temp_begin(void **state)
{
	(void)state;
	return mkdtemp(dir) ? 0 : -1;
}

static inline int temp_end(void **state)
{
	char command[300];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	return system(command);
}

#endif /* TEMP_TREE_H */
