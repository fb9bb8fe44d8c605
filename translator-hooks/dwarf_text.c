// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * dwarf_text.c - a type as the source writes it.
 *
 * C's declarators read from the inside out; the debug information goes from the outside in, which is the same
 * way: each pointer goes to the left of what is there, each array and function to the right, in parentheses
 * if a pointer was last.
 */
#include "config.h"

#include "dwarf_text.h"

#include <dwarf.h>
#include <stdio.h>
#include <string.h>

#include "dwarf_die.h"
#include "dwarf_dimension.h"
#include "dwarf_name.h"

enum { HOPS_MAX = 64, ARGS_MAX = 16, LEVELS = 2, SIDE = DWARF_TEXT_MAX };

/* "left|right", grown at both ends. */
struct declarator {
	char text[2 * SIDE];
	size_t start, end;
	bool cut;
};

static void before(struct declarator *d, const char *s)
{
	size_t n = strlen(s);

	if (n > d->start) {
		d->cut = true;
		return;
	}
	d->start -= n;
	memcpy(d->text + d->start, s, n);
}

static void behind(struct declarator *d, const char *s)
{
	size_t n = strlen(s);

	if (n >= sizeof(d->text) - d->end) {
		d->cut = true;
		return;
	}
	memcpy(d->text + d->end, s, n + 1);
	d->end += n;
}

static void wrap(struct declarator *d)
{
	if (d->start < d->end && strchr("*&:", d->text[d->start])) {
		before(d, "(");
		behind(d, ")");
	}
}

const char *dwarf_text_keyword(const struct dwarf_unit *u, unsigned tag)
{
	if (!dwarf_language_is_c(u))
		return "";
	switch (tag) {
	case DW_TAG_structure_type: return "struct ";
	case DW_TAG_union_type: return "union ";
	case DW_TAG_enumeration_type: return "enum ";
	default: return "";
	}
}

/* "{...}" stands for what has no name, as debuggers write it. */
static const char *nameless(unsigned tag)
{
	switch (tag) {
	case DW_TAG_structure_type: return "struct {...}";
	case DW_TAG_class_type: return "class {...}";
	case DW_TAG_union_type: return "union {...}";
	case DW_TAG_enumeration_type: return "enum {...}";
	default: return "?";
	}
}

static void text(struct dwarf_unit *u, const uint8_t *at, char *buf, size_t size, int level);

/* "[3][4]" */
static void dimensions(const struct dwarf_die *a, struct declarator *d)
{
	struct dwarf_dimension dims[DWARF_DIMENSIONS_MAX];
	int n = dwarf_dimensions(a, dims), i;
	char number[32];

	for (i = 0; i < n; i++) {
		snprintf(number, sizeof(number), "[%llu]", (unsigned long long)dims[i].count);
		behind(d, dims[i].count ? number : "[]");
	}
	if (!n)
		behind(d, "[]");
}

static void arguments(const struct dwarf_die *f, struct declarator *d, int level)
{
	const uint8_t *at = f->next, *type;
	struct dwarf_unit *u;
	struct dwarf_die c;
	char arg[256];
	int n = 0;

	behind(d, "(");
	while (f->children && dwarf_die_read(f->unit, at, &c) && c.tag) {
		bool is_arg = c.tag == DW_TAG_formal_parameter;

		if (is_arg || c.tag == DW_TAG_unspecified_parameters) {
			if (n)
				behind(d, ", ");
			if (++n > ARGS_MAX || level >= LEVELS || !is_arg) {
				behind(d, "...");
				break;
			}
			if (!dwarf_die_ref(&c, DWARF_A_TYPE, &u, &type))
				type = NULL, u = c.unit;
			dwarf_unit_inherit(u, c.unit);
			text(u, type, arg, sizeof(arg), level + 1);
			behind(d, arg);
		}
		at = dwarf_die_after(&c);
		if (!at)
			break;
	}
	if (!n && dwarf_die_flag(f, DWARF_A_PROTOTYPED))
		behind(d, "void");
	behind(d, ")");
}

static void text(struct dwarf_unit *u, const uint8_t *at, char *buf, size_t size, int level)
{
	struct declarator d = { .start = SIDE, .end = SIDE };
	const char *name = "void", *keyword = "";
	char quals[64] = "", own[DWARF_NAME_MAX];
	struct dwarf_die t;
	int hops, n;

	for (hops = 0; at; hops++) {
		bool done = false;

		name = "?";
		if (hops == HOPS_MAX || !dwarf_unit_attrs(u) || !dwarf_die_read(u, at, &t))
			break;
		switch (t.tag) {
		case DW_TAG_pointer_type:
			if (*quals && d.start < d.end)
				before(&d, " ");
			before(&d, quals);
			before(&d, "*");
			*quals = '\0';
			break;
		case DW_TAG_reference_type: before(&d, "&"); *quals = '\0'; break;
		case DW_TAG_rvalue_reference_type: before(&d, "&&"); *quals = '\0'; break;
		case DW_TAG_ptr_to_member_type: before(&d, "::*"); *quals = '\0'; break;
		case DW_TAG_const_type:
			if (!strstr(quals, "const") && strlen(quals) < 32)
				strcat(quals, " const");
			break;
		case DW_TAG_volatile_type:
			if (!strstr(quals, "volatile") && strlen(quals) < 32)
				strcat(quals, " volatile");
			break;
		case DW_TAG_restrict_type:
		case DW_TAG_atomic_type:
			break;
		case DW_TAG_array_type:
			wrap(&d);
			dimensions(&t, &d);
			break;
		case DW_TAG_subroutine_type:
			wrap(&d);
			arguments(&t, &d, level);
			break;
		default:
			name = dwarf_name(&t, own) ? own : NULL;
			if (!name && dwarf_die_ref(&t, DWARF_A_SIGNATURE, &u, &at))
				continue;
			keyword = name ? dwarf_text_keyword(u, t.tag) : "";
			if (!name)
				name = nameless(t.tag);
			done = true;
			break;
		}
		if (done)
			break;
		name = "void";
		if (!dwarf_die_ref(&t, DWARF_A_TYPE, &u, &at))
			break;
		dwarf_unit_inherit(u, t.unit);
	}
	d.text[d.end] = '\0';
	n = snprintf(buf, size, "%s%s%s%s%s%s", *quals ? quals + 1 : "", *quals ? " " : "", keyword,
		     name, d.start < d.end ? " " : "", d.text + d.start);
	if (n >= (int)size || d.cut)
		strcpy(buf + (n >= (int)size ? size - 4 : strlen(buf) < size - 4 ? strlen(buf) : size - 4), "...");
}

void dwarf_text(struct dwarf_unit *u, const uint8_t *at, char buf[DWARF_TEXT_MAX])
{
	text(u, at, buf, DWARF_TEXT_MAX, 0);
}
