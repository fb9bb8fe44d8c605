// SPDX-License-Identifier: GPL-2.0-or-later
/* people.c - a list of people: what is read of each, and what never is. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct person {
	struct person *next;
	char *name;
	long age;
	char address[64];
};

static void *xmalloc(size_t n)
{
	void *p = malloc(n);

	if (!p)
		abort();
	return p;
}

static struct person *make_person(struct person *next, long i)
{
	struct person *p = xmalloc(sizeof(*p));

	p->next = next;
	p->name = xmalloc(24);
	snprintf(p->name, 24, "Person number %ld", i);
	p->age = i % 90;
	memset(p->address, 0, sizeof(p->address));
	return p;
}

int main(void)
{
	struct person *all = NULL, *p;
	long i, sum = 0, last = 0;

	for (i = 0; i < 1000; i++)
		all = make_person(all, i);
	for (i = 0; i < 500; i++)
		for (p = all; p; p = p->next)
			sum += p->age;
	for (p = all; p; p = p->next)
		last = strcmp(p->name, "Person number 7") ? last : p->age;
	printf("%ld years together, %ld\n", sum, last);
	return 0;
}
