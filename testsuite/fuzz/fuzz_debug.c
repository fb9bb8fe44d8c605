// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fuzz_debug.c - any bytes where the names of a stripped program are looked for: an image, without a wrong name in it.
 *
 * The first byte says what the others are:
 *
 *	0	.gnu_debuglink of the program
 *	1	.gnu_debugdata as it is packed
 *	2	what .gnu_debugdata unpacks to: packed here, since nobody hits a CRC by chance
 *	3	the debug file that .gnu_debuglink names: its CRC is made right here
 *	4	dwz's common file: its build-id is taken from it
 *	5	.gnu_debugaltlink of the program
 *	6	a file with an ELF file in it, from its second page on
 *
 * The program has memory from 0x1000 to 1 MiB, that is all of data and code, and 4 KiB of thread-local memory.
 */
#include "config.h"

#include <elf.h>
#include <fcntl.h>
#include <lzma.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#include "runtime/core/hvar_image_format.h"
#include "translator-hooks/debug_file.h"
#include "translator-hooks/image_build.h"
#include "translator-hooks/image_inside.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LINK, PACKED, UNPACKED, FILE_OF_LINK, COMMON, ALTLINK, INSIDE, MODES, LIMIT = 1 << 20, MOST = 1 << 20 };

static char dir[] = "/tmp/hotvar-fuzz.XXXXXX";
static const char *const files[] = { "program", "d", "common" };

struct bytes {
	uint8_t *p;
	size_t n;
};

static void clean(void)
{
	char path[128];

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, files[i]);
		unlink(path);
	}
	rmdir(dir);
}

static void prepare(void)
{
	if (!mkdtemp(dir))
		abort();
	atexit(clean);
	setenv("HOTVAR_DEBUGDIR", dir, 1);
	setenv("DEBUGINFOD_CACHE_PATH", dir, 1);
	image_build_debug(LIMIT);
}

static void put(const char *name, const void *p, size_t n)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	if (fd < 0 || write(fd, p, n) != (ssize_t)n)
		abort();
	close(fd);
}

/* A program whose sections are a .bss, some debug information, and @name. */
static struct bytes program(const char *name, const void *sec, size_t n)
{
	/* one unit of DWARF 4 without anything, for the common file to be asked for; its abbreviation */
	static const uint8_t info[] = { 8, 0, 0, 0, 4, 0, 0, 0, 0, 0, 8, 1 }, abbrev[] = { 1, 0x11, 0, 0, 0, 0 };
	static const char strs[] = "\0.shstrtab\0.debug_info\0.debug_abbrev";
	struct bytes f = { calloc(1, n + 8192), sizeof(Elf64_Ehdr) + 2 * sizeof(Elf64_Phdr) };
	Elf64_Shdr sh[6] = { 0 };
	Elf64_Ehdr *h = (void *)f.p;
	Elf64_Phdr *ph = (void *)(h + 1);

	memcpy(h->e_ident, ELFMAG "\2\1\1", 7);
	*h = (Elf64_Ehdr){ .e_type = ET_DYN, .e_machine = EM_X86_64, .e_version = EV_CURRENT, .e_ehsize = sizeof(*h),
			   .e_phoff = sizeof(*h), .e_phentsize = sizeof(*ph), .e_phnum = 2, .e_shentsize = sizeof(*sh),
			   .e_shnum = 6, .e_shstrndx = 5 };
	memcpy(h->e_ident, ELFMAG "\2\1\1", 7);
	ph[0] = (Elf64_Phdr){ .p_type = PT_LOAD, .p_flags = PF_R | PF_W | PF_X, .p_vaddr = 0x1000, .p_memsz = 0xff000, .p_align = 4096 };
	ph[1] = (Elf64_Phdr){ .p_type = PT_TLS, .p_flags = PF_R, .p_memsz = 0x1000, .p_align = 8 };
	sh[1] = (Elf64_Shdr){ .sh_type = SHT_NOBITS, .sh_flags = SHF_ALLOC | SHF_WRITE, .sh_addr = 0x1000, .sh_size = 0xff000 };
	sh[2] = (Elf64_Shdr){ .sh_type = SHT_PROGBITS, .sh_name = 11, .sh_offset = f.n, .sh_size = sizeof(info) };
	memcpy(f.p + f.n, info, sizeof(info));
	f.n += sizeof(info);
	sh[3] = (Elf64_Shdr){ .sh_type = SHT_PROGBITS, .sh_name = 23, .sh_offset = f.n, .sh_size = sizeof(abbrev) };
	memcpy(f.p + f.n, abbrev, sizeof(abbrev));
	f.n += sizeof(abbrev);
	sh[4] = (Elf64_Shdr){ .sh_type = SHT_PROGBITS, .sh_name = sizeof(strs), .sh_offset = f.n, .sh_size = n };
	memcpy(f.p + f.n, sec, n);
	f.n += n;
	sh[5] = (Elf64_Shdr){ .sh_type = SHT_STRTAB, .sh_name = 1, .sh_offset = f.n, .sh_size = sizeof(strs) + strlen(name) + 1 };
	memcpy(f.p + f.n, strs, sizeof(strs));
	strcpy((char *)f.p + f.n + sizeof(strs), name);
	f.n += sizeof(strs) + strlen(name) + 1;
	h->e_shoff = (f.n + 7) & ~(size_t)7;
	f.n = h->e_shoff + sizeof(sh);
	memcpy(f.p + h->e_shoff, sh, sizeof(sh));
	return f;
}

static void check(const void *image, size_t n)
{
	struct hvar_image img;
	uint32_t i;

	if (hvar_image_open(&img, image, n))
		abort();
	for (i = 0; i < img.n_syms; i++)
		if (!hvar_image_seg_at(&img, img.syms[i].vaddr) || img.syms[i].origin == HVAR_ORIGIN_NONE ||
		    hvar_image_find(&img, img.syms[i].vaddr) == HVAR_IMAGE_NONE)
			abort();
	for (i = 0; i < img.n_tls_syms; i++)
		if (img.tls_syms[i].vaddr >= img.tls.memsz)
			abort();
}

/* The image of the file "program". */
static void build(void)
{
	struct err e = { 0, "" };
	char path[128];
	void *image;
	size_t n;
	int fd;

	snprintf(path, sizeof(path), "%s/program", dir);
	fd = open(path, O_RDONLY);
	/* the program itself is sound: whatever lies around it, there is an image */
	if (fd < 0 || image_build_fd(fd, path, &image, &n, &e))
		abort();
	close(fd);
	check(image, n);
	free(image);
}

static void build_with(const char *section, const void *p, size_t n)
{
	struct bytes f = program(section, p, n);

	put("program", f.p, f.n);
	free(f.p);
	build();
}

static void with_link(const uint8_t *data, size_t size)
{
	struct { char name[4]; uint32_t crc; } link = { "d", 0 };

	link.crc = (uint32_t)crc32(crc32(0, NULL, 0), data, (uInt)size);
	put("d", data, size);
	build_with(".gnu_debuglink", &link, sizeof(link));
}

static void with_common(const uint8_t *data, size_t size)
{
	uint8_t link[8 + 64] = "common";
	struct elf_file f;
	int n = 0;

	if (!elf_file_open(&f, -1, data, size, "common", true, NULL)) {
		n = elf_file_build_id(&f, link + 7, 64);
		elf_file_close(&f);
	}
	put("common", data, size);
	build_with(".gnu_debugaltlink", link, 7 + (size_t)n);
}

static void packed(const uint8_t *data, size_t size)
{
	size_t n = 0, room = lzma_stream_buffer_bound(size);
	uint8_t *p = malloc(room);

	if (!p || lzma_easy_buffer_encode(0, LZMA_CHECK_CRC32, NULL, data, size, p, &n, room) != LZMA_OK)
		abort();
	build_with(".gnu_debugdata", p, n);
	free(p);
}

static void inside(const uint8_t *data, size_t size)
{
	uint8_t id[HVAR_BUILD_ID_MAX];
	struct err e = { 0, "" };
	struct image_file *f;
	uint64_t n;
	int fd = memfd_create("fuzz", MFD_CLOEXEC), r, len;

	if (fd < 0 || pwrite(fd, data, size, 4096) != (ssize_t)size)
		abort();
	len = image_inside_look(fd, 4096, &n, id, sizeof(id));
	if (len >= 0 && (n > size || len > HVAR_BUILD_ID_MAX))
		abort();
	r = image_inside_get(fd, "fuzz", 4096, &f, &e);
	if (r ? !*e.text : len < 0)
		abort();
	for (uint32_t i = 0; !r && i < f->img.n_segs; i++)
		if (f->img.segs[i].filesz && f->img.segs[i].offset < 4096)
			abort();
	if (!r)
		image_file_free(f);
	close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static bool ready;
	uint8_t *copy;

	if (!ready)
		prepare();
	ready = true;
	if (size < 2 || size > MOST)
		return 0;
	copy = malloc(size - 1); /* exactly as large as promised */
	memcpy(copy, data + 1, size - 1);
	switch (data[0] % MODES) {
	case LINK:
		build_with(".gnu_debuglink", copy, size - 1);
		break;
	case PACKED:
		build_with(".gnu_debugdata", copy, size - 1);
		break;
	case UNPACKED:
		packed(copy, size - 1);
		break;
	case FILE_OF_LINK:
		with_link(copy, size - 1);
		break;
	case COMMON:
		with_common(copy, size - 1);
		break;
	case ALTLINK:
		build_with(".gnu_debugaltlink", copy, size - 1);
		break;
	default:
		inside(copy, size - 1);
	}
	free(copy);
	return 0;
}
