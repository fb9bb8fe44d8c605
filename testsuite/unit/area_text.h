/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * area_text.h - areas and events of a small range of pages as short lines of text.
 *
 * cmocka.h comes before it.
 */
#ifndef AREA_TEXT_H
#define AREA_TEXT_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/core/hvar_event.h"
#include "runtime/core/hvar_vmas.h"

#define BASE ((uint64_t)0x7f1200000000)

static inline uint64_t addr(uint32_t page)
{
	return BASE + (uint64_t)page * 4096;
}

/* Where events go. */
struct told {
	struct hvar_event e[256];
	uint32_t n;
};

/*
 * One list as a line of text, one area a word: "0-3:rw" is pages 0, 1, 2 of
 * anonymous memory, "0-3:r@5" of module 1 from its page 5, "b5" of module 2;
 * after the protection H, K, J, D say heap, stack, jit, deleted.
 */
static inline uint32_t parse(const char *text, struct hvar_vma *out)
{
	uint32_t n = 0, from, to;
	int len;

	for (; *text; n++) {
		struct hvar_vma *v = &out[n];

		memset(v, 0, sizeof(*v));
		assert_int_equal(sscanf(text, "%u-%u:%n", &from, &to, &len), 2);
		v->start = addr(from);
		v->end = addr(to);
		v->region = HVAR_REGION_ANON;
		for (text += len; *text && *text != ' '; text++) {
			switch (*text) {
			case 'r': v->prot |= HVAR_PROT_READ; break;
			case 'w': v->prot |= HVAR_PROT_WRITE; break;
			case 'x': v->prot |= HVAR_PROT_EXEC; break;
			case 's': v->prot |= HVAR_PROT_SHARED; break;
			case 'H': v->region = HVAR_REGION_HEAP; break;
			case 'K': v->region = HVAR_REGION_STACK; break;
			case 'J': v->region = HVAR_REGION_JIT; break;
			case 'D': v->flags = HVAR_VMA_DELETED; break;
			case '@':
			case 'b':
				v->module = *text == '@' ? 1 : 2;
				v->region = HVAR_REGION_FILE;
				v->pgoff = strtoul(text + 1, (char **)&text, 10) * 4096;
				text--;
				break;
			default: fail_msg("bad list at %s", text);
			}
		}
		while (*text == ' ')
			text++;
	}
	return n;
}

static inline void print_area(char *out, size_t size, const struct hvar_event *e)
{
	size_t n = 0;

	n += snprintf(out + n, size - n, "%d-%d:", (int)((e->u.map.start - BASE) / 4096),
		      (int)((e->u.map.end - BASE) / 4096));
	n += snprintf(out + n, size - n, "%s%s%s%s", e->u.map.prot & HVAR_PROT_READ ? "r" : "",
		      e->u.map.prot & HVAR_PROT_WRITE ? "w" : "", e->u.map.prot & HVAR_PROT_EXEC ? "x" : "",
		      e->u.map.prot & HVAR_PROT_SHARED ? "s" : "");
	n += snprintf(out + n, size - n, "%s%s%s%s",
		      e->u.map.region == HVAR_REGION_HEAP ? "H" : "",
		      e->u.map.region == HVAR_REGION_STACK ? "K" : "",
		      e->u.map.region == HVAR_REGION_JIT ? "J" : "",
		      e->u.map.flags & HVAR_VMA_DELETED ? "D" : "");
	if (e->module)
		n += snprintf(out + n, size - n, "%s%d", e->module == 1 ? "@" : "b",
			      (int)(e->u.map.pgoff / 4096));
	if (e->u.map.old_end)
		snprintf(out + n, size - n, "<%d-%d",
			 (int)((e->u.map.old_start - BASE) / 4096),
			 (int)((e->u.map.old_end - BASE) / 4096));
}

static inline void print_told(char *out, size_t size, const struct told *t)
{
	static const char sign[HVAR_EVENT_TYPES] = {
		[HVAR_EVENT_INITIAL] = 'i', [HVAR_EVENT_MAP] = '+',
		[HVAR_EVENT_UNMAP] = '-',   [HVAR_EVENT_PROTECT] = '=',
		[HVAR_EVENT_MOVE] = 'm',    [HVAR_EVENT_GROW] = 'g',
		[HVAR_EVENT_SHRINK] = 's',
	};
	char one[64];
	uint32_t i;

	*out = 0;
	for (i = 0; i < t->n; i++) {
		print_area(one, sizeof(one), &t->e[i]);
		snprintf(out + strlen(out), size - strlen(out), "%s%c%s", i ? " " : "",
			 sign[t->e[i].type], one);
	}
}

#endif /* AREA_TEXT_H */
