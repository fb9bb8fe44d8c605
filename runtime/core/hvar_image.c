// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * hvar_image.c - check a symbol image once, look names up in it ever after.
 *
 * The checks are loops without exits that gather all faults of a table into one
 * word: a good image, which is nearly every one, is read at the speed of memory.
 */
#include "hvar_image.h"
#include "hvar_image_format.h"
#include "hvar_type.h"

#define HVAR_IMAGE_K1 0x9fb21c651e98df25ULL
#define HVAR_IMAGE_K2 0xd6e8feb86659fd93ULL

static uint64_t hvar_image_word(const uint8_t *p)
{
	uint64_t w;

	memcpy(&w, p, sizeof(w));
	return w;
}

static uint64_t hvar_image_mix(uint64_t a, uint64_t w)
{
	a ^= w;
	a = (a << 29 | a >> 35) * HVAR_IMAGE_K1;
	return a;
}

/* Four lanes: a multiplication need not wait for the one before it. */
HVAR_API uint64_t hvar_image_hash(uint64_t seed, const void *data, uint64_t n)
{
	const uint8_t *p = data, *end = p + n;
	uint64_t a = seed ^ HVAR_IMAGE_K2, b = a + 1, c = a + 2, d = a + 3;
	uint8_t rest[8];

	for (; (uint64_t)(end - p) >= 32; p += 32) {
		a = hvar_image_mix(a, hvar_image_word(p));
		b = hvar_image_mix(b, hvar_image_word(p + 8));
		c = hvar_image_mix(c, hvar_image_word(p + 16));
		d = hvar_image_mix(d, hvar_image_word(p + 24));
	}
	for (; (uint64_t)(end - p) >= 8; p += 8)
		a = hvar_image_mix(a, hvar_image_word(p));
	if (p < end) {
		memset(rest, 0, sizeof(rest));
		memcpy(rest, p, (size_t)(end - p));
		b = hvar_image_mix(b, hvar_image_word(rest));
	}
	a = hvar_image_mix(a, b);
	a = hvar_image_mix(a, c);
	a = hvar_image_mix(a, d);
	a = hvar_image_mix(a, n);
	a ^= a >> 32;
	a *= HVAR_IMAGE_K2;
	return a ^ a >> 29;
}

HVAR_API uint64_t hvar_image_checksum(const void *data, uint64_t size)
{
	const struct hvar_image_header *h = data;

	return hvar_image_hash(hvar_image_hash(0, h, HVAR_IMAGE_SUMMED - sizeof(h->checksum) - sizeof(h->seal)),
			       (const uint8_t *)data + HVAR_IMAGE_SUMMED,
			       size - HVAR_IMAGE_SUMMED);
}

static const struct hvar_image_table *
hvar_image_directory(const struct hvar_image *img)
{
	return (const void *)(img->base + sizeof(struct hvar_image_header));
}

HVAR_API const void *hvar_image_table(const struct hvar_image *img, uint32_t id,
				      uint32_t entry, uint32_t *count)
{
	const struct hvar_image_table *t = hvar_image_directory(img);
	uint32_t i;

	for (i = 0; i < img->h->n_tables; i++) {
		if (t[i].id == id && t[i].entry == entry) {
			*count = (uint32_t)t[i].count;
			return img->base + t[i].offset;
		}
	}
	*count = 0;
	return NULL;
}

/* True if [@vaddr, @vaddr + @size) does not run over 2^64. */
static bool hvar_image_fits(uint64_t vaddr, uint64_t size)
{
	return !size || vaddr + (size - 1) >= vaddr;
}

static bool hvar_image_directory_ok(const struct hvar_image *img)
{
	const struct hvar_image_table *t = hvar_image_directory(img);
	uint64_t lo = sizeof(struct hvar_image_header) + img->h->n_tables * sizeof(*t);
	uint32_t i, j;

	for (i = 0; i < img->h->n_tables; i++) {
		/* both factors are small enough for the product */
		if (!t[i].id || !t[i].entry || t[i].entry > 4096 ||
		    t[i].count >= HVAR_IMAGE_NONE || t[i].offset % 8 ||
		    t[i].offset < lo || t[i].offset > img->size ||
		    t[i].count * t[i].entry > img->size - t[i].offset)
			return false;
		for (j = 0; j < i; j++)
			if (t[j].id == t[i].id)
				return false;
	}
	return true;
}

static bool hvar_image_seg_ok(const struct hvar_image_seg *s)
{
	return s->filesz <= s->memsz && hvar_image_fits(s->vaddr, s->memsz) &&
	       hvar_image_fits(s->offset, s->filesz) && !s->zero &&
	       !(s->prot & ~(uint32_t)7);
}

static bool hvar_image_segs_ok(const struct hvar_image *img)
{
	const struct hvar_image_seg *s = img->segs;
	uint32_t i;

	for (i = 0; i < img->n_segs; i++) {
		if (!s[i].memsz || !hvar_image_seg_ok(&s[i]))
			return false;
		if (i && s[i - 1].vaddr + (s[i - 1].memsz - 1) >= s[i].vaddr)
			return false;
	}
	return hvar_image_seg_ok(&img->tls) &&
	       hvar_image_fits(img->relro, img->relro_size);
}

static bool hvar_image_sections_ok(struct hvar_image *img, uint32_t n_strs)
{
	const struct hvar_image_section *s = img->sections;
	uint32_t i;

	for (i = 0; i < img->n_sections; i++) {
		if (s[i].name >= n_strs || !hvar_image_fits(s[i].vaddr, s[i].size))
			return false;
		if (s[i].kind == HVAR_KIND_TLS)
			continue;
		if (s[i].kind < HVAR_KIND_TEXT || s[i].kind > HVAR_KIND_BSS ||
		    img->n_mem_sections != i)
			return false;
		if (i && (s[i].vaddr < s[i - 1].vaddr ||
			  s[i].vaddr - s[i - 1].vaddr < s[i - 1].size))
			return false;
		img->n_mem_sections++;
	}
	return true;
}

static bool hvar_image_syms_ok(const struct hvar_image_sym *s, uint32_t n,
			       uint32_t n_sections, uint32_t n_strs)
{
	uint64_t vaddr = 0, size = 0;
	uint32_t i, bad = 0;

	for (i = 0; i < n; i++, s++) {
		/* (vaddr, size) ascend; section + 1 is 0 for none */
		bad |= s->vaddr < vaddr;
		bad |= (s->vaddr == vaddr) & (s->size < size);
		bad |= s->vaddr + (s->size - (s->size != 0)) < s->vaddr;
		bad |= s->name >= n_strs;
		bad |= s->file >= n_strs;
		bad |= s->section + 1 > n_sections;
		bad |= s->binding > HVAR_BIND_UNIQUE;
		bad |= s->type > HVAR_SYM_COMMON;
		bad |= (s->flags > 15) | (s->origin >= HVAR_ORIGINS);
		bad |= (s->flags & HVAR_SYM_LABEL) != (s->size == 0);
		vaddr = s->vaddr;
		size = s->size;
	}
	return !bad;
}

static bool hvar_image_extents_ok(const uint64_t *starts, const uint32_t *owners,
				  uint32_t n, const struct hvar_image_sym *syms,
				  uint32_t n_syms)
{
	const struct hvar_image_sym *s;
	uint32_t i, bad = 0;

	for (i = 0; i < n; i++) {
		bad |= i && starts[i] <= starts[i - 1];
		if (owners[i] < n_syms) {
			s = &syms[owners[i]];
			bad |= starts[i] - s->vaddr >= s->size + (s->size == 0);
		} else {
			bad |= owners[i] != HVAR_IMAGE_NONE;
		}
	}
	return !bad;
}

static bool hvar_image_pages_ok(const struct hvar_image *img)
{
	const uint32_t *p = img->pages;
	uint32_t k, n = img->n_extents, bad = 0;
	uint64_t at = img->first_page;

	if (!n)
		return !img->n_pages;
	if (img->page_shift < HVAR_IMAGE_PAGE_SHIFT || img->page_shift > 63 ||
	    img->starts[0] < at || !img->n_pages ||
	    (img->starts[n - 1] - at) >> img->page_shift != img->n_pages - 1 ||
	    p[0] || p[img->n_pages] != n)
		return false;
	for (k = 1; k < img->n_pages; k++) {
		at += (uint64_t)1 << img->page_shift;
		if (p[k] < p[k - 1] || p[k] >= n)
			return false;
		bad |= img->starts[p[k]] < at;
		bad |= p[k] && img->starts[p[k] - 1] >= at;
	}
	return !bad && p[img->n_pages - 1] < n;
}

static bool hvar_image_ranges_ok(const struct hvar_image *img)
{
	const struct hvar_image_range *r = img->ranges;
	const struct hvar_image_seg *s = img->segs;
	uint64_t upto = 0;
	uint32_t i, k = 0;

	for (i = 0; i < img->n_ranges; i++, r++) {
		if (r->start >= r->end || r->start < upto)
			return false;
		while (k < img->n_segs && s[k].vaddr + (s[k].memsz - 1) < r->start)
			k++;
		if (k == img->n_segs || r->start < s[k].vaddr ||
		    !(s[k].prot & HVAR_PROT_EXEC) || r->end - s[k].vaddr > s[k].memsz)
			return false;
		upto = r->end;
	}
	return true;
}

/* Where each table is; and what there is little of is checked.  *@n_strs: bytes of strings. */
static bool hvar_image_tables_set(struct hvar_image *img, uint32_t *n_strs)
{
	uint32_t n;

	img->segs = hvar_image_table(img, HVAR_IMAGE_SEGS, sizeof(*img->segs),
				     &img->n_segs);
	img->sections = hvar_image_table(img, HVAR_IMAGE_SECTIONS,
					 sizeof(*img->sections), &img->n_sections);
	img->syms = hvar_image_table(img, HVAR_IMAGE_SYMS, sizeof(*img->syms),
				     &img->n_syms);
	img->tls_syms = hvar_image_table(img, HVAR_IMAGE_TLS_SYMS,
					 sizeof(*img->tls_syms), &img->n_tls_syms);
	img->strs = hvar_image_table(img, HVAR_IMAGE_STRS, 1, n_strs);
	img->starts = hvar_image_table(img, HVAR_IMAGE_STARTS, 8, &img->n_extents);
	img->owners = hvar_image_table(img, HVAR_IMAGE_OWNERS, 4, &n);
	if (n != img->n_extents)
		return false;
	img->tls_starts = hvar_image_table(img, HVAR_IMAGE_TLS_STARTS, 8,
					   &img->n_tls_extents);
	img->tls_owners = hvar_image_table(img, HVAR_IMAGE_TLS_OWNERS, 4, &n);
	if (n != img->n_tls_extents)
		return false;
	img->pages = hvar_image_table(img, HVAR_IMAGE_PAGES, 4, &img->n_pages);
	if (img->n_pages)
		img->n_pages--;
	img->ranges = hvar_image_table(img, HVAR_IMAGE_RANGES, sizeof(*img->ranges),
				       &img->n_ranges);
	img->n_mem_sections = 0;
	hvar_types_set(img);
	return *n_strs && !img->strs[0] && !img->strs[*n_strs - 1] &&
	       hvar_image_segs_ok(img) && hvar_image_sections_ok(img, *n_strs);
}

/* Everything but strings' ends, which img->strs ending in NUL assures. */
static bool hvar_image_tables_ok(const struct hvar_image *img, uint32_t n_strs)
{
	return hvar_image_syms_ok(img->syms, img->n_syms, img->n_sections, n_strs) &&
	       hvar_image_syms_ok(img->tls_syms, img->n_tls_syms, img->n_sections,
				  n_strs) &&
	       hvar_image_extents_ok(img->starts, img->owners, img->n_extents,
				     img->syms, img->n_syms) &&
	       hvar_image_extents_ok(img->tls_starts, img->tls_owners,
				     img->n_tls_extents, img->tls_syms,
				     img->n_tls_syms) &&
	       hvar_image_pages_ok(img) && hvar_image_ranges_ok(img) &&
	       hvar_types_ok(img, n_strs);
}

static int hvar_image_begin(struct hvar_image *out, const void *data, uint64_t size, bool known)
{
	const struct hvar_image_header *h = data;
	struct hvar_image img;
	uint32_t n_strs;

	if (size < sizeof(*h))
		return size < sizeof(h->magic) ||
		       memcmp(data, HVAR_IMAGE_MAGIC, sizeof(h->magic)) ? -EINVAL : -ENODATA;
	if (memcmp(h->magic, HVAR_IMAGE_MAGIC, sizeof(h->magic)))
		return -EINVAL;
	if (h->version != HVAR_IMAGE_VERSION)
		return -EPROTONOSUPPORT;
	if (size < h->size)
		return -ENODATA;
	if (size > h->size || size % 8 || h->n_tables > HVAR_IMAGE_MAX_TABLES ||
	    h->n_tables * sizeof(struct hvar_image_table) > size - sizeof(*h) ||
	    h->build_id_len > HVAR_BUILD_ID_MAX ||
	    (!known && hvar_image_checksum(data, size) != h->checksum))
		return -EINVAL;
	memset(&img, 0, sizeof(img));
	img.base = data;
	img.size = size;
	img.h = h;
	img.tls = h->tls;
	img.relro = h->relro;
	img.relro_size = h->relro_size;
	img.page_shift = h->page_shift;
	img.first_page = h->first_page;
	img.flags = h->flags;
	img.build_id_len = (uint8_t)h->build_id_len;
	memcpy(img.build_id, h->build_id, sizeof(img.build_id));
	if (!hvar_image_directory_ok(&img) || !hvar_image_tables_set(&img, &n_strs) ||
	    (!known && !hvar_image_tables_ok(&img, n_strs)))
		return -EINVAL;
	*out = img;
	return 0;
}

HVAR_API int hvar_image_open(struct hvar_image *img, const void *data, uint64_t size)
{
	return hvar_image_begin(img, data, size, false);
}

HVAR_API int hvar_image_open_known(struct hvar_image *img, const void *data, uint64_t size)
{
	return hvar_image_begin(img, data, size, true);
}

/*
 * How many of the numbers @v[0], @v[@step], ... lie at or before @at: they ascend, those
 * below @lo do, and those from @hi on do not.
 */
static uint32_t hvar_image_upto(const uint64_t *v, uint32_t step, uint32_t lo,
				uint32_t hi, uint64_t at)
{
	uint32_t mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (v[(size_t)mid * step] <= at)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/*
 * The owner of @at by the last extent of [@lo, @hi) that starts at or before it;
 * those below @lo start before @at, those from @hi on after it.
 */
static uint32_t hvar_image_owner(const uint64_t *starts, const uint32_t *owners,
				 uint32_t lo, uint32_t hi, uint64_t at,
				 const struct hvar_image_sym *syms)
{
	const struct hvar_image_sym *s;
	uint32_t i;

	lo = hvar_image_upto(starts, 1, lo, hi, at);
	if (!lo)
		return HVAR_IMAGE_NONE;
	i = owners[lo - 1];
	if (i == HVAR_IMAGE_NONE)
		return i;
	s = &syms[i];
	return at - s->vaddr < s->size + (s->size == 0) ? i : HVAR_IMAGE_NONE;
}

HVAR_API uint32_t hvar_image_find(const struct hvar_image *img, uint64_t vaddr)
{
	uint32_t lo = img->n_extents, hi = lo;
	uint64_t page;

	if (!lo || vaddr < img->first_page)
		return HVAR_IMAGE_NONE;
	page = (vaddr - img->first_page) >> img->page_shift;
	if (page < img->n_pages) {
		lo = img->pages[page];
		hi = img->pages[page + 1];
	}
	return hvar_image_owner(img->starts, img->owners, lo, hi, vaddr, img->syms);
}

HVAR_API uint64_t hvar_image_same_until(const struct hvar_image *img, uint64_t vaddr)
{
	uint32_t i = hvar_image_find(img, vaddr), next;
	uint64_t end;

	if (i == HVAR_IMAGE_NONE || !img->syms[i].size)
		return vaddr + 1;
	end = img->syms[i].vaddr + img->syms[i].size;
	next = hvar_image_upto(img->starts, 1, 0, img->n_extents, vaddr);
	return next < img->n_extents && img->starts[next] < end ? img->starts[next] : end;
}

HVAR_API uint32_t hvar_image_find_tls(const struct hvar_image *img, uint64_t offset)
{
	return hvar_image_owner(img->tls_starts, img->tls_owners, 0,
				img->n_tls_extents, offset, img->tls_syms);
}

HVAR_API uint32_t hvar_image_section(const struct hvar_image *img, uint64_t vaddr)
{
	const struct hvar_image_section *s = img->sections;
	uint32_t n = img->n_mem_sections;

	if (n)
		n = hvar_image_upto(&s->vaddr, sizeof(*s) / sizeof(s->vaddr), 0, n, vaddr);
	return n && vaddr - s[n - 1].vaddr < s[n - 1].size ? n - 1 : HVAR_IMAGE_NONE;
}

HVAR_API const char *hvar_image_str(const struct hvar_image *img, uint32_t id)
{
	return img->strs + id;
}

HVAR_API uint32_t hvar_image_aliases(const struct hvar_image *img, uint32_t i)
{
	const struct hvar_image_sym *s = img->syms;
	uint32_t n = 1;

	while (i + n < img->n_syms && s[i + n].vaddr == s[i].vaddr &&
	       s[i + n].size == s[i].size)
		n++;
	return n;
}

HVAR_API const struct hvar_image_seg *hvar_image_seg_at(const struct hvar_image *img,
							uint64_t vaddr)
{
	const struct hvar_image_seg *s = img->segs;
	uint32_t n = img->n_segs;

	if (n)
		n = hvar_image_upto(&s->vaddr, sizeof(*s) / sizeof(s->vaddr), 0, n, vaddr);
	return n && vaddr - s[n - 1].vaddr < s[n - 1].memsz ? &s[n - 1] : NULL;
}

HVAR_API bool hvar_image_function(const struct hvar_image *img, uint64_t vaddr,
				  uint64_t *start, uint64_t *end)
{
	const struct hvar_image_range *r = img->ranges;
	uint32_t i = hvar_image_find(img, vaddr), n = img->n_ranges;
	const struct hvar_image_sym *y = i == HVAR_IMAGE_NONE ? NULL : &img->syms[i];

	if (y && y->size && (y->type == HVAR_SYM_FUNC || y->type == HVAR_SYM_IFUNC)) {
		*start = y->vaddr;
		*end = y->vaddr + y->size;
		return true;
	}
	if (n)
		n = hvar_image_upto(&r->start, sizeof(*r) / sizeof(r->start), 0, n, vaddr);
	if (!n || vaddr >= r[n - 1].end)
		return false;
	*start = r[n - 1].start;
	*end = r[n - 1].end;
	return true;
}

HVAR_API const char *hvar_origin_name(uint32_t origin)
{
	static const char *const names[HVAR_ORIGINS] = {
		NULL, "symtab", "dynsym", "build-id", "debuglink", "debuginfod",
		"debugdata", "dwarf", "dwz",
	};

	return origin < HVAR_ORIGINS ? names[origin] : NULL;
}

HVAR_API const char *hvar_kind_name(uint32_t kind)
{
	static const char *const names[HVAR_KINDS] = {
		"unmapped", "text", "data", "rodata", "relro", "bss",
		"tls", "heap", "stack", "anon", "shm", "vdso",
		"vvar", "vsyscall", "jit", "file",
	};

	return kind < HVAR_KINDS ? names[kind] : "";
}
