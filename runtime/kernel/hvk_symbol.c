// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * hvk_symbol.c - look-ups the other way: from a name to the address.
 *
 * Callable where those of hvk_addr.c are.  The list is asked anew for each area, so it is never held
 * for long; what changes meanwhile may be seen or not.
 */
#include "hvk_host.h"

#define HVK_MAX_SEARCHED 256 /* modules, for one name */

/* The size of the variable or function at @addr; 0 if it has none that is known. */
HVK_API u64 hvk_symsize(u64 addr)
{
	struct hvk_found f;

	return hvk_find(addr, &f) || !f.image || f.place.symbol == HVAR_IMAGE_NONE ? 0 :
	       f.place.size;
}

/* Is @name, of @len bytes before any @, that of @y, of the source file @file (or NULL: of any)? */
static bool hvk_is_named(const struct hvar_image *img, const struct hvar_image_sym *y,
			 const char *name, size_t len, const char *file)
{
	const char *is = hvar_image_str(img, y->name);

	return !strncmp(is, name, len) && !is[len] &&
	       (!file || !strcmp(hvk_base_name(hvar_image_str(img, y->file)), file));
}

/* The vaddr of the first symbol of that name in @img. */
static bool hvk_image_named(const struct hvar_image *img, const char *name, u64 *vaddr)
{
	const char *at = strchr(name, '@');
	size_t len = at ? (size_t)(at - name) : strlen(name);
	u32 i;

	for (i = 0; i < img->n_syms; i++) {
		if (hvk_is_named(img, &img->syms[i], name, len, at ? at + 1 : NULL)) {
			*vaddr = img->syms[i].vaddr;
			return true;
		}
	}
	return false;
}

/*
 * The address of @name in current, as hvk_symname() says it: counter, counter@parser.c; of several
 * modules the lowest in memory that has one.  0: no module with an image has.  Reads
 * every symbol until it is found.
 */
HVK_API u64 hvk_symaddr(const char *name)
{
	u32 modules = 0, seen = 0, areas = hvk_areas();
	const struct hvk_image *im;
	struct hvk_found f;
	u64 addr = 0, vaddr;

	while (areas-- && (addr = hvk_next(addr)) && modules < HVK_MAX_SEARCHED) {
		if (hvk_find(addr, &f) || !(f.place.flags & HVAR_PLACE_VADDR) ||
		    !f.module || f.module->id == seen)
			continue;
		im = smp_load_acquire(&f.module->image);
		if (!im)
			continue;
		seen = f.module->id;
		modules++;
		if (hvk_image_named(&im->img, name, &vaddr))
			return vaddr + f.place.bias;
	}
	return 0;
}
