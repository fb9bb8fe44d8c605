// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "locals_file.h"

#include <libelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "debug_file.h"
#include "locals_frames.h"
#include "locals_member.h"
#include "locals_place.h"
#include "locals_scope.h"

struct locals_file {
	Elf *elf;
	int fd, debug_fd; /* our own; -1: none */
	Elf *debug_elf;
	Dwarf *dw;
	Dwarf_CFI *cfi, *debug_cfi; /* of .eh_frame, which is the ELF's; of .debug_frame, which is @dw's */
	struct locals_scopes *scopes;
};

/* ---- opening ---- */

/* The debug information that stands in another file. */
static void open_debug(struct locals_file *f, int fd, const char *path)
{
	struct elf_file own;
	struct debug_file d;
	struct err e = { 0, "" };

	if (elf_file_open(&own, fd, NULL, 0, path, true, &e))
		return;
	if (!debug_file_open(&own, &d, &e)) {
		f->debug_fd = dup(d.fd);
		debug_file_close(&d);
	}
	elf_file_close(&own);
	if (f->debug_fd < 0)
		return;
	f->debug_elf = elf_begin(f->debug_fd, ELF_C_READ, NULL);
	if (f->debug_elf)
		f->dw = dwarf_begin_elf(f->debug_elf, DWARF_C_READ, NULL);
}

struct locals_file *locals_file_open(int fd, const char *path)
{
	struct locals_file *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->debug_fd = -1;
	f->fd = dup(fd);
	elf_version(EV_CURRENT);
	f->elf = f->fd < 0 ? NULL : elf_begin(f->fd, ELF_C_READ, NULL);
	if (!f->elf || elf_kind(f->elf) != ELF_K_ELF) {
		locals_file_close(f);
		return NULL;
	}
	if (locals_frames_fit(f->elf))
		f->cfi = dwarf_getcfi_elf(f->elf);
	f->dw = dwarf_begin_elf(f->elf, DWARF_C_READ, NULL);
	if (!f->dw)
		open_debug(f, fd, path);
	if (f->dw) {
		if (locals_frames_debug_fit(dwarf_getelf(f->dw)))
			f->debug_cfi = dwarf_getcfi(f->dw);
		f->scopes = locals_scopes_new(f->dw);
	}
	return f;
}

void locals_file_close(struct locals_file *f)
{
	if (!f)
		return;
	locals_scopes_free(f->scopes);
	if (f->cfi)
		dwarf_cfi_end(f->cfi);
	if (f->dw)
		dwarf_end(f->dw);
	if (f->debug_elf)
		elf_end(f->debug_elf);
	if (f->elf)
		elf_end(f->elf);
	if (f->debug_fd >= 0)
		close(f->debug_fd);
	if (f->fd >= 0)
		close(f->fd);
	free(f);
}

/* ---- variables ---- */

/* Which byte of the variable it is; false: it is in none of its parts. */
static bool byte_in(const struct locals_part *p, unsigned n, uint64_t size, enum locals_base base, int64_t offset, uint64_t *out)
{
	unsigned i;

	for (i = 0; i < n; i++) {
		uint64_t bytes = p[i].size ? p[i].size : size > p[i].at ? size - p[i].at : 0;

		if (p[i].base != base || offset < p[i].offset || (uint64_t)(offset - p[i].offset) >= bytes)
			continue;
		*out = p[i].at + (uint64_t)(offset - p[i].offset);
		return true;
	}
	return false;
}

static void found(struct locals_found *out, const struct locals_var *v, const Dwarf_Die *type, uint64_t size, uint64_t byte)
{
	out->kind = LOCALS_VARIABLE;
	if (v->function)
		out->function = v->function;
	snprintf(out->name, sizeof(out->name), "%s", v->name);
	out->size = size;
	out->parameter = v->parameter;
	locals_member_path(type, byte, out->member, sizeof(out->member), out->type, sizeof(out->type));
}

/* The variable at @at, where @cfa is the CFA's place: of several the innermost. */
static bool find_at(struct locals_function *fn, const struct locals_at *at, const struct locals_cfa *cfa, struct locals_found *out)
{
	struct locals_part parts[LOCALS_PARTS_MAX];
	const struct locals_var *best = NULL;
	uint64_t size, byte, best_size = 0, best_byte = 0;
	Dwarf_Die type, best_type;
	unsigned n, k;
	size_t i;

	for (i = 0; i < fn->n; i++) {
		struct locals_var *v = &fn->v[i];

		if (!v->name || (best && v->depth < best->depth) || !locals_scopes_valid(fn, v, at->vaddr))
			continue;
		n = locals_place_parts(fn, v, at->vaddr, parts);
		size = n ? locals_member_type(&v->die, &type) : 0;
		for (k = 0; k < n; k++) {
			int64_t offset;

			/* both as distances from one thing */
			if (parts[k].base == at->base)
				continue;
			if (locals_place_from_cfa(cfa, parts[k].base, parts[k].offset, &offset)) {
				parts[k].base = LOCALS_CFA;
				parts[k].offset = offset;
			}
		}
		if (!size)
			continue;
		if (!byte_in(parts, n, size, at->base, at->offset, &byte)) {
			int64_t offset;

			if (!locals_place_from_cfa(cfa, at->base, at->offset, &offset) ||
			    !byte_in(parts, n, size, LOCALS_CFA, offset, &byte))
				continue;
		}
		best = v;
		best_type = type;
		best_size = size;
		best_byte = byte;
	}
	if (best)
		found(out, best, &best_type, best_size, best_byte);
	return best;
}

static bool has_name(const char *list, const char *name)
{
	size_t n = strlen(name);

	for (;;) {
		if (!strncmp(list, name, n) && (!list[n] || list[n] == '|'))
			return true;
		list = strchr(list, '|');
		if (!list)
			return false;
		list++;
	}
}

/* All variables that may be at @offset from the CFA, wherever in the function. */
static bool find_owned(struct locals_function *fn, int64_t offset, Dwarf_CFI *cfi, const struct locals_cfa *cfa,
		       struct locals_found *out)
{
	struct locals_part parts[LOCALS_PARTS_MAX];
	uint64_t size, byte;
	Dwarf_Die type;
	unsigned n;
	size_t i, len;

	for (i = 0; i < fn->n; i++) {
		struct locals_var *v = &fn->v[i];

		if (!v->name || !(n = locals_place_all_parts(fn, v, cfi, cfa, parts)))
			continue;
		size = locals_member_type(&v->die, &type);
		if (!size || !byte_in(parts, n, size, LOCALS_CFA, offset, &byte))
			continue;
		if (out->kind != LOCALS_VARIABLE) {
			found(out, v, &type, size, byte);
			continue;
		}
		if (has_name(out->name, v->name))
			continue;
		len = strlen(out->name);
		snprintf(out->name + len, sizeof(out->name) - len, "|%s", v->name);
		out->member[0] = out->type[0] = '\0';
		out->size = 0;
		/* not of one function any more */
		out->function = fn->name;
	}
	return out->kind == LOCALS_VARIABLE;
}

/* ---- all ---- */

static Dwarf_CFI *cfi_of(const struct locals_file *f, uint64_t vaddr, struct locals_cfa *cfa)
{
	*cfa = locals_place_cfa(f->cfi, vaddr);
	if (cfa->known || !f->debug_cfi)
		return f->cfi;
	*cfa = locals_place_cfa(f->debug_cfi, vaddr);
	return cfa->known ? f->debug_cfi : f->cfi;
}

void locals_file_find(struct locals_file *f, const struct locals_at *at, struct locals_found *out)
{
	struct locals_function *fn = f->scopes ? locals_scopes_find(f->scopes, at->vaddr) : NULL;
	struct locals_cfa cfa;
	Dwarf_CFI *cfi = cfi_of(f, at->vaddr, &cfa);
	int64_t offset;
	bool owned = at->base == LOCALS_CFA && !at->len;
	bool placed = locals_place_from_cfa(&cfa, at->base, at->offset, &offset);

	memset(out, 0, sizeof(*out));
	out->kind = LOCALS_STACK;
	out->function = fn ? fn->name : NULL;
	if (at->is_return || (placed && offset >= -8 && offset < 0)) {
		out->kind = LOCALS_RETURN;
		return;
	}
	if (fn && (owned ? find_owned(fn, offset, cfi, &cfa, out) : find_at(fn, at, &cfa, out)))
		return;
	if (!placed) {
		/* what is pushed is in the frame, wherever that begins */
		if (at->base == LOCALS_SP && at->offset < 0)
			out->kind = LOCALS_FRAME;
		return;
	}
	if (offset >= 0)
		out->kind = LOCALS_ARGUMENT;
	else if (!owned && (locals_place_saved(cfi, at->vaddr, offset) ||
					    (at->len && locals_place_saved(cfi, at->vaddr + at->len, offset))))
		out->kind = LOCALS_SAVED;
	else if (owned)
		out->kind = LOCALS_TEMPORARY;
	else
		out->kind = fn ? LOCALS_SPILL : LOCALS_FRAME;
}
