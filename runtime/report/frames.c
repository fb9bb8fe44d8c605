// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "frames.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/core/hvar_image.h"
#include "runtime/core/hvar_resolve.h"
#include "translator-hooks/image_name.h"
#include "translator-hooks/locals_child.h"
#include "variables.h"

#define NONE UINT32_MAX

enum { FIRST_SLOTS = 1 << 10, PLACES_MAX = 1 << 24, PARTS = 6 };

/* What was asked for. */
struct place {
	uint64_t vaddr;
	int32_t offset;
	uint32_t module;
	uint8_t len, flags;
	uint32_t name; /* number */
};

struct opened {
	bool tried;
	struct locals_child *file;
};

struct frames {
	struct images *images;
	bool by_member;
	struct opened *opened; /* by module */
	uint32_t n_opened;
	struct place *places;
	uint32_t n_places, cap_places, next_fresh;
	uint32_t *place_slots, n_place_slots;
	struct known {
		struct frame_name name;
		char *text[PARTS]; /* kind, function, local, member, type, size */
		char *whole;
		uint32_t group;    /* the first of the same variable */
	} *names;
	uint32_t n_names, cap_names;
	uint32_t *name_slots, n_name_slots;
	char *line;
};

static const char *const kind_texts[LOCALS_KINDS] = {
	[LOCALS_VARIABLE] = "", [LOCALS_RETURN] = "[return address]", [LOCALS_SAVED] = "[saved]", [LOCALS_SPILL] = "[spill]",
	[LOCALS_TEMPORARY] = "[temporary]", [LOCALS_ARGUMENT] = "[arguments]", [LOCALS_FRAME] = "[frame]",
	[LOCALS_STACK] = "[stack]",
};

static uint64_t mix(uint64_t h, uint64_t x)
{
	h = (h ^ x) * 0x9e3779b97f4a7c15ull;
	return h ^ h >> 29;
}

static uint64_t mix_text(uint64_t h, const char *s)
{
	for (; *s; s++)
		h = (h ^ (uint8_t)*s) * 0x100000001b3ull;
	return mix(h, 1);
}

/* ---- names ---- */

static uint64_t name_hash(uint32_t module, char *const *text)
{
	uint64_t h = mix(0, module);
	int i;

	for (i = 0; i < PARTS; i++)
		h = mix_text(h, text[i]);
	return h;
}

static bool same_text(char *const *a, char *const *b, int n)
{
	int i;

	for (i = 0; i < n; i++)
		if (strcmp(a[i], b[i]))
			return false;
	return true;
}

static uint32_t *name_slot(const struct frames *f, uint32_t *slots, uint32_t n, uint32_t module, char *const *text)
{
	uint32_t i = (uint32_t)name_hash(module, text) & (n - 1);

	while (slots[i] && (f->names[slots[i] - 1].name.module != module || !same_text(f->names[slots[i] - 1].text, text, PARTS)))
		i = (i + 1) & (n - 1);
	return &slots[i];
}

static bool names_room(struct frames *f)
{
	uint32_t n = 2 * f->n_name_slots, cap = f->cap_names ? 2 * f->cap_names : 64, i, *slots;

	if (f->n_names == f->cap_names) {
		struct known *v = realloc(f->names, cap * sizeof(*v));

		if (!v)
			return false;
		f->names = v;
		f->cap_names = cap;
	}
	if (f->n_names < f->n_name_slots / 2)
		return true;
	slots = calloc(n, sizeof(*slots));
	if (!slots)
		return false;
	for (i = 0; i < f->n_names; i++)
		*name_slot(f, slots, n, f->names[i].name.module, f->names[i].text) = i + 1;
	free(f->name_slots);
	f->name_slots = slots;
	f->n_name_slots = n;
	return true;
}

static void free_known(struct known *k)
{
	int i;

	for (i = 0; i < PARTS; i++)
		free(k->text[i]);
	free(k->whole);
}

/* The number of the name with these parts, made if need be; NONE: no memory. */
static uint32_t name_number(struct frames *f, uint32_t module, char *const *text, bool grouped);

static bool make_known(struct frames *f, struct known *k, uint32_t module, char *const *text, bool grouped)
{
	char *empty = (char *)"", *group[PARTS] = { text[0], text[1], text[2], empty, empty, text[5] };
	const char *member = f->by_member && grouped ? text[3] : "";
	int kind = atoi(text[0]), i;

	memset(k, 0, sizeof(*k));
	for (i = 0; i < PARTS; i++)
		if (!(k->text[i] = strdup(text[i])))
			return false;
	if (kind < 0 || kind >= LOCALS_KINDS)
		kind = LOCALS_STACK;
	if (asprintf(&k->whole, "%s%s%s%s", text[1], *text[1] ? ":" : "", *kind_texts[kind] ? kind_texts[kind] : text[2], member) < 0) {
		k->whole = NULL;
		return false;
	}
	k->name = (struct frame_name){ .module = module, .name = k->whole, .function = k->text[1], .local = k->text[2],
				       .member = k->text[3], .type = k->text[4], .size = strtoull(text[5], NULL, 10),
				       .unknown = kind == LOCALS_STACK || kind == LOCALS_FRAME };
	k->group = NONE;
	if (!grouped)
		return true;
	k->group = name_number(f, module, group, false);
	return k->group != NONE;
}

/* Number @n is there: one that was made for a group may be asked for itself. */
static uint32_t entered(struct frames *f, uint32_t n, bool grouped)
{
	if (grouped && f->names[n].group == NONE)
		f->names[n].group = n;
	return n;
}

static uint32_t name_number(struct frames *f, uint32_t module, char *const *text, bool grouped)
{
	uint32_t *slot = name_slot(f, f->name_slots, f->n_name_slots, module, text);
	struct known k;

	if (*slot)
		return entered(f, *slot - 1, grouped);
	if (!make_known(f, &k, module, text, grouped) || !names_room(f)) {
		free_known(&k);
		return NONE;
	}
	/* making the group's may have entered this very one */
	slot = name_slot(f, f->name_slots, f->n_name_slots, module, text);
	if (*slot) {
		free_known(&k);
		return entered(f, *slot - 1, grouped);
	}
	f->names[f->n_names] = k;
	*slot = ++f->n_names;
	return f->n_names - 1;
}

/* ---- places ---- */

static uint64_t place_hash(const struct place *p)
{
	return mix(mix(mix(p->vaddr, (uint32_t)p->offset), p->module), (uint64_t)p->flags << 8 | p->len);
}

static uint32_t *place_slot(const struct frames *f, uint32_t *slots, uint32_t n, const struct place *p)
{
	uint32_t i = (uint32_t)place_hash(p) & (n - 1);

	for (; slots[i]; i = (i + 1) & (n - 1)) {
		const struct place *q = &f->places[slots[i] - 1];

		if (q->vaddr == p->vaddr && q->offset == p->offset && q->module == p->module && q->flags == p->flags &&
		    q->len == p->len)
			break;
	}
	return &slots[i];
}

static bool places_room(struct frames *f)
{
	uint32_t n = 2 * f->n_place_slots, cap = f->cap_places ? 2 * f->cap_places : 256, i, *slots;

	if (f->n_places == PLACES_MAX)
		return false;
	if (f->n_places == f->cap_places) {
		struct place *v = realloc(f->places, cap * sizeof(*v));

		if (!v)
			return false;
		f->places = v;
		f->cap_places = cap;
	}
	if (f->n_places < f->n_place_slots / 2)
		return true;
	slots = calloc(n, sizeof(*slots));
	if (!slots)
		return false;
	for (i = 0; i < f->n_places; i++)
		*place_slot(f, slots, n, &f->places[i]) = i + 1;
	free(f->place_slots);
	f->place_slots = slots;
	f->n_place_slots = n;
	return true;
}

static bool add_place(struct frames *f, const struct place *p)
{
	if (!places_room(f))
		return false;
	f->places[f->n_places] = *p;
	*place_slot(f, f->place_slots, f->n_place_slots, p) = f->n_places + 1;
	f->n_places++;
	return true;
}

/* ---- finding ---- */

static struct locals_child *file_of(struct frames *f, uint32_t module)
{
	struct opened *o;
	int fd;

	if (module >= f->n_opened) {
		uint32_t n = f->n_opened ? f->n_opened : 64;

		while (n <= module)
			n *= 2;
		o = realloc(f->opened, n * sizeof(*o));
		if (!o)
			return NULL;
		memset(o + f->n_opened, 0, (n - f->n_opened) * sizeof(*o));
		f->opened = o;
		f->n_opened = n;
	}
	o = &f->opened[module];
	if (!o->tried) {
		o->tried = true;
		fd = images_file(f->images, module);
		if (fd >= 0) {
			o->file = locals_child_open(fd, images_path(f->images, module));
			if (!o->file)
				images_fail(f->images, module, "no names of its local variables: there may be no more processes, or there is no memory: end some");
		}
	}
	return o->file;
}

/* What the function at @p is called by its symbol, or where it begins; malloc'd. */
static char *function_name(const struct hvar_place *p, const struct hvar_image *img)
{
	uint64_t first, last;
	char *text;

	if (p->symbol != HVAR_IMAGE_NONE && img)
		return image_name(img, p->symbol);
	if (!(p->flags & HVAR_PLACE_VADDR) || !img || !hvar_image_function(img, p->vaddr, &first, &last))
		return strdup("");
	return asprintf(&text, "0x%" PRIx64, first) < 0 ? NULL : text;
}

/* Tabs part what a recording has of it. */
static void printable(char *s)
{
	for (; *s; s++)
		if ((uint8_t)*s < ' ' || *s == 0x7f)
			*s = '?';
}

/* No more names of this module's locals: what was asked for last was too much for the process that reads them. */
static void no_more(struct frames *f, uint32_t module)
{
	struct opened *o = &f->opened[module];
	char text[256];

	if (*locals_child_why(o->file)) {
		snprintf(text, sizeof(text), "no more names of its local variables: the process that reads its debug information %s", locals_child_why(o->file));
		images_fail(f->images, module, text);
	}
	locals_child_close(o->file);
	o->file = NULL;
}

static void find(struct frames *f, const struct hvar_place *at, struct place *p, const struct hvar_image *img)
{
	struct locals_at ask = { .vaddr = p->vaddr, .len = p->len, .offset = p->offset,
				 .base = p->flags & (STREAM_STACK_OWNED | STREAM_STACK_CFA) ? LOCALS_CFA :
					 p->flags & STREAM_STACK_FP ? LOCALS_FP : LOCALS_SP,
				 .is_return = p->flags & (STREAM_STACK_CALL | STREAM_STACK_RETURN) };
	struct locals_child *file = p->module ? file_of(f, p->module) : NULL;
	struct locals_found found = { .kind = ask.is_return ? LOCALS_RETURN : LOCALS_STACK };
	char kind[16], size[24], *function, *text[PARTS];
	int i;

	if (file && locals_child_find(file, &ask, &found))
		no_more(f, p->module);
	function = found.function ? strdup(found.function) : function_name(at, img);
	snprintf(kind, sizeof(kind), "%d", (int)found.kind);
	snprintf(size, sizeof(size), "%" PRIu64, found.size);
	text[0] = kind;
	text[1] = function;
	text[2] = found.name;
	text[3] = found.member;
	text[4] = found.type;
	text[5] = size;
	for (i = 0; i < PARTS && function; i++)
		printable(text[i]);
	p->name = function ? name_number(f, p->module, text, true) : NONE;
	free(function);
}

uint32_t frames_at(struct frames *f, const struct hvar_vmas *vmas, const struct stream_stack_count *c)
{
	struct place p = { .offset = c->offset, .len = c->len, .flags = c->flags };
	const struct hvar_image *img = NULL;
	struct hvar_place at;
	uint32_t *slot, why;

	memset(&at, 0, sizeof(at));
	at.symbol = HVAR_IMAGE_NONE;
	if (vmas)
		hvar_resolve(vmas, c->ip, images_of, f->images, &at);
	if (at.flags & HVAR_PLACE_VADDR) {
		p.module = images_canon(f->images, at.module);
		p.vaddr = at.vaddr;
		img = images_of(f->images, p.module, &why);
	} else {
		/* code that is in no file has no names, wherever it is */
		p.len = p.flags = 0;
		p.offset = 0;
	}
	slot = place_slot(f, f->place_slots, f->n_place_slots, &p);
	if (!*slot) {
		find(f, &at, &p, img);
		if (p.name == NONE || !add_place(f, &p))
			return NONE;
	} else {
		p.name = f->places[*slot - 1].name;
	}
	return f->by_member ? p.name : f->names[p.name].group;
}

const struct frame_name *frames_get(const struct frames *f, uint32_t n)
{
	return &f->names[n].name;
}

void frames_describe(const struct frames *f, uint32_t n, struct variable *out)
{
	const struct frame_name *name = frames_get(f, n);

	out->frame = name;
	out->size = name->size;
	out->is_private = true;
	if (f->by_member && *name->member) {
		out->member = name->member;
		out->type = *name->type ? name->type : NULL;
	}
	if (name->unknown)
		out->reason = hvar_reason_name(HVAR_REASON_NO_SYMBOL);
}

/* ---- recordings ---- */

/* "3.11d5.-48.0.5=0\tmain\tbuf\t[]\tlong\t128" */
const char *frames_fresh(struct frames *f)
{
	const struct place *p;
	char *const *t;

	free(f->line);
	f->line = NULL;
	while (f->next_fresh < f->n_places) {
		p = &f->places[f->next_fresh++];
		t = f->names[p->name].text;
		if (!p->module || asprintf(&f->line, FRAMES_KEY "%" PRIu32 ".%" PRIx64 ".%" PRId32 ".%u.%u=%s\t%s\t%s\t%s\t%s\t%s", p->module,
					   p->vaddr, p->offset, p->flags, p->len, t[0], t[1], t[2], t[3], t[4], t[5]) < 0) {
			f->line = NULL;
			continue;
		}
		return f->line;
	}
	return NULL;
}

void frames_told(struct frames *f, const char *key, const char *value)
{
	char *copy = strdup(value), *text[PARTS], *at = copy;
	unsigned module, flags, len;
	struct place p = { 0 };
	int i;

	for (i = 0; i < PARTS && at; i++) {
		text[i] = at;
		at = strchr(at, '\t');
		if (at)
			*at++ = '\0';
	}
	if (i == PARTS && !at &&
	    sscanf(key, "%u.%" SCNx64 ".%" SCNd32 ".%u.%u", &module, &p.vaddr, &p.offset, &flags, &len) == 5 && module &&
	    flags <= STREAM_STACK_FLAGS && len < 256) {
		p.module = images_canon(f->images, module);
		p.flags = (uint8_t)flags;
		p.len = (uint8_t)len;
		if (!*place_slot(f, f->place_slots, f->n_place_slots, &p)) {
			p.name = name_number(f, p.module, text, true);
			if (p.name != NONE)
				add_place(f, &p);
		}
	}
	free(copy);
}

struct frames *frames_new(struct images *images, bool by_member)
{
	struct frames *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->images = images;
	f->by_member = by_member;
	f->n_place_slots = f->n_name_slots = FIRST_SLOTS;
	f->place_slots = calloc(f->n_place_slots, sizeof(*f->place_slots));
	f->name_slots = calloc(f->n_name_slots, sizeof(*f->name_slots));
	if (!f->place_slots || !f->name_slots) {
		frames_free(f);
		return NULL;
	}
	return f;
}

void frames_free(struct frames *f)
{
	uint32_t i;

	if (!f)
		return;
	for (i = 0; i < f->n_opened; i++)
		locals_child_close(f->opened[i].file);
	for (i = 0; i < f->n_names; i++)
		free_known(&f->names[i]);
	free(f->opened);
	free(f->places);
	free(f->place_slots);
	free(f->names);
	free(f->name_slots);
	free(f->line);
	free(f);
}
