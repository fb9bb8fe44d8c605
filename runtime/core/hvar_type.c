// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * hvar_type.c - from (variable, offset) to the members that the byte is in.
 *
 * A walk is a search in depth for a scalar that holds the byte.  Arrays and structs offer one way
 * down each, unions several.  Its stack is the caller's, its steps are counted.
 */
#include "hvar_type.h"
#include "hvar_image_format.h"

/* ---- checks ---- */

static bool hvar_type_ok(const struct hvar_image *img, uint32_t i)
{
	const struct hvar_image_type *t = &img->types[i], *of;
	const struct hvar_image_member *m;
	uint64_t upto = 0;
	uint32_t k, bad = 0;

	if (t->kind == HVAR_TYPE_SCALAR)
		return !t->depth && !t->n && !t->flags;
	if (t->kind == HVAR_TYPE_ARRAY) {
		of = &img->types[t->first];
		return t->first < i && of->depth < t->depth && t->stride;
	}
	if (t->flags & HVAR_TYPE_COLUMNS)
		return false;
	if (t->first > img->n_members || t->n > img->n_members - t->first)
		return false;
	m = t->n ? img->members + t->first : NULL;
	for (k = 0; k < t->n; k++, m++) {
		if (m->type >= i)
			return false;
		of = &img->types[m->type];
		bad |= of->depth >= t->depth;
		bad |= m->offset + of->size < m->offset;
		bad |= m->bit > 7;
		if (t->kind == HVAR_TYPE_UNION)
			continue;
		/* each has a byte, and nothing follows what is open */
		bad |= m->bits | (m->offset < upto);
		bad |= !of->size && !(of->flags & HVAR_TYPE_OPEN);
		bad |= (of->flags & HVAR_TYPE_OPEN) && k + 1 < t->n;
		upto = m->offset + of->size;
	}
	return !bad;
}

static bool hvar_types_all_ok(const struct hvar_image *img, uint32_t n_strs)
{
	const struct hvar_image_type *t = img->types;
	uint32_t i;

	for (i = 0; i < img->n_types; i++, t++)
		if (t->kind >= HVAR_TYPE_KINDS || t->name >= n_strs || t->depth >= HVAR_TYPE_DEPTH ||
		    (t->flags & ~(HVAR_TYPE_OPEN | HVAR_TYPE_COLUMNS)) ||
		    (t->kind == HVAR_TYPE_ARRAY && t->first >= i) || !hvar_type_ok(img, i))
			return false;
	for (i = 0; i < img->n_members; i++)
		if (img->members[i].name >= n_strs)
			return false;
	return true;
}

static bool hvar_type_vars_ok(const struct hvar_image *img, const struct hvar_image_var *v,
			      uint32_t n, uint32_t n_syms, uint32_t n_strs)
{
	uint32_t i, bad = 0;

	for (i = 0; i < n; i++) {
		bad |= v[i].symbol >= n_syms;
		bad |= i && v[i].symbol <= v[i - 1].symbol;
		bad |= v[i].type >= img->n_types;
		bad |= v[i].file >= n_strs;
		bad |= v[i].function >= n_strs;
	}
	return !bad;
}

HVAR_API void hvar_types_set(struct hvar_image *img)
{
	img->types = hvar_image_table(img, HVAR_IMAGE_TYPES, sizeof(*img->types),
				      &img->n_types);
	img->members = hvar_image_table(img, HVAR_IMAGE_MEMBERS, sizeof(*img->members),
					&img->n_members);
	img->vars = hvar_image_table(img, HVAR_IMAGE_VARS, sizeof(*img->vars), &img->n_vars);
	img->tls_vars = hvar_image_table(img, HVAR_IMAGE_TLS_VARS, sizeof(*img->tls_vars),
					 &img->n_tls_vars);
}

HVAR_API bool hvar_types_ok(const struct hvar_image *img, uint32_t n_strs)
{
	return hvar_types_all_ok(img, n_strs) &&
	       hvar_type_vars_ok(img, img->vars, img->n_vars, img->n_syms, n_strs) &&
	       hvar_type_vars_ok(img, img->tls_vars, img->n_tls_vars, img->n_tls_syms, n_strs);
}

/* ---- variables ---- */

HVAR_API const struct hvar_image_var *hvar_type_var(const struct hvar_image *img,
						    uint32_t symbol, bool tls)
{
	const struct hvar_image_var *v = tls ? img->tls_vars : img->vars;
	uint32_t lo = 0, n = tls ? img->n_tls_vars : img->n_vars, hi = n, mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (v[mid].symbol < symbol)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < n && v[lo].symbol == symbol ? &v[lo] : NULL;
}

/* ---- the walk ---- */

/* @a by @b, which is not 0, without the machine's 64-bit division; *@rest: what is left. */
static uint64_t hvar_type_divide(uint64_t a, uint64_t b, uint64_t *rest)
{
	uint64_t q = 0, part = b;
	int shift = 0;

	if (!(a >> 32) && !(b >> 32)) {
		*rest = (uint32_t)a % (uint32_t)b;
		return (uint32_t)a / (uint32_t)b;
	}
	while (part <= a >> 1) {
		part <<= 1;
		shift++;
	}
	for (; shift >= 0; shift--, part >>= 1) {
		if (a >= part) {
			a -= part;
			q |= (uint64_t)1 << shift;
		}
	}
	*rest = a;
	return q;
}

static bool hvar_type_holds(const struct hvar_image *img, const struct hvar_image_member *m,
			    uint64_t offset)
{
	const struct hvar_image_type *t = &img->types[m->type];

	if (offset < m->offset)
		return false;
	if (m->bits)
		return offset - m->offset < (uint64_t)((m->bit + m->bits + 7) >> 3);
	return offset - m->offset < t->size || t->flags & HVAR_TYPE_OPEN;
}

/* The last member of struct @t that starts at or before @offset, if it holds it. */
static uint32_t hvar_type_search(const struct hvar_image *img, const struct hvar_image_type *t,
				 uint64_t offset)
{
	uint32_t lo = t->first, hi = t->first + t->n, mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (img->members[mid].offset <= offset)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo > t->first && hvar_type_holds(img, &img->members[lo - 1], offset) ?
		       lo - 1 : HVAR_IMAGE_NONE;
}

/* The next way down from @l, or HVAR_IMAGE_NONE; of an array it is the element's type. */
static uint32_t hvar_type_way(const struct hvar_image *img, const struct hvar_type_level *l,
			      uint32_t *steps)
{
	const struct hvar_image_type *t = &img->types[l->type];
	bool again = l->member != HVAR_IMAGE_NONE;
	uint64_t index, rest;
	uint32_t i;

	switch (t->kind) {
	case HVAR_TYPE_ARRAY:
		index = again ? 0 : hvar_type_divide(l->offset, t->stride, &rest);
		if (again || (index >= t->count && !(t->flags & HVAR_TYPE_OPEN)))
			return HVAR_IMAGE_NONE;
		return rest < img->types[t->first].size ? t->first : HVAR_IMAGE_NONE;
	case HVAR_TYPE_STRUCT:
		return again ? HVAR_IMAGE_NONE : hvar_type_search(img, t, l->offset);
	case HVAR_TYPE_UNION:
		for (i = again ? l->member + 1 : t->first; i - t->first < t->n; i++) {
			if (++*steps > HVAR_TYPE_STEPS)
				break;
			if (hvar_type_holds(img, &img->members[i], l->offset))
				return i;
		}
		return HVAR_IMAGE_NONE;
	default:
		return HVAR_IMAGE_NONE;
	}
}

/* One level down from @l by @way: the type and the offset in it. */
static void hvar_type_down(const struct hvar_image *img, const struct hvar_type_level *l,
			   struct hvar_type_level *to)
{
	const struct hvar_image_type *t = &img->types[l->type];

	if (t->kind == HVAR_TYPE_ARRAY) {
		to->type = t->first;
		hvar_type_divide(l->offset, t->stride, &to->offset);
	} else {
		to->type = img->members[l->member].type;
		to->offset = l->offset - img->members[l->member].offset;
	}
	to->member = HVAR_IMAGE_NONE;
}

/* What the last level of @w came to. */
static void hvar_type_answer(const struct hvar_image *img, struct hvar_type_walk *w)
{
	const struct hvar_type_level *l = &w->level[w->depth - 1];

	w->type = l->type;
	w->offset = l->offset;
	w->leaf = img->types[l->type].kind == HVAR_TYPE_SCALAR;
	w->bits = 0;
	w->bit = 0;
	if (w->depth > 1 && img->types[l[-1].type].kind == HVAR_TYPE_UNION) {
		w->bits = img->members[l[-1].member].bits;
		w->bit = img->members[l[-1].member].bit;
	}
}

/* Go on from where @w stands to the next scalar. */
static bool hvar_type_seek(const struct hvar_image *img, struct hvar_type_walk *w)
{
	while (w->depth && w->steps <= HVAR_TYPE_STEPS) {
		struct hvar_type_level *l = &w->level[w->depth - 1];
		uint32_t way = hvar_type_way(img, l, &w->steps);

		w->steps++;
		if (way == HVAR_IMAGE_NONE) {
			w->depth--;
			continue;
		}
		l->member = way;
		/* types of depth d have at most d levels below them: there is room */
		hvar_type_down(img, l, l + 1);
		w->depth++;
		if (img->types[l[1].type].kind == HVAR_TYPE_SCALAR) {
			hvar_type_answer(img, w);
			return true;
		}
	}
	return false;
}

static void hvar_type_start(struct hvar_type_walk *w, uint32_t type, uint64_t offset)
{
	w->depth = 1;
	w->steps = 0;
	w->level[0].type = type;
	w->level[0].offset = offset;
	w->level[0].member = HVAR_IMAGE_NONE;
}

/* Is the way down from @l by a member without a name? */
static bool hvar_type_nameless(const struct hvar_image *img, const struct hvar_type_level *l)
{
	return img->types[l->type].kind != HVAR_TYPE_ARRAY && !img->members[l->member].name;
}

HVAR_API void hvar_type_first(const struct hvar_image *img, uint32_t type, uint64_t offset,
			      struct hvar_type_walk *w)
{
	uint32_t steps = 0, way;

	hvar_type_start(w, type, offset);
	if (img->types[type].kind == HVAR_TYPE_SCALAR) {
		hvar_type_answer(img, w);
		w->leaf = offset < img->types[type].size;
		return;
	}
	if (hvar_type_seek(img, w))
		return;
	/* Padding: down by the first way as far as there is one. */
	hvar_type_start(w, type, offset);
	for (;;) {
		struct hvar_type_level *l = &w->level[w->depth - 1];

		way = hvar_type_way(img, l, &steps);
		if (way == HVAR_IMAGE_NONE)
			break;
		l->member = way;
		hvar_type_down(img, l, l + 1);
		w->depth++;
	}
	/* what has no name is not what the offset is said from */
	while (w->depth > 1 && hvar_type_nameless(img, &w->level[w->depth - 2]))
		w->depth--;
	hvar_type_answer(img, w);
}

HVAR_API bool hvar_type_next(const struct hvar_image *img, struct hvar_type_walk *w)
{
	if (w->depth < 2 || !w->leaf)
		return false;
	w->depth--;
	return hvar_type_seek(img, w);
}

/* ---- text ---- */

struct hvar_type_out {
	char *buf;
	uint32_t size, n;
};

static void hvar_type_put(struct hvar_type_out *o, char c)
{
	if (o->n < o->size - 1)
		o->buf[o->n] = c;
	o->n++;
}

static void hvar_type_put_number(struct hvar_type_out *o, uint64_t x)
{
	char digits[20];
	uint64_t rest;
	int n = 0;

	do {
		x = hvar_type_divide(x, 10, &rest);
		digits[n++] = (char)('0' + rest);
	} while (x);
	while (n)
		hvar_type_put(o, digits[--n]);
}

/* "[3]": which element of the array at @l, in the source's numbers. */
static void hvar_type_put_index(const struct hvar_image *img, const struct hvar_type_level *l,
				bool numbers, struct hvar_type_out *o)
{
	const struct hvar_image_type *t = &img->types[l->type];
	uint64_t rest, index;

	hvar_type_put(o, '[');
	if (numbers) {
		index = hvar_type_divide(l->offset, t->stride, &rest) + (uint64_t)(int64_t)(int32_t)t->n;
		if ((int32_t)t->n < 0 && (int64_t)index < 0) {
			hvar_type_put(o, '-');
			index = 0 - index;
		}
		hvar_type_put_number(o, index);
	}
	hvar_type_put(o, ']');
}

/* Is level @i an array of columns? */
static bool hvar_type_columns(const struct hvar_image *img, const struct hvar_type_walk *w,
			      uint32_t i)
{
	return i + 1 < w->depth && img->types[w->level[i].type].flags & HVAR_TYPE_COLUMNS;
}

static uint32_t hvar_type_write(const struct hvar_image *img, const struct hvar_type_walk *w,
				bool numbers, char *buf, uint32_t size)
{
	struct hvar_type_out o;
	uint32_t i, k, n;

	o.buf = buf;
	o.size = size;
	o.n = 0;
	for (i = 0; i + 1 < w->depth; i++) {
		const struct hvar_type_level *l = &w->level[i];
		const char *s;

		if (img->types[l->type].kind == HVAR_TYPE_ARRAY) {
			for (n = 1; hvar_type_columns(img, w, i) && hvar_type_columns(img, w, i + n); n++)
				;
			for (k = n; k; k--)
				hvar_type_put_index(img, &w->level[i + k - 1], numbers, &o);
			i += n - 1;
			continue;
		}
		s = hvar_image_str(img, img->members[l->member].name);
		if (*s)
			hvar_type_put(&o, '.');
		while (*s)
			hvar_type_put(&o, *s++);
	}
	buf[o.n < size ? o.n : size - 1] = '\0';
	return o.n;
}

HVAR_API uint32_t hvar_type_text(const struct hvar_image *img, const struct hvar_type_walk *w,
				 char *buf, uint32_t size)
{
	return hvar_type_write(img, w, true, buf, size);
}

HVAR_API uint32_t hvar_type_pattern(const struct hvar_image *img, const struct hvar_type_walk *w,
				    char *buf, uint32_t size)
{
	return hvar_type_write(img, w, false, buf, size);
}
