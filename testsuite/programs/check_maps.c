// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * check_maps - does `hotvar maps --json` tell the truth about map_changes?
 *
 *	check_maps LOG EVENTS [MARK]
 *
 * Applies the events of each address space, in order, to an empty list, knowing nothing
 * of hotvar's own code: a list of pages, each with the words that describe it.  At
 * each mark it compares with what the program itself saw, page by page.  Prints each
 * checkpoint that differs, then "N checkpoints, M wrong"; exit status 1 if M, 2 if LOG and
 * EVENTS do not belong together.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAGE 4096ull
#define STEP 0x10000ull
#define MAX_AREAS 4096
#define MAX_SPACES 4096
#define MAX_LINE 16384

/* An area, and what is the same for all of its pages; off is that of start. */
struct area {
	uint64_t start, end, off;
	char prot[8], dev[24], name[512];
	uint64_t ino;
};

struct list {
	struct area *v;
	size_t n;
};

static uint64_t mark = 0x6f0000000000ull;
static struct list spaces[MAX_SPACES]; /* by mm */

static void *need(void *p)
{
	if (!p) {
		perror("check_maps");
		exit(2);
	}
	return p;
}

static void drop(struct list *l, size_t i)
{
	memmove(l->v + i, l->v + i + 1, (l->n - i - 1) * sizeof(*l->v));
	l->n--;
}

static void insert(struct list *l, const struct area *a)
{
	size_t i = 0;

	if (!l->v)
		l->v = need(calloc(MAX_AREAS, sizeof(*l->v)));
	if (l->n == MAX_AREAS) {
		fprintf(stderr, "too many areas\n");
		exit(2);
	}
	while (i < l->n && l->v[i].start < a->start)
		i++;
	memmove(l->v + i + 1, l->v + i, (l->n - i) * sizeof(*l->v));
	l->v[i] = *a;
	l->n++;
}

static void cut(struct list *l, uint64_t start, uint64_t end)
{
	size_t i = 0;

	while (i < l->n) {
		struct area a = l->v[i];

		if (a.end <= start || a.start >= end) {
			i++;
			continue;
		}
		drop(l, i);
		if (a.end > end) {
			struct area tail = a;

			tail.off += end - tail.start;
			tail.start = end;
			insert(l, &tail);
		}
		if (a.start < start) {
			a.end = start;
			insert(l, &a);
			i++;
		}
	}
}

static int is_file(const struct area *a)
{
	return a->ino || strcmp(a->dev, "00:00");
}

static int joins(const struct area *a, const struct area *b)
{
	return a->end == b->start && !strcmp(a->prot, b->prot) && !strcmp(a->dev, b->dev) &&
	       a->ino == b->ino && !strcmp(a->name, b->name) &&
	       (!is_file(a) || a->off + (a->end - a->start) == b->off);
}

/* Neighbours alike in everything are one. */
static void merge(struct list *l)
{
	size_t i = 0;

	while (i + 1 < l->n) {
		if (joins(&l->v[i], &l->v[i + 1])) {
			l->v[i].end = l->v[i + 1].end;
			drop(l, i + 1);
		} else {
			i++;
		}
	}
}

static void print(const char *what, const struct list *l)
{
	size_t i;

	for (i = 0; i < l->n; i++)
		printf("  %s %llx-%llx %s %llx %s %llu %s\n", what,
		       (unsigned long long)l->v[i].start, (unsigned long long)l->v[i].end,
		       l->v[i].prot, (unsigned long long)l->v[i].off, l->v[i].dev,
		       (unsigned long long)l->v[i].ino, l->v[i].name);
}

static int same(const struct list *a, const struct list *b)
{
	size_t i;

	if (a->n != b->n)
		return 0;
	for (i = 0; i < a->n; i++) {
		const struct area *x = &a->v[i], *y = &b->v[i];

		if (x->start != y->start || x->end != y->end || strcmp(x->prot, y->prot) ||
		    strcmp(x->dev, y->dev) || x->ino != y->ino || strcmp(x->name, y->name) ||
		    (is_file(x) && x->off != y->off))
			return 0;
	}
	return 1;
}

/* ---- one line of /proc/self/maps ---- */

static int parse_maps(char *line, struct area *a)
{
	unsigned long long start, end, off, ino;
	int at = 0;
	char *deleted;

	memset(a, 0, sizeof(*a));
	if (sscanf(line, "%llx-%llx %7s %llx %23s %llu %n", &start, &end, a->prot, &off, a->dev,
		   &ino, &at) < 6)
		return 0;
	a->start = start;
	a->end = end;
	a->off = off;
	a->ino = ino;
	line[strcspn(line, "\n")] = '\0';
	snprintf(a->name, sizeof(a->name), "%s", line + at);
	deleted = strstr(a->name, " (deleted)");
	if (deleted && !deleted[10])
		*deleted = '\0';
	return 1;
}

/* ---- one line of JSON ---- */

/* Where the value of @key begins, NULL if there is none. */
static const char *value(const char *json, const char *key)
{
	char want[64];
	const char *p;

	snprintf(want, sizeof(want), "\"%s\":", key);
	p = strstr(json, want);
	return p ? p + strlen(want) : NULL;
}

static uint64_t number(const char *json, const char *key)
{
	const char *p = value(json, key);

	if (!p)
		return 0;
	return strtoull(p + (*p == '"'), NULL, 0);
}

/* A string without its escapes (only \" \\ \u00XX come); "" for null. */
static void text(const char *json, const char *key, char *out, size_t size)
{
	const char *p = value(json, key);
	size_t n = 0;

	if (p && *p == '"')
		for (p++; *p && *p != '"' && n + 1 < size; p++) {
			unsigned u;

			if (*p == '\\' && p[1] == 'u' && sscanf(p + 2, "%4x", &u) == 1) {
				out[n++] = (char)u;
				p += 5;
			} else {
				p += *p == '\\';
				out[n++] = *p;
			}
		}
	out[n] = '\0';
}

static void parse_event(const char *json, struct area *a)
{
	char kind[16];

	memset(a, 0, sizeof(*a));
	a->start = number(json, "start");
	a->end = number(json, "end");
	a->off = number(json, "pgoff");
	a->ino = number(json, "ino");
	text(json, "prot", a->prot, sizeof(a->prot));
	text(json, "dev", a->dev, sizeof(a->dev));
	text(json, "path", a->name, sizeof(a->name));
	text(json, "kind", kind, sizeof(kind));
	if (!a->name[0] && (!strcmp(kind, "heap") || !strcmp(kind, "stack")))
		snprintf(a->name, sizeof(a->name), "[%s]", kind);
}

/* ---- the checkpoints ---- */

struct checkpoint {
	int pid, wrong, met;
	char text[256];
	struct list seen;
};
static struct checkpoint checkpoints[1000];

static void read_log(FILE *f)
{
	static char line[MAX_LINE];
	struct checkpoint *c = NULL;
	struct area a;
	int n, pid, at;

	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "checkpoint %d %d %n", &n, &pid, &at) == 2 && n >= 0 && n < 1000) {
			/* A copy of a process goes on with its parent's numbers: not ours. */
			c = &checkpoints[n];
			c->pid = pid;
			line[strcspn(line, "\n")] = '\0';
			snprintf(c->text, sizeof(c->text), "%s", line + at);
			c->seen.n = 0;
		} else if (!strcmp(line, "end\n")) {
			if (c)
				merge(&c->seen);
			c = NULL;
		} else if (c && parse_maps(line, &a)) {
			insert(&c->seen, &a);
		}
	}
}

static void compare(int n, int pid, const struct list *told)
{
	struct checkpoint *c = &checkpoints[n];
	struct list mine = { need(calloc(MAX_AREAS, sizeof(struct area))), 0 };
	size_t i;

	if (c->pid != pid) {
		free(mine.v);
		return;
	}
	for (i = 0; i < told->n; i++)
		insert(&mine, &told->v[i]);
	merge(&mine);
	c->met++;
	if (!same(&mine, &c->seen)) {
		c->wrong = 1;
		printf("checkpoint %d (%s) of process %d differs:\n", n, c->text, pid);
		print("told", &mine);
		print("seen", &c->seen);
	}
	free(mine.v);
}

static struct list *space(uint64_t mm)
{
	if (mm >= MAX_SPACES) {
		fprintf(stderr, "too many address spaces\n");
		exit(2);
	}
	return &spaces[mm];
}

static void apply(const char *json)
{
	char event[16];
	struct list *l = space(number(json, "mm"));
	struct area a;

	text(json, "event", event, sizeof(event));
	parse_event(json, &a);
	if (!strcmp(event, "fork")) {
		struct list *child = space(number(json, "child_mm"));
		size_t i;

		if (child != l)
			for (i = 0; i < l->n; i++)
				insert(child, &l->v[i]);
		return;
	}
	if (!strcmp(event, "exec")) {
		l->n = 0;
		return;
	}
	if (!strcmp(event, "exit"))
		return;
	if (!strcmp(event, "move") || !strcmp(event, "grow") || !strcmp(event, "shrink"))
		cut(l, number(json, "old_start"), number(json, "old_end"));
	cut(l, a.start, a.end);
	if (strcmp(event, "unmap"))
		insert(l, &a);
	if (!strcmp(event, "map") && a.start >= mark && a.start < mark + 1000 * STEP)
		compare((int)((a.start - mark) / STEP), (int)number(json, "pid"), l);
}

int main(int argc, char **argv)
{
	static char line[MAX_LINE];
	FILE *log, *events;
	int i, n = 0, wrong = 0;

	if (argc < 3)
		return 2;
	if (argc > 3)
		mark = strtoull(argv[3], NULL, 0);
	log = need(fopen(argv[1], "r"));
	events = need(fopen(argv[2], "r"));
	read_log(log);
	while (fgets(line, sizeof(line), events))
		if (!strncmp(line, "{\"type\":\"map\"", 13))
			apply(line);
	for (i = 0; i < 1000; i++) {
		const struct checkpoint *c = &checkpoints[i];

		if (!c->pid)
			continue;
		n++;
		if (!c->met)
			printf("checkpoint %d (%s) of process %d is not in the events\n", i,
			       c->text, c->pid);
		wrong += c->wrong || !c->met;
	}
	printf("%d checkpoints, %d wrong\n", n, wrong);
	return n ? wrong != 0 : 2;
}
