// SPDX-License-Identifier: GPL-2.0-or-later
/* fuzz_elf.c - any bytes as an ELF file: an error with a text, or an image that opens and answers. */
#include "config.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runtime/core/hvar_image.h"
#include "translator-hooks/elf_content.h"
#include "translator-hooks/image_build.h"
#include "translator-hooks/image_name.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A file is read by other ways than memory, also within libelf; the answer is the same. */
static void check_fd(const uint8_t *data, size_t size, int want, const void *image, size_t n)
{
	static int fd = -1;
	struct err e = { 0, "" };
	uint8_t id[64];
	void *other;
	size_t m;
	int r;

	if (fd < 0)
		fd = memfd_create("fuzz", MFD_CLOEXEC);
	if (fd < 0 || ftruncate(fd, 0) || pwrite(fd, data, size, 0) != (ssize_t)size)
		return;
	r = image_build_fd(fd, "fuzz", &other, &m, &e);
	if (r != want || (r ? !*e.text : m != n || memcmp(image, other, n)))
		abort();
	if (!r)
		free(other);
	image_build_id(fd, id, sizeof(id));
	if (lseek(fd, 0, SEEK_CUR))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size ? size : 1); /* exactly as large as promised */
	struct err e = { 0, "" };
	struct hvar_image img;
	struct elf_file f;
	uint64_t hash;
	void *image = NULL;
	size_t n = 0;
	int r;

	memcpy(copy, data, size);
	r = image_build_mem(copy, size, "fuzz", &image, &n, &e);
	check_fd(copy, size, r, image, n);
	if (r) {
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
		for (uint32_t i = 0; i < img.n_ranges; i++) {
			const struct hvar_image_range *g = &img.ranges[i];
			uint64_t start, end;

			/* no symbol covers either end of it */
			if (!hvar_image_function(&img, g->start, &start, &end) || start != g->start ||
			    end != g->end || !hvar_image_function(&img, g->end - 1, &start, &end) ||
			    start != g->start)
				abort();
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
