// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * dwarf_die.c - one debugging information entry: its attributes, those that matter here.
 */
#include "config.h"

#include "dwarf_die.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

static __thread uint64_t work_left = UINT64_MAX;

void dwarf_work(uint64_t n)
{
	work_left = n;
}

static bool spend(uint64_t n)
{
	if (n > work_left) {
		work_left = 0;
		return false;
	}
	work_left -= n;
	return true;
}

uint8_t dwarf_slot(uint64_t name)
{
	switch (name) {
	case DW_AT_sibling: return DWARF_A_SIBLING;
	case DW_AT_name: return DWARF_A_NAME;
	case DW_AT_linkage_name:
	case DW_AT_MIPS_linkage_name: return DWARF_A_LINKAGE_NAME;
	case DW_AT_type: return DWARF_A_TYPE;
	case DW_AT_location: return DWARF_A_LOCATION;
	case DW_AT_byte_size: return DWARF_A_BYTE_SIZE;
	case DW_AT_bit_size: return DWARF_A_BIT_SIZE;
	case DW_AT_bit_offset: return DWARF_A_BIT_OFFSET;
	case DW_AT_data_bit_offset: return DWARF_A_DATA_BIT_OFFSET;
	case DW_AT_data_member_location: return DWARF_A_MEMBER_LOCATION;
	case DW_AT_decl_file: return DWARF_A_DECL_FILE;
	case DW_AT_decl_line: return DWARF_A_DECL_LINE;
	case DW_AT_declaration: return DWARF_A_DECLARATION;
	case DW_AT_external: return DWARF_A_EXTERNAL;
	case DW_AT_specification: return DWARF_A_SPECIFICATION;
	case DW_AT_abstract_origin: return DWARF_A_ORIGIN;
	case DW_AT_signature: return DWARF_A_SIGNATURE;
	case DW_AT_count: return DWARF_A_COUNT;
	case DW_AT_upper_bound: return DWARF_A_UPPER_BOUND;
	case DW_AT_lower_bound: return DWARF_A_LOWER_BOUND;
	case DW_AT_byte_stride: return DWARF_A_BYTE_STRIDE;
	case DW_AT_bit_stride: return DWARF_A_BIT_STRIDE;
	case DW_AT_language: return DWARF_A_LANGUAGE;
	case DW_AT_stmt_list: return DWARF_A_STMT_LIST;
	case DW_AT_comp_dir: return DWARF_A_COMP_DIR;
	case DW_AT_str_offsets_base: return DWARF_A_STR_OFFSETS_BASE;
	case DW_AT_addr_base:
	case DW_AT_GNU_addr_base: return DWARF_A_ADDR_BASE;
	case DW_AT_dwo_name:
	case DW_AT_GNU_dwo_name: return DWARF_A_DWO_NAME;
	case DW_AT_GNU_dwo_id: return DWARF_A_DWO_ID;
	case DW_AT_prototyped: return DWARF_A_PROTOTYPED;
	case DW_AT_const_value: return DWARF_A_CONST_VALUE;
	case DW_AT_ordering: return DWARF_A_ORDERING;
	case DW_AT_data_location: return DWARF_A_DATA_LOCATION;
	default: return DWARF_A_NONE;
	}
}

unsigned dwarf_form_size(uint16_t form)
{
	switch (form) {
	case DW_FORM_flag_present:
	case DW_FORM_implicit_const:
		return 0;
	case DW_FORM_data1:
	case DW_FORM_ref1:
	case DW_FORM_flag:
	case DW_FORM_strx1:
	case DW_FORM_addrx1:
		return 1;
	case DW_FORM_data2:
	case DW_FORM_ref2:
	case DW_FORM_strx2:
	case DW_FORM_addrx2:
		return 2;
	case DW_FORM_strx3:
	case DW_FORM_addrx3:
		return 3;
	case DW_FORM_data4:
	case DW_FORM_ref4:
	case DW_FORM_strx4:
	case DW_FORM_addrx4:
	case DW_FORM_ref_sup4:
	case DW_FORM_strp:
	case DW_FORM_line_strp:
	case DW_FORM_strp_sup:
	case DW_FORM_GNU_strp_alt:
	case DW_FORM_GNU_ref_alt:
	case DW_FORM_ref_addr:
	case DW_FORM_sec_offset:
		return 4;
	case DW_FORM_addr:
	case DW_FORM_data8:
	case DW_FORM_ref8:
	case DW_FORM_ref_sig8:
	case DW_FORM_ref_sup8:
		return 8;
	case DW_FORM_data16:
		return 16;
	default:
		return UINT32_MAX;
	}
}

static void fixed(struct dwarf_cursor *c, unsigned n, uint8_t cls, struct dwarf_value *v)
{
	v->u = dwarf_fixed(c, n);
	v->cls = cls;
	v->ones = (n == 4 || n == 8) && v->u == ~(uint64_t)0 >> (64 - 8 * n);
}

static void block(struct dwarf_cursor *c, uint64_t n, struct dwarf_value *v)
{
	v->p = c->p;
	v->u = n;
	v->cls = DWARF_C_BLOCK;
	dwarf_skip(c, n);
	if (c->bad) /* nobody is to look at it */
		v->u = 0;
}

static void uleb(struct dwarf_cursor *c, uint8_t cls, struct dwarf_value *v)
{
	v->u = dwarf_uleb(c);
	v->cls = cls;
}

/* One value of @form; c->bad if the form is not known. */
static void read_value(const struct dwarf_unit *u, uint16_t form, int64_t implicit,
		       struct dwarf_cursor *c, struct dwarf_value *v)
{
	unsigned off = u->offset_size;

	v->u = 0;
	v->p = NULL;
	v->ones = false;
	v->cls = DWARF_C_OTHER;
	if (form == DW_FORM_indirect) {
		uint64_t real = dwarf_uleb(c);

		form = real > UINT16_MAX || real == DW_FORM_indirect || real == DW_FORM_implicit_const ?
			       0 : (uint16_t)real;
	}
	switch (form) {
	case DW_FORM_addr: fixed(c, u->addr_size, DWARF_C_ADDR, v); break;
	case DW_FORM_data1: fixed(c, 1, DWARF_C_UINT, v); break;
	case DW_FORM_data2: fixed(c, 2, DWARF_C_UINT, v); break;
	case DW_FORM_data4: fixed(c, 4, DWARF_C_UINT, v); break;
	case DW_FORM_data8: fixed(c, 8, DWARF_C_UINT, v); break;
	case DW_FORM_udata: uleb(c, DWARF_C_UINT, v); break;
	case DW_FORM_sdata:
		v->u = (uint64_t)dwarf_sleb(c);
		v->cls = DWARF_C_SINT;
		break;
	case DW_FORM_implicit_const:
		v->u = (uint64_t)implicit;
		v->cls = DWARF_C_SINT;
		break;
	case DW_FORM_data16: block(c, 16, v); v->cls = DWARF_C_OTHER; break;
	case DW_FORM_block1: block(c, dwarf_fixed(c, 1), v); break;
	case DW_FORM_block2: block(c, dwarf_fixed(c, 2), v); break;
	case DW_FORM_block4: block(c, dwarf_fixed(c, 4), v); break;
	case DW_FORM_block:
	case DW_FORM_exprloc: block(c, dwarf_uleb(c), v); break;
	case DW_FORM_flag: fixed(c, 1, DWARF_C_FLAG, v); break;
	case DW_FORM_flag_present: v->u = 1; v->cls = DWARF_C_FLAG; break;
	case DW_FORM_string:
		v->p = (const uint8_t *)dwarf_string(c);
		v->cls = DWARF_C_STRING;
		break;
	case DW_FORM_strp: fixed(c, off, DWARF_C_STRP, v); break;
	case DW_FORM_line_strp: fixed(c, off, DWARF_C_LINE_STRP, v); break;
	case DW_FORM_strp_sup:
	case DW_FORM_GNU_strp_alt: fixed(c, off, DWARF_C_ALT_STRP, v); break;
	case DW_FORM_strx:
	case DW_FORM_GNU_str_index: uleb(c, DWARF_C_STRX, v); break;
	case DW_FORM_strx1: fixed(c, 1, DWARF_C_STRX, v); break;
	case DW_FORM_strx2: fixed(c, 2, DWARF_C_STRX, v); break;
	case DW_FORM_strx3: fixed(c, 3, DWARF_C_STRX, v); break;
	case DW_FORM_strx4: fixed(c, 4, DWARF_C_STRX, v); break;
	case DW_FORM_addrx:
	case DW_FORM_GNU_addr_index: uleb(c, DWARF_C_ADDRX, v); break;
	case DW_FORM_addrx1: fixed(c, 1, DWARF_C_ADDRX, v); break;
	case DW_FORM_addrx2: fixed(c, 2, DWARF_C_ADDRX, v); break;
	case DW_FORM_addrx3: fixed(c, 3, DWARF_C_ADDRX, v); break;
	case DW_FORM_addrx4: fixed(c, 4, DWARF_C_ADDRX, v); break;
	case DW_FORM_ref1: fixed(c, 1, DWARF_C_REF, v); break;
	case DW_FORM_ref2: fixed(c, 2, DWARF_C_REF, v); break;
	case DW_FORM_ref4: fixed(c, 4, DWARF_C_REF, v); break;
	case DW_FORM_ref8: fixed(c, 8, DWARF_C_REF, v); break;
	case DW_FORM_ref_udata: uleb(c, DWARF_C_REF, v); break;
	case DW_FORM_ref_addr:
		fixed(c, u->version == 2 ? u->addr_size : off, DWARF_C_REF_ADDR, v);
		break;
	case DW_FORM_GNU_ref_alt: fixed(c, off, DWARF_C_REF_ALT, v); break;
	case DW_FORM_ref_sup4: fixed(c, 4, DWARF_C_REF_ALT, v); break;
	case DW_FORM_ref_sup8: fixed(c, 8, DWARF_C_REF_ALT, v); break;
	case DW_FORM_ref_sig8: fixed(c, 8, DWARF_C_REF_SIG, v); break;
	case DW_FORM_sec_offset: fixed(c, off, DWARF_C_SEC_OFFSET, v); break;
	case DW_FORM_loclistx:
	case DW_FORM_rnglistx: uleb(c, DWARF_C_OTHER, v); break;
	default: c->bad = true; break;
	}
}

/* ---- entries ---- */

static const struct dwarf_abbrev end_of_list = { .n = 0 };

const struct dwarf_abbrev *dwarf_die_head(struct dwarf_unit *u, const struct dwarf_abbrevs *t,
					  const uint8_t *at, const uint8_t **attrs)
{
	struct dwarf_cursor c = { at, u->end, false };
	uint64_t code = dwarf_uleb(&c);

	if (c.bad)
		return NULL;
	*attrs = c.p;
	return code ? dwarf_abbrev_find(t, code) : &end_of_list;
}

const uint8_t *dwarf_die_pass(struct dwarf_unit *u, const struct dwarf_abbrevs *t,
			      const struct dwarf_abbrev *a, const uint8_t *attrs)
{
	struct dwarf_cursor c = { attrs, u->end, false };
	struct dwarf_value v;
	uint32_t i;

	if (a->fixed != UINT32_MAX && u->addr_size == 8 && u->offset_size == 4 && u->version > 2) {
		dwarf_skip(&c, a->fixed);
		return c.bad ? NULL : c.p;
	}
	if (!spend(a->n))
		return NULL;
	for (i = 0; i < a->n; i++)
		read_value(u, t->specs[a->first + i].form, 0, &c, &v);
	return c.bad ? NULL : c.p;
}

bool dwarf_die_read(struct dwarf_unit *u, const uint8_t *at, struct dwarf_die *d)
{
	const struct dwarf_abbrevs *t = dwarf_unit_abbrevs(u);
	struct dwarf_cursor c;
	struct dwarf_value other;
	const uint8_t *attrs;
	uint32_t i;

	d->unit = u;
	d->at = at;
	d->have = 0;
	d->tag = 0;
	d->children = false;
	if (!t || at < u->die || at >= u->end)
		return false;
	d->ab = dwarf_die_head(u, t, at, &attrs);
	if (!d->ab)
		return false;
	d->next = attrs;
	if (d->ab == &end_of_list)
		return true;
	d->tag = d->ab->tag;
	d->children = d->ab->children;
	if (!spend((uint64_t)d->ab->n + 1))
		return false;
	c.p = attrs;
	c.end = u->end;
	c.bad = false;
	for (i = 0; i < d->ab->n; i++) {
		const struct dwarf_spec *s = &t->specs[d->ab->first + i];

		read_value(u, s->form, s->implicit, &c, s->slot ? &d->v[s->slot] : &other);
		if (s->slot)
			d->have |= (uint64_t)1 << s->slot;
	}
	d->next = c.p;
	return !c.bad;
}

const uint8_t *dwarf_die_after(const struct dwarf_die *d)
{
	struct dwarf_unit *u = d->unit;
	const struct dwarf_abbrevs *t = dwarf_unit_abbrevs(u);
	const uint8_t *at = d->next, *attrs;
	uint64_t depth = 1;

	if (!d->children)
		return at;
	if (dwarf_die_has(d, DWARF_A_SIBLING) && d->v[DWARF_A_SIBLING].cls == DWARF_C_REF &&
	    d->v[DWARF_A_SIBLING].u < (uint64_t)(u->end - u->start) &&
	    u->start + d->v[DWARF_A_SIBLING].u > d->at)
		return u->start + d->v[DWARF_A_SIBLING].u;
	while (depth && t) {
		const struct dwarf_abbrev *a = at < u->end ? dwarf_die_head(u, t, at, &attrs) : NULL;

		if (!a || !spend(1))
			return NULL;
		at = dwarf_die_pass(u, t, a, attrs);
		if (!at)
			return NULL;
		if (a == &end_of_list)
			depth--;
		else if (a->children)
			depth++;
	}
	return t ? at : NULL;
}

/* ---- values ---- */

static const char *string_at(const struct dwarf_bytes *b, uint64_t offset)
{
	/* a NUL follows the last byte of every section */
	return b->p && offset < b->n ? (const char *)b->p + offset : NULL;
}

static const char *indexed(const struct dwarf_unit *u, uint64_t index)
{
	const struct dwarf_bytes *b = &u->file->sec[DWARF_STR_OFFSETS];
	struct dwarf_cursor c;
	uint64_t offset;

	if (index > b->n || u->str_base > b->n)
		return NULL;
	c = dwarf_cursor_at(b, u->str_base + index * u->offset_size);
	offset = dwarf_fixed(&c, u->offset_size);
	return c.bad ? NULL : string_at(&u->file->sec[DWARF_STR], offset);
}

const char *dwarf_die_str(const struct dwarf_die *d, enum dwarf_slot s)
{
	const struct dwarf_file *f = d->unit->file;
	const struct dwarf_value *v = &d->v[s];

	if (!dwarf_die_has(d, s))
		return NULL;
	switch (v->cls) {
	case DWARF_C_STRING: return (const char *)v->p;
	case DWARF_C_STRP: return string_at(&f->sec[DWARF_STR], v->u);
	case DWARF_C_LINE_STRP: return string_at(&f->sec[DWARF_LINE_STR], v->u);
	case DWARF_C_ALT_STRP: return f->alt ? string_at(&f->alt->sec[DWARF_STR], v->u) : NULL;
	case DWARF_C_STRX: return indexed(d->unit, v->u);
	default: return NULL;
	}
}

bool dwarf_die_num(const struct dwarf_die *d, enum dwarf_slot s, uint64_t *out)
{
	if (!dwarf_die_has(d, s) || (d->v[s].cls != DWARF_C_UINT && d->v[s].cls != DWARF_C_SINT))
		return false;
	*out = d->v[s].u;
	return true;
}

bool dwarf_die_flag(const struct dwarf_die *d, enum dwarf_slot s)
{
	return dwarf_die_has(d, s) && d->v[s].cls == DWARF_C_FLAG && d->v[s].u;
}

/* The unit of @f whose bytes hold offset @u of its INFO, and the place. */
static bool place(const struct dwarf_file *f, uint64_t offset, struct dwarf_unit **u,
		  const uint8_t **at)
{
	const struct dwarf_bytes *b = f ? &f->sec[DWARF_INFO] : NULL;

	if (!b || offset >= b->n)
		return false;
	*at = b->p + offset;
	*u = dwarf_file_unit(f, *at);
	return *u;
}

bool dwarf_die_ref(const struct dwarf_die *d, enum dwarf_slot s, struct dwarf_unit **u,
		   const uint8_t **at)
{
	const struct dwarf_value *v = &d->v[s];
	struct dwarf_unit *own = d->unit;

	if (!dwarf_die_has(d, s))
		return false;
	switch (v->cls) {
	case DWARF_C_REF:
		if (v->u >= (uint64_t)(own->end - own->start))
			return false;
		*u = own;
		*at = own->start + v->u;
		return true;
	case DWARF_C_REF_ADDR:
		return place(own->file, v->u, u, at);
	case DWARF_C_REF_ALT:
		return place(own->file->alt, v->u, u, at);
	case DWARF_C_REF_SIG:
		*u = dwarf_file_by_id(own->file, v->u, false);
		if (!*u && own->skeleton)
			*u = dwarf_file_by_id(own->skeleton->file, v->u, false);
		if (!*u || (*u)->type_die >= (uint64_t)((*u)->end - (*u)->start))
			return false;
		*at = (*u)->start + (*u)->type_die;
		return true;
	default:
		return false;
	}
}

bool dwarf_die_class(const struct dwarf_die *d, struct dwarf_die *out)
{
	enum { STEPS_MAX = 32 };
	struct dwarf_unit *u = d->unit;
	const uint8_t *at;
	int i;

	if (!dwarf_die_ref(d, DWARF_A_TYPE, &u, &at))
		return false;
	for (i = 0; i < STEPS_MAX; i++) {
		if (!dwarf_unit_attrs(u) || !dwarf_die_read(u, at, out))
			return false;
		if (dwarf_die_ref(out, DWARF_A_SIGNATURE, &u, &at))
			continue;
		if (out->tag == DW_TAG_structure_type || out->tag == DW_TAG_class_type)
			return true;
		if (!dwarf_die_ref(out, DWARF_A_TYPE, &u, &at))
			return false;
	}
	return false;
}

bool dwarf_unit_addr(const struct dwarf_unit *u, uint64_t index, uint64_t *out)
{
	const struct dwarf_unit *own = u->skeleton ? u->skeleton : u;
	const struct dwarf_bytes *b = &own->file->sec[DWARF_ADDR];
	struct dwarf_cursor c;

	if (index > b->n || own->addr_base > b->n)
		return false;
	c = dwarf_cursor_at(b, own->addr_base + index * own->addr_size);
	*out = dwarf_fixed(&c, own->addr_size);
	return !c.bad;
}

/* ---- units ---- */

static uint64_t offset_of(const struct dwarf_die *d, enum dwarf_slot s)
{
	return d->v[s].cls == DWARF_C_SEC_OFFSET || d->v[s].cls == DWARF_C_UINT ? d->v[s].u : 0;
}

static bool unit_attrs(struct dwarf_unit *u)
{
	struct dwarf_die d;

	/* where nothing else is said, the table begins behind its header */
	u->addr_base = u->version >= 5 ? (u->offset_size == 8 ? 16 : 8) : 0;
	if (!u->split && u->version >= 5)
		u->str_base = u->offset_size == 8 ? 16 : 8;
	if (!dwarf_die_read(u, u->die, &d))
		return false;
	if (dwarf_die_has(&d, DWARF_A_STR_OFFSETS_BASE))
		u->str_base = offset_of(&d, DWARF_A_STR_OFFSETS_BASE);
	if (dwarf_die_has(&d, DWARF_A_ADDR_BASE))
		u->addr_base = offset_of(&d, DWARF_A_ADDR_BASE);
	if (dwarf_die_has(&d, DWARF_A_STMT_LIST)) {
		u->line += offset_of(&d, DWARF_A_STMT_LIST);
		u->has_line = true;
	}
	if (dwarf_die_has(&d, DWARF_A_DWO_ID) && !u->has_id) {
		u->id = d.v[DWARF_A_DWO_ID].u;
		u->has_id = true;
	}
	if (dwarf_die_has(&d, DWARF_A_LANGUAGE))
		u->language = (uint32_t)d.v[DWARF_A_LANGUAGE].u;
	u->name = dwarf_die_str(&d, DWARF_A_NAME);
	u->comp_dir = dwarf_die_str(&d, DWARF_A_COMP_DIR);
	u->dwo_name = dwarf_die_str(&d, DWARF_A_DWO_NAME);
	return true;
}

bool dwarf_unit_attrs(struct dwarf_unit *u)
{
	if (__atomic_load_n(&u->attrs_known, __ATOMIC_ACQUIRE))
		return !u->unreadable;
	dwarf_unit_abbrevs(u);
	pthread_mutex_lock(&u->file->lock);
	if (!u->attrs_known) {
		u->unreadable = !unit_attrs(u);
		__atomic_store_n(&u->attrs_known, true, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&u->file->lock);
	return !u->unreadable;
}

bool dwarf_language_is_c(const struct dwarf_unit *u)
{
	switch (u->language) {
	case DW_LANG_C:
	case DW_LANG_C89:
	case DW_LANG_C99:
	case DW_LANG_C11:
	case 0x2c: /* DW_LANG_C17 */
	case 0x3e: /* DW_LANG_C23 */
	case DW_LANG_ObjC:
	case DW_LANG_Mips_Assembler:
		return true;
	default:
		return false;
	}
}
