// SPDX-License-Identifier: GPL-2.0-or-later
/* test_key.c - what memory an address is: shared mappings, copies on write, forks. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/core/hvar_key.h"

enum { R = HVAR_PROT_READ, W = HVAR_PROT_WRITE, S = HVAR_PROT_SHARED };

static const struct hvar_module lib = { .dev_major = 8, .dev_minor = 1, .ino = 77 };
static const struct hvar_module lib_again = { .dev_major = 8, .dev_minor = 1, .ino = 77,
					      .path = 5, .mtime_ns = 3 };
static const struct hvar_module other_disk = { .dev_major = 8, .dev_minor = 2, .ino = 77 };
static const struct hvar_module huge_ino = { .dev_major = 8, .dev_minor = 1,
					     .ino = 1ull << 63 | 7 };
static const struct hvar_module nameless = { .path = 4, .flags = HVAR_MODULE_PSEUDO };

static const struct hvar_module sysv = { .dev_minor = 1, .ino = 9, .flags = HVAR_MODULE_PSEUDO | HVAR_MODULE_SYSV,
					 .mtime_ns = 4026531839 };
static const struct hvar_module sysv_first = { .dev_minor = 1, .flags = HVAR_MODULE_PSEUDO | HVAR_MODULE_SYSV,
					       .mtime_ns = 4026531839 };
static const struct hvar_module sysv_elsewhere = { .dev_minor = 1, .flags = HVAR_MODULE_PSEUDO | HVAR_MODULE_SYSV,
						   .mtime_ns = 4026532177 };
static const struct hvar_module memfd_nine = { .dev_minor = 1, .ino = 9, .flags = HVAR_MODULE_PSEUDO };
static const struct hvar_module device = { .dev_minor = 14, .ino = 9, .flags = HVAR_MODULE_PSEUDO };

static struct hvar_vma area(uint64_t start, uint64_t pgoff, uint8_t prot, uint8_t region)
{
	struct hvar_vma v = { .start = start, .end = start + 0x10000,
			      .pgoff = pgoff, .prot = prot, .region = region };
	return v;
}

static void test_table(void **state)
{
	/* Two views of one byte each; are they the same memory? */
	static const struct {
		const char *what;
		uint8_t prot[2], region;
		const struct hvar_module *m[2];
		uint32_t mm[2];
		uint64_t start[2], pgoff[2], addr[2];
		enum hvar_page_state page[2];
		bool same, private;
	} row[] = {
		{ "shared file at two addresses", { R | W | S, R | S }, HVAR_REGION_FILE, { &lib, &lib }, { 1, 2 },
		  { 0x10000, 0x70000 }, { 0x1000, 0x3000 }, { 0x12345, 0x70345 }, { 0 }, true, false },
		{ "another offset of it", { R | W | S, R | W | S }, HVAR_REGION_FILE, { &lib, &lib }, { 1, 2 },
		  { 0x10000, 0x70000 }, { 0x1000, 0x3000 }, { 0x12345, 0x72345 }, { 0 }, false, false },
		{ "one inode number, two disks", { R | W | S, R | W | S }, HVAR_REGION_FILE, { &lib, &other_disk }, { 1, 2 },
		  { 0x10000, 0x10000 }, { 0 }, { 0x10000, 0x10000 }, { 0 }, false, false },
		{ "one file, two module numbers", { R | W | S, R | W | S }, HVAR_REGION_FILE, { &lib, &lib_again }, { 1, 2 },
		  { 0x10000, 0x10000 }, { 0 }, { 0x10000, 0x10000 }, { 0 }, true, false },
		{ "shared anonymous after a fork", { R | W | S, R | W | S }, HVAR_REGION_SHM, { &lib, &lib }, { 1, 2 },
		  { 0x10000, 0x10000 }, { 0 }, { 0x10008, 0x10008 }, { 0 }, true, false },
		{ "private anonymous after a fork", { R | W, R | W }, HVAR_REGION_ANON, { NULL, NULL }, { 1, 2 },
		  { 0x10000, 0x10000 }, { 0 }, { 0x10008, 0x10008 }, { 0 }, false, true },
		{ "threads", { R | W, R | W }, HVAR_REGION_ANON, { NULL, NULL }, { 3, 3 },
		  { 0x10000, 0x10000 }, { 0 }, { 0x10008, 0x10008 }, { 0 }, true, true },
		{ ".data not copied by either", { R | W, R | W }, HVAR_REGION_FILE, { &lib, &lib }, { 1, 2 },
		  { 0x10000, 0x70000 }, { 0x2000, 0x2000 }, { 0x10010, 0x70010 },
		  { HVAR_PAGE_FILES, HVAR_PAGE_FILES }, true, false },
		{ ".data copied by the child", { R | W, R | W }, HVAR_REGION_FILE, { &lib, &lib }, { 1, 2 },
		  { 0x10000, 0x10000 }, { 0x2000, 0x2000 }, { 0x10010, 0x10010 },
		  { HVAR_PAGE_COPIED, HVAR_PAGE_FILES }, false, true },
		{ ".data copied by both", { R | W, R | W }, HVAR_REGION_FILE, { &lib, &lib }, { 1, 2 },
		  { 0x10000, 0x10000 }, { 0x2000, 0x2000 }, { 0x10010, 0x10010 },
		  { HVAR_PAGE_COPIED, HVAR_PAGE_COPIED }, false, true },
		{ ".data, not known", { R | W, R | W }, HVAR_REGION_FILE, { &lib, &lib }, { 1, 2 },
		  { 0x10000, 0x10000 }, { 0x2000, 0x2000 }, { 0x10010, 0x10010 }, { 0 }, false, true },
		{ ".rodata, not known", { R, R }, HVAR_REGION_FILE, { &lib, &lib }, { 1, 2 },
		  { 0x10000, 0x10000 }, { 0x2000, 0x2000 }, { 0x10010, 0x10010 }, { 0 }, true, false },
		{ "relro, copied before it was protected", { R, R }, HVAR_REGION_FILE, { &lib, &lib }, { 1, 2 },
		  { 0x10000, 0x10000 }, { 0x2000, 0x2000 }, { 0x10010, 0x10010 },
		  { HVAR_PAGE_COPIED, HVAR_PAGE_COPIED }, false, true },
		{ "memfd, shared and private not copied", { R | W | S, R | W }, HVAR_REGION_SHM, { &lib, &lib }, { 1, 1 },
		  { 0x10000, 0x70000 }, { 0 }, { 0x10010, 0x70010 },
		  { HVAR_PAGE_UNKNOWN, HVAR_PAGE_FILES }, true, false },
		{ "private /dev/zero is no file", { R, R }, HVAR_REGION_ANON, { &lib, &lib }, { 1, 2 },
		  { 0x10000, 0x10000 }, { 0 }, { 0x10010, 0x10010 },
		  { HVAR_PAGE_FILES, HVAR_PAGE_FILES }, false, true },
		{ "page state says nothing about shared", { R | W | S, R | W | S }, HVAR_REGION_FILE, { &lib, &lib }, { 1, 2 },
		  { 0x10000, 0x10000 }, { 0 }, { 0x10010, 0x10010 },
		  { HVAR_PAGE_COPIED, HVAR_PAGE_FILES }, true, false },
		{ "shared, with whom is not known", { R | W | S, R | W | S }, HVAR_REGION_SHM, { NULL, NULL }, { 1, 2 },
		  { 0x10000, 0x10000 }, { 0 }, { 0x10010, 0x10010 }, { 0 }, false, false },
		{ "shared, a name without an inode", { R | W | S, R | W | S }, HVAR_REGION_SHM, { &nameless, &nameless }, { 1, 2 },
		  { 0x10000, 0x10000 }, { 0 }, { 0x10010, 0x10010 }, { 0 }, false, false },
		{ "a SysV segment at two addresses", { R | W | S, R | S }, HVAR_REGION_SHM, { &sysv, &sysv }, { 1, 2 },
		  { 0x10000, 0x70000 }, { 0 }, { 0x10010, 0x70010 }, { 0 }, true, false },
		{ "the SysV segment of number 0", { R | W | S, R | W | S }, HVAR_REGION_SHM, { &sysv_first, &sysv_first }, { 1, 2 },
		  { 0x10000, 0x10000 }, { 0 }, { 0x10010, 0x10010 }, { 0 }, true, false },
		{ "number 0 of two IPC namespaces", { R | W | S, R | W | S }, HVAR_REGION_SHM, { &sysv_first, &sysv_elsewhere }, { 1, 2 },
		  { 0x10000, 0x10000 }, { 0 }, { 0x10010, 0x10010 }, { 0 }, false, false },
		{ "a memfd with a SysV segment's number", { R | W | S, R | W | S }, HVAR_REGION_SHM, { &sysv, &memfd_nine }, { 1, 2 },
		  { 0x10000, 0x10000 }, { 0 }, { 0x10010, 0x10010 }, { 0 }, false, false },
		{ "a device shows each what it likes", { R | W | S, R | W | S }, HVAR_REGION_FILE, { &device, &device }, { 1, 2 },
		  { 0x10000, 0x10000 }, { 0 }, { 0x10010, 0x10010 }, { 0 }, false, false },
		{ "memfd by its pseudo file", { R | W | S, R | W | S }, HVAR_REGION_SHM, { &device, &device }, { 1, 2 },
		  { 0x10000, 0x10000 }, { 0 }, { 0x10010, 0x10010 }, { 0 }, true, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		struct hvar_key k[2];

		for (int j = 0; j < 2; j++) {
			struct hvar_vma v = area(row[i].start[j], row[i].pgoff[j],
						 row[i].prot[j], row[i].region);

			k[j] = hvar_key_of(&v, row[i].m[j], row[i].mm[j],
					   row[i].addr[j], row[i].page[j]);
		}
		if (hvar_key_same(&k[0], &k[1]) != row[i].same ||
		    hvar_key_private(&k[0]) != row[i].private)
			fail_msg("%s", row[i].what);
	}
}

/* A file's number may look like an address space's in every bit. */
static void test_no_collision(void **state)
{
	struct hvar_vma f = area(0x10000, 0x10000, R | W | S, HVAR_REGION_FILE);
	struct hvar_vma a = area(0x10000, 0, R | W, HVAR_REGION_ANON);
	const struct hvar_module seven = { .ino = 7 };
	struct hvar_key k, l;

	(void)state;
	k = hvar_key_of(&f, &huge_ino, 7, 0x10010, HVAR_PAGE_UNKNOWN);
	l = hvar_key_of(&a, NULL, 7, 0x10010, HVAR_PAGE_UNKNOWN);
	assert_false(hvar_key_same(&k, &l));
	k = hvar_key_of(&f, &seven, 7, 0x10010, HVAR_PAGE_UNKNOWN);
	assert_int_equal(k.object, l.object);
	assert_int_equal(k.where, l.where);
	assert_false(hvar_key_same(&k, &l));
	assert_false(hvar_key_private(&k));
	assert_true(hvar_key_private(&l));
}

/*
 * The model: bytes of real memory.  Two files and four address spaces' own
 * pages, each a cell with a number; a key must tell cells apart and only them.
 */
static void test_random(void **state)
{
	enum { VIEWS = 60 };

	(void)state;
	srand(3);
	for (int round = 0; round < 300; round++) {
		struct hvar_key key[VIEWS];
		uint64_t cell[VIEWS];

		for (int i = 0; i < VIEWS; i++) {
			const struct hvar_module *m = rand() % 2 ? &lib : &other_disk;
			uint32_t mm = 1 + rand() % 3;
			uint64_t start = 0x10000 * (1 + rand() % 2);
			uint64_t page = rand() % 3, pgoff = rand() % 3 * 0x1000;
			struct hvar_vma v = area(start, pgoff, R | W, HVAR_REGION_FILE);
			bool files = rand() % 2, shared = rand() % 2;

			if (shared)
				v.prot |= S;
			key[i] = hvar_key_of(&v, m, mm, start + page * 0x1000,
					     files ? HVAR_PAGE_FILES : HVAR_PAGE_COPIED);
			if (shared || files)
				cell[i] = 1000 * (1 + (m == &lib)) + page + pgoff / 0x1000;
			else
				cell[i] = 10000 * mm + start / 0x1000 + page;
			assert_int_equal(hvar_key_private(&key[i]), !(shared || files));
		}
		for (int i = 0; i < VIEWS; i++)
			for (int j = 0; j < VIEWS; j++)
				assert_int_equal(hvar_key_same(&key[i], &key[j]),
						 cell[i] == cell[j]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_no_collision),
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
