// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * dwarf_types.c - types of debug information -> types of a symbol image, each once.
 */
#include "config.h"

#include "dwarf_types.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dwarf_die.h"
#include "dwarf_dimension.h"
#include "dwarf_name.h"
#include "dwarf_text.h"
#include "dwarf_virtual.h"

enum {
	LEVELS_MAX = 200,	/* of types in each other, typedefs and all */
	BASES_MAX = 1024,	/* of a class, looked at */
	BASE_LEVELS_MAX = 32,
};

/* ---- sizes ---- */

static uint32_t convert(struct type_table *t, struct dwarf_unit *u, const uint8_t *at, int level);

/* The type that @d's DW_AT_type refers to; 0: none. */
static uint32_t inner(struct type_table *t, const struct dwarf_die *d, int level)
{
	struct dwarf_unit *u;
	const uint8_t *at;

	if (!dwarf_die_ref(d, DWARF_A_TYPE, &u, &at))
		return 0;
	dwarf_unit_inherit(u, d->unit);
	return convert(t, u, at, level + 1);
}

/* The same where @d says of what a class is derived: without that one's own virtual base classes. */
static uint32_t inner_base(struct type_table *t, const struct dwarf_die *d, int level)
{
	struct dwarf_die c;
	uint32_t id;

	if (!dwarf_die_class(d, &c))
		return inner(t, d, level);
	dwarf_unit_inherit(c.unit, d->unit);
	id = convert(t, c.unit, c.at, level + 1);
	if (id && type_table_known(t, c.at)->id == id)
		id = type_table_known(t, c.at)->base;
	t->any_virtual |= id != type_table_known(t, c.at)->id && type_table_known(t, c.at)->at;
	return id;
}

static uint64_t size_of(const struct dwarf_die *d)
{
	uint64_t n;

	if (dwarf_die_num(d, DWARF_A_BYTE_SIZE, &n))
		return n;
	return dwarf_die_num(d, DWARF_A_BIT_SIZE, &n) ? n / 8 + !!(n % 8) : 0;
}

static bool fits(uint64_t offset, uint64_t size)
{
	return offset + size >= offset;
}

/* ---- arrays ---- */

/* No array, or one whose inside is not known. */
static uint32_t closed_array(struct type_table *t, uint32_t name, uint64_t size)
{
	t->opaque++;
	return type_table_scalar(t, name, size);
}

static uint32_t array_of(struct type_table *t, uint32_t of, const struct dwarf_dimension *n, uint64_t stride,
			 uint32_t name, bool columns)
{
	struct hvar_image_type k;

	if (!stride || (n->count && UINT64_MAX / n->count < stride) || n->low != (int32_t)n->low)
		return type_table_scalar(t, name, 0);
	if (t->v[of].depth + 1 >= HVAR_TYPE_DEPTH)
		return closed_array(t, name, 0);
	/* an element has no room to grow */
	of = type_table_variant(t, of, t->v[of].name, t->v[of].flags & ~HVAR_TYPE_OPEN);
	memset(&k, 0, sizeof(k));
	k.kind = HVAR_TYPE_ARRAY;
	k.name = name;
	k.first = of;
	k.count = n->count;
	k.stride = stride;
	k.size = n->count * stride;
	k.n = (uint32_t)n->low;
	k.depth = t->v[of].depth + 1;
	k.flags = (n->count ? 0 : HVAR_TYPE_OPEN) | (columns ? HVAR_TYPE_COLUMNS : 0);
	return type_table_enter(t, k, NULL);
}

static uint32_t array(struct type_table *t, const struct dwarf_die *d, int level)
{
	struct dwarf_dimension dims[DWARF_DIMENSIONS_MAX], swap;
	uint32_t of = inner(t, d, level), name;
	int n = dwarf_dimensions(d, dims), i;
	char text[DWARF_TEXT_MAX];
	bool columns = n > 1 && dwarf_by_columns(d);
	uint64_t stride = t->v[of].size;

	dwarf_text(d->unit, d->at, text);
	name = type_table_name(t, "", text);
	if (!n)
		return closed_array(t, name, size_of(d));
	if (dwarf_die_has(d, DWARF_A_BYTE_STRIDE) && !dwarf_die_num(d, DWARF_A_BYTE_STRIDE, &stride))
		stride = 0;
	if (dwarf_die_has(d, DWARF_A_BIT_STRIDE))
		stride = 0; /* elements that are no whole bytes */
	for (i = 0; columns && i < n / 2; i++) {
		swap = dims[i];
		dims[i] = dims[n - 1 - i];
		dims[n - 1 - i] = swap;
	}
	/* the last dimension is the innermost now; only the first may be open */
	for (i = n - 1; i >= 0; i--) {
		if (!dims[i].count && i)
			stride = 0;
		of = array_of(t, of, &dims[i], stride, i ? 0 : name, columns);
		stride = t->v[of].size;
	}
	return of;
}

/* ---- structs and unions ---- */

static void push(struct type_table *t, const struct hvar_image_member *m)
{
	if (t->n_pending == t->cap_pending) {
		uint32_t cap = t->cap_pending ? t->cap_pending * 2 : 256;
		struct hvar_image_member *v = realloc(t->pending, cap * sizeof(*v));

		if (!v) {
			t->error = -ENOMEM;
			return;
		}
		t->pending = v;
		t->cap_pending = cap;
	}
	t->pending[t->n_pending++] = *m;
}

/* Where member @d begins; false: where it is depends on the object. */
static bool member_offset(const struct dwarf_die *d, uint64_t *out)
{
	const struct dwarf_value *v = &d->v[DWARF_A_MEMBER_LOCATION];
	struct dwarf_cursor c;
	uint8_t op;

	*out = 0;
	if (!dwarf_die_has(d, DWARF_A_MEMBER_LOCATION))
		return true;
	if (v->cls != DWARF_C_BLOCK)
		return dwarf_die_num(d, DWARF_A_MEMBER_LOCATION, out);
	/* DWARF 2 and 3 add a number to the object's address */
	c.p = v->p;
	c.end = v->p + v->u;
	c.bad = false;
	op = (uint8_t)dwarf_fixed(&c, 1);
	*out = op == DW_OP_plus_uconst ? dwarf_uleb(&c) : 0;
	return op == DW_OP_plus_uconst && !c.bad && c.p == c.end;
}

/* The place of bit-field @d of @bits bits, in bits; @size: of its type. */
static bool bit_place(const struct dwarf_die *d, uint64_t at, uint64_t bits, uint64_t size,
		      uint64_t *out)
{
	uint64_t n, store = size;

	if (dwarf_die_num(d, DWARF_A_DATA_BIT_OFFSET, out))
		return at <= UINT64_MAX / 8 && fits(*out, at * 8) && (*out += at * 8, true);
	if (at > UINT64_MAX / 16)
		return false;
	*out = at * 8;
	if (!dwarf_die_num(d, DWARF_A_BIT_OFFSET, &n))
		return true;
	/* the old form counts from the highest bit of what holds it */
	dwarf_die_num(d, DWARF_A_BYTE_SIZE, &store);
	if (store > 64 || (int64_t)n < -(int64_t)(1 << 16) || (int64_t)n > 1 << 16)
		return false;
	*out += store * 8 - n - bits;
	return *out <= UINT64_MAX / 2;
}

static void member(struct type_table *t, const struct dwarf_die *d, bool variant, int level)
{
	struct hvar_image_member m;
	uint64_t bits = 0, place;

	/* a static member of the class is no part of an object */
	if (dwarf_die_flag(d, DWARF_A_DECLARATION) || dwarf_die_flag(d, DWARF_A_EXTERNAL))
		return;
	memset(&m, 0, sizeof(m));
	m.type = d->tag == DW_TAG_inheritance ? inner_base(t, d, level) : inner(t, d, level);
	if (!member_offset(d, &m.offset)) {
		if (d->tag == DW_TAG_inheritance)
			t->any_virtual = true;
		else
			t->opaque++;
		return;
	}
	m.name = d->tag == DW_TAG_inheritance ? 0 : type_table_name(t, "", dwarf_die_str(d, DWARF_A_NAME));
	if (dwarf_die_num(d, DWARF_A_BIT_SIZE, &bits) || dwarf_die_has(d, DWARF_A_DATA_BIT_OFFSET)) {
		if (bits > UINT16_MAX - 8 ||
		    !bit_place(d, m.offset, bits, t->v[m.type].size, &place)) {
			t->opaque++;
			return;
		}
		m.offset = place / 8;
		m.bit = place % 8;
		m.bits = (uint16_t)bits;
	}
	if (!fits(m.offset, t->v[m.type].size)) {
		t->opaque++;
		return;
	}
	/* without a name only what has members of its own is anything */
	if (!m.name && (m.bits || t->v[m.type].kind == HVAR_TYPE_SCALAR ||
			(t->v[m.type].kind != HVAR_TYPE_ARRAY && !t->v[m.type].n)))
		return;
	/* a variant without members is none of what the others have */
	if (variant && t->v[m.type].kind == HVAR_TYPE_STRUCT && !t->v[m.type].n)
		return;
	if (m.bits || t->v[m.type].size || t->v[m.type].flags & HVAR_TYPE_OPEN)
		push(t, &m);
}

/*
 * All members of @d, those of Rust's variants too, behind what is pending.  What tells variants apart has no name in
 * Rust, and may be a part of one of them: it comes last.
 */
static void members(struct type_table *t, const struct dwarf_die *d, int level)
{
	struct hvar_image_member discriminant = { .name = 0 };
	const uint8_t *at = d->next;
	struct dwarf_die c;
	int depth = 0;

	if (!d->children)
		return;
	while (at && dwarf_die_read(d->unit, at, &c) && !t->error) {
		if (!c.tag) {
			if (!depth--)
				break;
			at = c.next;
		} else if ((c.tag == DW_TAG_variant_part || c.tag == DW_TAG_variant) && c.children) {
			depth++;
			at = c.next;
		} else {
			if (c.tag == DW_TAG_member && depth && !dwarf_die_has(&c, DWARF_A_NAME) && !discriminant.name &&
			    member_offset(&c, &discriminant.offset)) {
				discriminant.type = inner(t, &c, level);
				discriminant.name = type_table_name(t, "", "<discriminant>");
			} else if (c.tag == DW_TAG_member || c.tag == DW_TAG_inheritance) {
				member(t, &c, depth, level);
			}
			at = dwarf_die_after(&c);
		}
	}
	if (discriminant.name && fits(discriminant.offset, t->v[discriminant.type].size) && t->v[discriminant.type].size)
		push(t, &discriminant);
}

static uint64_t end_of(const struct type_table *t, const struct hvar_image_member *m)
{
	return m->offset + (m->bits ? (uint64_t)(m->bit + m->bits + 7) / 8 : t->v[m->type].size);
}

/* Only what comes last may be open; *@open says whether it is.  Returns how many members are left. */
static uint32_t close_open(struct type_table *t, struct hvar_image_member *m, uint32_t n, bool *open)
{
	uint64_t upto = 0;
	uint32_t i, k = 0, last = UINT32_MAX;

	for (i = 0; i < n; i++)
		if (end_of(t, &m[i]) > upto)
			upto = end_of(t, &m[i]);
	for (i = 0; i < n; i++)
		if (t->v[m[i].type].flags & HVAR_TYPE_OPEN && end_of(t, &m[i]) >= upto)
			last = i;
	*open = false;
	for (i = 0; i < n; i++) {
		if (t->v[m[i].type].flags & HVAR_TYPE_OPEN && i != last)
			m[i].type = type_table_variant(t, m[i].type, t->v[m[i].type].name,
							   t->v[m[i].type].flags & ~HVAR_TYPE_OPEN);
		*open |= i == last;
		if (m[i].bits || t->v[m[i].type].size || i == last)
			m[k++] = m[i];
	}
	return k;
}

static int by_offset(const void *pa, const void *pb)
{
	const struct hvar_image_member *a = pa, *b = pb;

	return a->offset < b->offset ? -1 : a->offset > b->offset;
}

/* Do they share no byte?  Then they come to stand by their offset. */
static bool disjoint(const struct type_table *t, struct hvar_image_member *m, uint32_t n)
{
	uint64_t upto = 0;
	uint32_t i;
	bool sorted = true;

	for (i = 0; i < n; i++) {
		if (m[i].bits)
			return false;
		sorted &= m[i].offset >= upto;
		upto = end_of(t, &m[i]);
	}
	if (!sorted) {
		struct hvar_image_member *copy = malloc(n * sizeof(*copy));

		if (!copy)
			return false;
		memcpy(copy, m, n * sizeof(*copy));
		qsort(copy, n, sizeof(*copy), by_offset);
		for (i = 0, upto = 0, sorted = true; i < n; i++) {
			sorted &= copy[i].offset >= upto;
			upto = end_of(t, &copy[i]);
		}
		if (sorted)
			memcpy(m, copy, n * sizeof(*copy));
		free(copy);
	}
	/* what is open stands last */
	for (i = 0; i + 1 < n && sorted; i++)
		sorted = !(t->v[m[i].type].flags & HVAR_TYPE_OPEN);
	return sorted;
}

/* Of the members that are pending from @base on, a type; @part: as a base class, which has no more bytes than its members. */
static uint32_t finish(struct type_table *t, const struct dwarf_die *d, uint32_t name, uint32_t base, bool part)
{
	uint32_t i, n = t->n_pending - base, id;
	struct hvar_image_type k;
	uint64_t upto = 0;
	bool open;

	memset(&k, 0, sizeof(k));
	if (!n) { /* nothing in it: all of it is padding */
		k.kind = HVAR_TYPE_STRUCT;
		k.name = name;
		k.size = size_of(d);
		return type_table_enter(t, k, NULL);
	}
	n = close_open(t, t->pending + base, n, &open);
	for (i = 0; i < n; i++) {
		const struct hvar_image_member *m = &t->pending[base + i];

		if (t->v[m->type].depth >= k.depth)
			k.depth = t->v[m->type].depth + 1;
		if (end_of(t, m) > upto)
			upto = end_of(t, m);
	}
	k.size = dwarf_die_has(d, DWARF_A_BYTE_SIZE) && !part ? size_of(d) : upto;
	k.name = name;
	if (k.depth >= HVAR_TYPE_DEPTH) {
		t->opaque++;
		n = 0;
	}
	if (!n || t->error) {
		id = type_table_scalar(t, name, k.size);
	} else {
		k.kind = disjoint(t, t->pending + base, n) ? HVAR_TYPE_STRUCT : HVAR_TYPE_UNION;
		k.flags = open ? HVAR_TYPE_OPEN : 0;
		k.n = n;
		id = type_table_enter(t, k, t->pending + base);
	}
	t->n_pending = base;
	return id;
}

/* What is asked of the classes that a class is derived from, and of those of which they are. */
struct bases {
	const struct dwarf_die *whole;
	uint32_t first; /* member that is pending */
	int left, level;
};

/* Member @m of the class itself, if it has not got it already: a class may be the virtual base class of several. */
static bool push_base(struct type_table *t, const struct bases *b, const struct hvar_image_member *m)
{
	const struct hvar_image_member *have;
	uint32_t i;

	for (i = b->first; i < t->n_pending; i++) {
		have = &t->pending[i];
		if (!have->name && have->type == m->type && have->offset == m->offset)
			return false;
	}
	if (t->v[m->type].kind != HVAR_TYPE_SCALAR && t->v[m->type].size && t->v[m->type].n)
		push(t, m);
	return true;
}

/* All virtual base classes of the part @d, @part bytes from the start of the whole class, as members of that. */
static void virtual_bases(struct type_table *t, const struct dwarf_die *d, uint64_t part, struct bases *b)
{
	const uint8_t *at = d->next;
	struct dwarf_die c, class;
	uint64_t offset, back;

	if (!d->children || b->level >= BASE_LEVELS_MAX)
		return;
	b->level++;
	for (; at && b->left > 0 && dwarf_die_read(d->unit, at, &c) && c.tag; at = dwarf_die_after(&c)) {
		struct hvar_image_member m = { .name = 0 };

		if (c.tag != DW_TAG_inheritance || !dwarf_die_class(&c, &class))
			continue;
		b->left--;
		if (member_offset(&c, &offset)) {
			virtual_bases(t, &class, part + offset, b);
			continue;
		}
		m.type = inner_base(t, &c, b->level);
		if (!t->virtuals || !dwarf_virtual_back(&c, &back) ||
		    !dwarf_virtual_offset(t->virtuals, b->whole, part, back, &m.offset) ||
		    m.offset > size_of(b->whole) || t->v[m.type].size > size_of(b->whole) - m.offset)
			t->opaque++;
		else if (push_base(t, b, &m))
			virtual_bases(t, &class, m.offset, b);
	}
	b->level--;
}

/*
 * A class with virtual base classes has them where it is an object of its own; what is derived from it has them elsewhere.
 */
static uint32_t composite(struct type_table *t, const struct dwarf_die *d, uint32_t name, int level)
{
	struct bases b = { d, t->n_pending, BASES_MAX, 0 };
	bool outer = t->any_virtual, any;
	uint32_t i, n, id, part = 0;

	t->any_virtual = false;
	members(t, d, level);
	any = t->any_virtual;
	n = t->n_pending - b.first;
	if (any) {
		for (i = 0; i < n; i++) {
			struct hvar_image_member m = t->pending[b.first + i];

			push(t, &m);
		}
		if (!t->error)
			part = finish(t, d, name, b.first + n, true);
		virtual_bases(t, d, 0, &b);
	}
	id = finish(t, d, name, b.first, false);
	t->any_virtual = outer;
	t->base = any ? part : 0;
	return id;
}

static uint32_t named(struct type_table *t, const struct dwarf_die *d, int level)
{
	char name[DWARF_NAME_MAX];
	struct dwarf_unit *u;
	const uint8_t *at;
	uint32_t id;

	if (dwarf_die_ref(d, DWARF_A_SIGNATURE, &u, &at))
		return convert(t, u, at, level + 1);
	id = type_table_name(t, dwarf_text_keyword(d->unit, d->tag), dwarf_name(d, name) ? name : NULL);
	if (dwarf_die_flag(d, DWARF_A_DECLARATION)) {
		t->opaque++;
		return type_table_scalar(t, id, 0);
	}
	return composite(t, d, id, level);
}

/* ---- all the others ---- */

static uint32_t pointer(struct type_table *t, const struct dwarf_die *d, uint64_t size)
{
	char text[DWARF_TEXT_MAX];

	dwarf_text(d->unit, d->at, text);
	return type_table_scalar(t, type_table_name(t, "", text), dwarf_die_has(d, DWARF_A_BYTE_SIZE) ? size_of(d) : size);
}

static uint64_t member_pointer_size(const struct dwarf_die *d)
{
	struct dwarf_unit *u;
	const uint8_t *at;
	struct dwarf_die c;

	/* the C++ ABI: that of a function has an adjustment too */
	return dwarf_die_ref(d, DWARF_A_TYPE, &u, &at) && dwarf_unit_attrs(u) &&
	       dwarf_die_read(u, at, &c) && c.tag == DW_TAG_subroutine_type ?
		       2u * d->unit->addr_size : d->unit->addr_size;
}

static uint32_t by_tag(struct type_table *t, const struct dwarf_die *d, int level)
{
	uint64_t size = size_of(d);
	char text[DWARF_NAME_MAX];
	struct dwarf_unit *u;
	const uint8_t *at;
	uint32_t id, name;

	switch (d->tag) {
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_interface_type:
	case DW_TAG_union_type:
		return named(t, d, level);
	case DW_TAG_array_type:
		return array(t, d, level);
	case DW_TAG_pointer_type:
	case DW_TAG_reference_type:
	case DW_TAG_rvalue_reference_type:
		return pointer(t, d, d->unit->addr_size);
	case DW_TAG_ptr_to_member_type:
		return pointer(t, d, member_pointer_size(d));
	case DW_TAG_const_type:
	case DW_TAG_volatile_type:
	case DW_TAG_restrict_type:
	case DW_TAG_atomic_type:
	case DW_TAG_packed_type:
	case DW_TAG_immutable_type:
	case DW_TAG_shared_type:
		return inner(t, d, level);
	case DW_TAG_typedef:
	case DW_TAG_template_alias:
		id = inner(t, d, level);
		name = type_table_name(t, "", dwarf_name(d, text) ? text : NULL);
		return name ? type_table_variant(t, id, name, t->v[id].flags) : id;
	case DW_TAG_enumeration_type:
		if (dwarf_die_ref(d, DWARF_A_SIGNATURE, &u, &at))
			return convert(t, u, at, level + 1);
		if (!size)
			size = t->v[inner(t, d, level)].size;
		break;
	case DW_TAG_subrange_type:
		if (!size)
			size = t->v[inner(t, d, level)].size;
		break;
	case DW_TAG_unspecified_type: /* of C++'s nullptr */
		if (dwarf_name(d, text) && !strcmp(text, "decltype(nullptr)"))
			size = d->unit->addr_size;
		break;
	default:
		break;
	}
	return type_table_scalar(t, type_table_name(t, dwarf_text_keyword(d->unit, d->tag),
				 dwarf_name(d, text) ? text : NULL), size);
}

static uint32_t convert(struct type_table *t, struct dwarf_unit *u, const uint8_t *at, int level)
{
	struct type_known *k = type_table_known(t, at);
	struct dwarf_die d;
	uint32_t id;

	if (k->at && k->id != TYPE_TABLE_IN_WORK)
		return k->id;
	/* inside itself, or as deep as nothing is */
	if (k->at || level > LEVELS_MAX || !dwarf_unit_attrs(u) || !dwarf_die_read(u, at, &d) || !d.tag) {
		t->opaque++;
		return 0;
	}
	type_table_know(t, at, TYPE_TABLE_IN_WORK, 0);
	t->base = 0;
	id = t->error ? 0 : by_tag(t, &d, level);
	type_table_know(t, at, id, t->base ? t->base : id);
	t->base = 0;
	return id;
}

uint32_t dwarf_types_of(struct type_table *t, struct dwarf_unit *u, const uint8_t *at)
{
	return at ? convert(t, u, at, 0) : 0;
}
