// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * hvar_resolve.c - address -> area -> file offset -> PT_LOAD -> vaddr -> symbol.
 *
 * A bias is modular: a file mapped below its link address has a "negative" one.
 */
#include "hvar_resolve.h"

/* How far to look around anonymous memory for the file it belongs to. */
#define HVAR_RESOLVE_STEPS 256
/* A file has a handful of PT_LOADs; a hostile one may not make look-ups slow. */
#define HVAR_RESOLVE_SEGS  64

static uint64_t hvar_resolve_offset(const struct hvar_vma *v, uint64_t addr)
{
	return v->pgoff + (addr - v->start);
}

/* Does @s's part of the file, in whole pages, hold the byte at @offset? */
static bool hvar_resolve_holds(const struct hvar_image_seg *s, uint64_t offset)
{
	return s->filesz && offset >= HVAR_PAGE_DOWN(s->offset) &&
	       offset <= ((s->offset + (s->filesz - 1)) | HVAR_PAGE_MASK);
}

/* The bias at which @s puts the byte at @offset of the file to @addr. */
static uint64_t hvar_resolve_bias(const struct hvar_image_seg *s, uint64_t offset,
				  uint64_t addr)
{
	return addr - offset + s->offset - s->vaddr;
}

static bool hvar_resolve_file(const struct hvar_vma *v)
{
	return v->region == HVAR_REGION_FILE || v->region == HVAR_REGION_VDSO;
}

/*
 * What the map says of a bias: PT_LOADs found where it puts them, found to be
 * something else, and found with a right that only a loaded file has.
 */
struct hvar_resolve_vote {
	uint64_t bias;
	uint32_t right, wrong, strong;
	bool fits; /* the area may be used just as the PT_LOAD asks */
};

/*
 * Let @s vote on @t->bias for @module.  A loaded file has all its PT_LOADs, so
 * nothing in the place of one speaks against it; other memory that stands in there
 * (huge pages for text) does not.
 */
static void hvar_resolve_ask(const struct hvar_vmas *m, uint32_t module,
			     const struct hvar_image_seg *s,
			     struct hvar_resolve_vote *t)
{
	uint64_t first = t->bias + s->vaddr, last = first + (s->filesz - 1);
	const struct hvar_vma *v = hvar_vmas_find(m, first);

	if (!v || !hvar_resolve_file(v)) {
		const struct hvar_vma *end = hvar_vmas_find(m, last);

		if (!end || !hvar_resolve_file(end)) {
			t->wrong += !v && !end;
			t->strong += v && (s->prot & v->prot & HVAR_PROT_EXEC);
			return;
		}
		v = end;
		first = last;
	}
	if (v->module != module ||
	    hvar_resolve_offset(v, first) != s->offset + (first - t->bias - s->vaddr)) {
		t->wrong++;
		return;
	}
	if (s->prot & HVAR_PROT_EXEC) {
		if (!(v->prot & HVAR_PROT_EXEC)) {
			t->wrong++;
			return;
		}
		t->strong++;
	} else if (s->prot & HVAR_PROT_WRITE) {
		/* RELRO may have taken the right to write from all but its end */
		if (first != last)
			v = hvar_vmas_find(m, last);
		if (v && (v->module == module || v->region == HVAR_REGION_ANON) &&
		    (v->prot & HVAR_PROT_WRITE) && !(v->prot & HVAR_PROT_SHARED))
			t->strong++;
	}
	t->right++;
}

/* Is the byte of @v at @addr in a PT_LOAD that @bias puts just there? */
static bool hvar_resolve_inside(const struct hvar_image *img,
				const struct hvar_vma *v, uint64_t addr,
				uint64_t bias)
{
	uint64_t offset = hvar_resolve_offset(v, addr);
	uint32_t i;

	for (i = 0; i < img->n_segs && i < HVAR_RESOLVE_SEGS; i++)
		if (hvar_resolve_holds(&img->segs[i], offset) &&
		    hvar_resolve_bias(&img->segs[i], offset, addr) == bias)
			return true;
	return false;
}

static bool hvar_resolve_better(const struct hvar_resolve_vote *a,
				const struct hvar_resolve_vote *b)
{
	uint32_t x = a->right + b->wrong, y = b->right + a->wrong;

	if (x != y)
		return x > y;
	if (a->strong != b->strong)
		return a->strong > b->strong;
	return a->fits && !b->fits;
}

/*
 * Where is @img loaded, if the byte of @v at @addr belongs to it?  False if @v
 * does not look like a part of a loaded file: it holds what no PT_LOAD covers, or
 * no PT_LOAD has its rights.
 */
static bool hvar_resolve_load(const struct hvar_vmas *m, const struct hvar_vma *v,
			      uint64_t addr, const struct hvar_image *img,
			      uint64_t *bias)
{
	struct hvar_resolve_vote best, t;
	uint64_t offset = hvar_resolve_offset(v, addr);
	uint32_t i, k, rights = 0;
	bool found = false;

	memset(&best, 0, sizeof(best));
	for (i = 0; i < img->n_segs && i < HVAR_RESOLVE_SEGS; i++) {
		const struct hvar_image_seg *s = &img->segs[i];

		rights |= s->prot & (HVAR_PROT_WRITE | HVAR_PROT_EXEC);
		if (!hvar_resolve_holds(s, offset))
			continue;
		memset(&t, 0, sizeof(t));
		t.bias = hvar_resolve_bias(s, offset, addr);
		t.fits = (v->prot & 7) == s->prot;
		if (found && t.bias == best.bias) {
			best.fits |= t.fits;
			continue;
		}
		/* [vdso] may end in pages that hold its section headers only */
		if (t.bias & HVAR_PAGE_MASK ||
		    (v->region != HVAR_REGION_VDSO &&
		     (!hvar_resolve_inside(img, v, v->start, t.bias) ||
		      !hvar_resolve_inside(img, v, v->end - 1, t.bias))))
			continue;
		for (k = 0; k < img->n_segs && k < HVAR_RESOLVE_SEGS; k++)
			if (img->segs[k].filesz)
				hvar_resolve_ask(m, v->module, &img->segs[k], &t);
		if (!found || hvar_resolve_better(&t, &best))
			best = t;
		found = true;
	}
	*bias = best.bias;
	return found && best.right > best.wrong && (best.strong || !rights);
}

/* Kind of the byte at @vaddr, inside @s. */
static uint32_t hvar_resolve_kind(const struct hvar_image *img,
				  const struct hvar_image_seg *s, uint64_t vaddr,
				  uint32_t section)
{
	if (section != HVAR_IMAGE_NONE)
		return img->sections[section].kind;
	if (s->prot & HVAR_PROT_EXEC)
		return HVAR_KIND_TEXT;
	if (!(s->prot & HVAR_PROT_WRITE))
		return HVAR_KIND_RODATA;
	if (vaddr - img->relro < img->relro_size)
		return HVAR_KIND_RELRO;
	return vaddr - s->vaddr < s->filesz ? HVAR_KIND_DATA : HVAR_KIND_BSS;
}

/* Is @vaddr between the first and the last page of @img? */
static bool hvar_resolve_spans(const struct hvar_image *img, uint64_t vaddr)
{
	const struct hvar_image_seg *s = img->segs, *last;

	if (!img->n_segs)
		return false;
	last = &s[img->n_segs - 1];
	return vaddr >= HVAR_PAGE_DOWN(s->vaddr) &&
	       vaddr <= ((last->vaddr + (last->memsz - 1)) | HVAR_PAGE_MASK);
}

HVAR_API void hvar_resolve_static(const struct hvar_image *img, uint64_t vaddr,
				  struct hvar_place *out)
{
	const struct hvar_image_seg *s = hvar_image_seg_at(img, vaddr);
	const struct hvar_image_sym *y;

	memset(out, 0, sizeof(*out));
	out->symbol = HVAR_IMAGE_NONE;
	out->section = HVAR_IMAGE_NONE;
	out->flags = HVAR_PLACE_VADDR;
	out->vaddr = vaddr;
	out->kind = s ? HVAR_KIND_FILE : HVAR_KIND_UNMAPPED;
	out->reason = hvar_resolve_spans(img, vaddr) ? HVAR_REASON_GAP :
						       HVAR_REASON_UNMAPPED;
	if (!s)
		return;
	if (vaddr - s->vaddr < s->filesz) {
		out->flags |= HVAR_PLACE_OFFSET;
		out->file_offset = s->offset + (vaddr - s->vaddr);
	}
	out->section = hvar_image_section(img, vaddr);
	out->kind = hvar_resolve_kind(img, s, vaddr, out->section);
	out->symbol = hvar_image_find(img, vaddr);
	if (out->symbol == HVAR_IMAGE_NONE) {
		out->reason = img->flags & HVAR_IMAGE_STRIPPED ?
				      HVAR_REASON_STRIPPED : HVAR_REASON_NO_SYMBOL;
		return;
	}
	y = &img->syms[out->symbol];
	out->offset = vaddr - y->vaddr;
	out->size = y->size;
	out->reason = HVAR_REASON_NONE;
}

/* Kind of memory that no section or PT_LOAD tells more of. */
static uint32_t hvar_resolve_region(uint32_t region)
{
	switch (region) {
	case HVAR_REGION_FILE:
		return HVAR_KIND_FILE;
	case HVAR_REGION_HEAP:
		return HVAR_KIND_HEAP;
	case HVAR_REGION_STACK:
		return HVAR_KIND_STACK;
	case HVAR_REGION_SHM:
		return HVAR_KIND_SHM;
	case HVAR_REGION_VDSO:
		return HVAR_KIND_VDSO;
	case HVAR_REGION_VVAR:
		return HVAR_KIND_VVAR;
	case HVAR_REGION_VSYSCALL:
		return HVAR_KIND_VSYSCALL;
	case HVAR_REGION_JIT:
		return HVAR_KIND_JIT;
	default:
		return HVAR_KIND_ANON;
	}
}

/* @addr, in area @v, is vaddr @addr - @bias of @img, which is @module. */
static void hvar_resolve_loaded(const struct hvar_image *img,
				const struct hvar_vma *v, uint32_t module,
				uint64_t addr, uint64_t bias,
				struct hvar_place *out)
{
	hvar_resolve_static(img, addr - bias, out);
	out->vma = *v;
	out->module = module;
	out->bias = bias;
	if (out->kind == HVAR_KIND_UNMAPPED)
		out->kind = hvar_resolve_region(v->region); /* slack of a page */
	else if (v->region == HVAR_REGION_VDSO)
		out->kind = HVAR_KIND_VDSO;
}

/* Pages of @s in memory: do they hold @vaddr?  *@in_file: in a page of the file. */
static bool hvar_resolve_pages(const struct hvar_image_seg *s, uint64_t vaddr,
			       bool *in_file)
{
	uint64_t page = HVAR_PAGE_DOWN(vaddr), first = HVAR_PAGE_DOWN(s->vaddr);

	*in_file = s->filesz && page >= first &&
		   page <= HVAR_PAGE_DOWN(s->vaddr + (s->filesz - 1));
	return page >= first && page <= HVAR_PAGE_DOWN(s->vaddr + (s->memsz - 1));
}

/*
 * Does anonymous @addr belong to the file that the area @f, near it, maps: as
 * its .bss, or in place of its own pages?
 */
static bool hvar_resolve_near(const struct hvar_vmas *m, const struct hvar_vma *f,
			      const struct hvar_vma *v, uint64_t addr,
			      hvar_image_of_fn image_of, void *ctx,
			      struct hvar_place *out)
{
	const struct hvar_image *img;
	bool found = false, in_file = false;
	uint64_t bias;
	uint32_t i, why;

	if (!f->module)
		return false;
	img = image_of(ctx, f->module, &why);
	if (!img || !hvar_resolve_load(m, f, f->start, img, &bias))
		return false;
	/* two PT_LOADs may share a page */
	for (i = 0; i < img->n_segs && i < HVAR_RESOLVE_SEGS; i++) {
		bool part;

		if (hvar_resolve_pages(&img->segs[i], addr - bias, &part)) {
			found = true;
			in_file |= part;
		}
	}
	if (!found)
		return false;
	hvar_resolve_loaded(img, v, f->module, addr, bias, out);
	if (in_file)
		out->flags |= HVAR_PLACE_REMAPPED;
	out->flags &= ~(uint32_t)HVAR_PLACE_OFFSET; /* the byte is not the file's now */
	out->file_offset = 0;
	return true;
}

/* A file's area that says whose the memory near it is; a loader leaves the holes between PT_LOADs mapped, without any right. */
static bool hvar_resolve_tells(const struct hvar_vma *f)
{
	return f->region == HVAR_REGION_FILE && f->prot & 7;
}

/* Look for the file that anonymous @addr belongs to: below it, then above. */
static bool hvar_resolve_around(const struct hvar_vmas *m, const struct hvar_vma *v,
				uint64_t addr, hvar_image_of_fn image_of, void *ctx,
				struct hvar_place *out)
{
	const struct hvar_vma *f = v;
	uint32_t n;

	for (n = 0; n < HVAR_RESOLVE_STEPS && f; n++) {
		if (hvar_resolve_tells(f)) {
			if (hvar_resolve_near(m, f, v, addr, image_of, ctx, out))
				return true;
			break;
		}
		f = hvar_vmas_prev(m, f->start);
	}
	if (v->region == HVAR_REGION_HEAP)
		return false; /* the break is above its program */
	f = v;
	for (n = 0; n < HVAR_RESOLVE_STEPS && f; n++) {
		if (hvar_resolve_tells(f))
			return hvar_resolve_near(m, f, v, addr, image_of, ctx, out);
		f = hvar_vmas_next(m, f->end);
	}
	return false;
}

HVAR_API void hvar_resolve(const struct hvar_vmas *m, uint64_t addr,
			   hvar_image_of_fn image_of, void *ctx,
			   struct hvar_place *out)
{
	const struct hvar_vma *v = hvar_vmas_find(m, addr);
	const struct hvar_image *img = NULL;
	uint32_t why = HVAR_REASON_NO_FILE;
	uint64_t bias;

	if (v && (v->region == HVAR_REGION_ANON || v->region == HVAR_REGION_HEAP ||
		  v->region == HVAR_REGION_JIT) &&
	    hvar_resolve_around(m, v, addr, image_of, ctx, out))
		return;
	if (v && hvar_resolve_file(v)) {
		why = HVAR_REASON_NO_ACCESS;
		if (v->module)
			img = image_of(ctx, v->module, &why);
		if (img && hvar_resolve_load(m, v, addr, img, &bias)) {
			hvar_resolve_loaded(img, v, v->module, addr, bias, out);
			return;
		}
		if (img)
			why = v->region == HVAR_REGION_FILE && v->prot & 7 ?
				      HVAR_REASON_NOT_LOADED : HVAR_REASON_GAP;
	}
	memset(out, 0, sizeof(*out));
	out->symbol = HVAR_IMAGE_NONE;
	out->section = HVAR_IMAGE_NONE;
	out->kind = HVAR_KIND_UNMAPPED;
	out->reason = HVAR_REASON_UNMAPPED;
	if (!v)
		return;
	out->vma = *v;
	out->module = v->module;
	out->kind = hvar_resolve_region(v->region);
	out->reason = why;
	if (v->region == HVAR_REGION_FILE ||
	    (v->region == HVAR_REGION_SHM && v->module)) {
		out->flags = HVAR_PLACE_OFFSET;
		out->file_offset = hvar_resolve_offset(v, addr);
	}
}

HVAR_API const char *hvar_reason_name(uint32_t reason)
{
	static const char *const names[HVAR_REASONS] = {
		"", "unmapped", "no-symbol", "stripped", "gap", "stale-file",
		"no-access", "no-elf", "no-file", "bad-elf", "not-loaded",
	};

	return reason < HVAR_REASONS ? names[reason] : "";
}
