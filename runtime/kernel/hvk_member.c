// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * hvk_member.c - an address of current down to the member: table[3].st.misses.
 *
 * Callable where those of hvk_addr.c are.
 */
#include "hvk_host.h"

/* Byte @offset of symbol @symbol of @img: append its members to @out. */
static noinline void hvk_append_member(const struct hvar_image *img, u32 symbol, u64 offset,
				       char *out, size_t size)
{
	const struct hvar_image_var *var = hvar_type_var(img, symbol, false);
	struct hvar_type_walk w;
	size_t n = strlen(out);

	if (!var || n + 1 >= size)
		return;
	hvar_type_first(img, var->type, var->at + offset, &w);
	/* a member cut somewhere would be another's name */
	if (hvar_type_text(img, &w, out + n, size - n) >= size - n)
		out[n] = '\0';
	hvk_one_word(out + n);
}

/* As hvk_symname(), and behind it the members that @addr is in, where the image has them. */
HVK_API void hvk_member(u64 addr, char *out, size_t size)
{
	struct hvk_found f;
	int err = hvk_find(addr, &f);

	hvk_symname_of(&f, err, addr, out, size);
	if (!err && f.image && f.place.symbol != HVAR_IMAGE_NONE)
		hvk_append_member(f.image, f.place.symbol, f.place.offset, out, size);
}
