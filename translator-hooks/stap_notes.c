// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "stap_notes.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void stap_notes_add(struct stap_notes *n, enum stap_note_kind kind, const char *fmt, ...)
{
	char *text;
	va_list ap;
	int r;

	va_start(ap, fmt);
	r = vasprintf(&text, fmt, ap);
	va_end(ap);
	if (r < 0)
		return;
	for (size_t i = 0; i < n->n; i++) {
		if (!strcmp(n->v[i].text, text)) {
			free(text);
			return;
		}
	}
	if (n->n == n->cap) {
		size_t cap = n->cap ? 2 * n->cap : 16;
		struct stap_note *v = reallocarray(n->v, cap, sizeof(*v));

		if (!v) {
			free(text);
			return;
		}
		n->v = v;
		n->cap = cap;
	}
	n->v[n->n++] = (struct stap_note){ kind, text };
}

void stap_notes_fini(struct stap_notes *n)
{
	for (size_t i = 0; i < n->n; i++)
		free(n->v[i].text);
	free(n->v);
	*n = (struct stap_notes){ 0 };
}
