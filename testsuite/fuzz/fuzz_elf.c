// SPDX-License-Identifier: GPL-2.0-or-later
/* fuzz_elf.c - any bytes as an ELF file: an error with a text, or an image that opens and answers. */
#include "config.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/core/hvar_image.h"
#include "translator-hooks/elf_content.h"
#include "translator-hooks/image_build.h"
#include "translator-hooks/image_name.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size ? size : 1); /* exactly as large as promised */
	struct err e = { 0, "" };
	struct hvar_image img;
	struct elf_file f;
	uint64_t hash;
	void *image;
	size_t n;

	memcpy(copy, data, size);
	if (image_build_mem(copy, size, "fuzz", &image, &n, &e)) {
		if (!*e.text)
			abort();
	} else {
		if (hvar_image_open(&img, image, n))
			abort();
		for (uint32_t i = 0; i < img.n_syms; i++) {
			const struct hvar_image_sym *y = &img.syms[i];
			uint32_t own = hvar_image_find(&img, y->vaddr);
			char *name;

			/* some symbol owns it: this one, an alias, or one that starts no earlier or is shorter */
			if (own == HVAR_IMAGE_NONE || !hvar_image_seg_at(&img, y->vaddr))
				abort();
			if (i < 64) {
				name = image_name(&img, own);
				if (!name)
					abort();
				free(name);
			}
		}
		free(image);
	}
	if (!elf_file_open(&f, -1, copy, size, "fuzz", true, NULL)) {
		elf_content_hash(&f, &hash, NULL);
		elf_file_close(&f);
	}
	free(copy);
	return 0;
}
