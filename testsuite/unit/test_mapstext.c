// SPDX-License-Identifier: GPL-2.0-or-later
/* test_mapstext.c - lines of /proc/PID/maps: known answers, then the kernel's own lines. */
#include "config.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cmocka.h>

#include "runtime/user/mapstext.h"

enum { R = HVAR_PROT_READ, W = HVAR_PROT_WRITE, X = HVAR_PROT_EXEC, S = HVAR_PROT_SHARED };
enum { DEL = HVAR_VMA_DELETED, NAMED = HVAR_VMA_NAMED };

static int parse(const char *text, size_t len, struct mapstext *out)
{
	static char line[8192];

	memcpy(line, text, len);
	line[len] = '\n';
	return mapstext_line(line, len, out);
}

static void test_table(void **state)
{
	static const struct {
		const char *line;
		uint64_t start, end, pgoff, ino;
		uint32_t dev[2];
		int prot, region, flags;
		bool pseudo;
		const char *path;
	} row[] = {
		{ "7fc2f8389000-7fc2f838a000 r--p 00000000 fe:00 11174157                   /tmp/trail ",
		  0x7fc2f8389000, 0x7fc2f838a000, 0, 11174157, { 0xfe, 0 }, R, HVAR_REGION_FILE, 0, false, "/tmp/trail " },
		{ "7fc2f8389000-7fc2f838a000 r-xp 00002000 103:03 7                          /tmp/a b",
		  0x7fc2f8389000, 0x7fc2f838a000, 0x2000, 7, { 0x103, 3 }, R | X, HVAR_REGION_FILE, 0, false, "/tmp/a b" },
		{ "00010000-00011000 rwxp 00000000 fffff:fffff 1                              /x\t",
		  0x10000, 0x11000, 0, 1, { 0xfffff, 0xfffff }, R | W | X, HVAR_REGION_FILE, 0, false, "/x\t" },
		{ "00010000-00011000 ---p 00000000 08:01 5                                  / lead",
		  0x10000, 0x11000, 0, 5, { 8, 1 }, 0, HVAR_REGION_FILE, 0, false, "/ lead" },
		{ "10000-11000 r--p 0 8:1 5 /\xff\xfe", 0x10000, 0x11000, 0, 5, { 8, 1 }, R, HVAR_REGION_FILE, 0, false, "/\xff\xfe" },
		{ "10000-11000 r--p 0 8:1 5 /new\\012line", 0x10000, 0x11000, 0, 5, { 8, 1 }, R, HVAR_REGION_FILE, 0, false, "/new\nline" },
		{ "10000-11000 r--p 0 8:1 5 /\\040\\01\\0120\\", 0x10000, 0x11000, 0, 5, { 8, 1 }, R, HVAR_REGION_FILE, 0, false,
		  "/\\040\\01\n0\\" },
		{ "10000-11000 r--p 0 8:1 5 /lib.so (deleted)", 0x10000, 0x11000, 0, 5, { 8, 1 }, R, HVAR_REGION_FILE, DEL, false, "/lib.so" },
		{ "10000-11000 r--p 0 8:1 5 /x (deleted) (deleted)", 0x10000, 0x11000, 0, 5, { 8, 1 }, R, HVAR_REGION_FILE, DEL, false,
		  "/x (deleted)" },
		{ "10000-11000 r--p 0 8:1 5 /x(deleted)", 0x10000, 0x11000, 0, 5, { 8, 1 }, R, HVAR_REGION_FILE, 0, false, "/x(deleted)" },
		/* no name */
		{ "10000-11000 rw-p 00000000 00:00 0 ", 0x10000, 0x11000, 0, 0, { 0 }, R | W, HVAR_REGION_ANON, 0, false, "" },
		{ "10000-11000 rw-p 00000000 00:00 0", 0x10000, 0x11000, 0, 0, { 0 }, R | W, HVAR_REGION_ANON, 0, false, "" },
		{ "10000-11000 rw-p 00001000 00:00 0", 0x10000, 0x11000, 0, 0, { 0 }, R | W, HVAR_REGION_ANON, 0, false, "" },
		{ "10000-11000 rw-p 00000000 00:00 0    [heap]", 0x10000, 0x11000, 0, 0, { 0 }, R | W, HVAR_REGION_HEAP, 0, true, "" },
		{ "10000-11000 rw-p 00000000 00:00 0    [stack]", 0x10000, 0x11000, 0, 0, { 0 }, R | W, HVAR_REGION_STACK, 0, true, "" },
		{ "10000-11000 r-xp 00000000 00:00 0    [vdso]", 0x10000, 0x11000, 0, 0, { 0 }, R | X, HVAR_REGION_VDSO, NAMED, true, "[vdso]" },
		{ "10000-11000 r--p 00000000 00:00 0    [vvar]", 0x10000, 0x11000, 0, 0, { 0 }, R, HVAR_REGION_VVAR, NAMED, true, "[vvar]" },
		{ "10000-11000 r--p 00000000 00:00 0    [vvar_vclock]", 0x10000, 0x11000, 0, 0, { 0 }, R, HVAR_REGION_VVAR, NAMED, true,
		  "[vvar_vclock]" },
		{ "ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0                  [vsyscall]",
		  0xffffffffff600000, 0xffffffffff601000, 0, 0, { 0 }, X, HVAR_REGION_VSYSCALL, NAMED, true, "[vsyscall]" },
		{ "10000-11000 rw-p 00000000 00:00 0    [anon:my heap (deleted)]", 0x10000, 0x11000, 0, 0, { 0 }, R | W, HVAR_REGION_ANON,
		  NAMED, true, "[anon:my heap (deleted)]" },
		{ "10000-11000 rw-s 00001000 00:01 77   [anon_shmem:x]", 0x10000, 0x11000, 0x1000, 77, { 0, 1 }, R | W | S, HVAR_REGION_SHM,
		  0, true, "[anon_shmem:x]" },
		{ "10000-11000 rw-p 00000000 00:00 0    [stack:12]", 0x10000, 0x11000, 0, 0, { 0 }, R | W, HVAR_REGION_ANON, NAMED, true, "[stack:12]" },
		/* shared memory that calls itself a file */
		{ "10000-11000 rw-s 00001000 00:01 9    /dev/zero (deleted)", 0x10000, 0x11000, 0x1000, 9, { 0, 1 }, R | W | S, HVAR_REGION_SHM,
		  DEL, true, "/dev/zero" },
		{ "10000-11000 rw-p 00001000 00:06 4    /dev/zero", 0x10000, 0x11000, 0x1000, 4, { 0, 6 }, R | W, HVAR_REGION_ANON, 0, true,
		  "/dev/zero" },
		{ "10000-11000 rw-s 00000000 00:01 65538 /SYSV00001234 (deleted)", 0x10000, 0x11000, 0, 65538, { 0, 1 }, R | W | S,
		  HVAR_REGION_SHM, DEL, true, "/SYSV00001234" },
		{ "10000-11000 rw-s 00000000 08:01 3    /SYSV00001234 (deleted)", 0x10000, 0x11000, 0, 3, { 8, 1 }, R | W | S,
		  HVAR_REGION_FILE, DEL, false, "/SYSV00001234" },
		{ "10000-11000 rw-s 00000000 00:01 3    /SYSV0000123 (deleted)", 0x10000, 0x11000, 0, 3, { 0, 1 }, R | W | S,
		  HVAR_REGION_FILE, DEL, false, "/SYSV0000123" },
		{ "10000-11000 rw-s 00000000 00:01 2051 /memfd:my name (deleted)", 0x10000, 0x11000, 0, 2051, { 0, 1 }, R | W | S,
		  HVAR_REGION_SHM, DEL, true, "/memfd:my name" },
		{ "10000-11000 rw-p 00002000 00:01 2051 /memfd:my name (deleted)", 0x10000, 0x11000, 0x2000, 2051, { 0, 1 }, R | W,
		  HVAR_REGION_SHM, DEL, true, "/memfd:my name" },
		{ "10000-11000 rw-p 00000000 08:01 2051 /memfd:file", 0x10000, 0x11000, 0, 2051, { 8, 1 }, R | W, HVAR_REGION_FILE, 0, false,
		  "/memfd:file" },
		{ "10000-11000 rw-p 00000000 00:0f 8    /anon_hugepage (deleted)", 0x10000, 0x11000, 0, 8, { 0, 15 }, R | W, HVAR_REGION_ANON,
		  DEL, true, "/anon_hugepage" },
		{ "10000-11000 rw-s 00000000 00:0f 8    /anon_hugepage (deleted)", 0x10000, 0x11000, 0, 8, { 0, 15 }, R | W | S,
		  HVAR_REGION_SHM, DEL, true, "/anon_hugepage" },
		{ "10000-11000 rw-s 00000000 00:19 8    /dev/shm/q (deleted)", 0x10000, 0x11000, 0, 8, { 0, 25 }, R | W | S, HVAR_REGION_SHM,
		  DEL, false, "/dev/shm/q" },
		{ "10000-11000 rw-s 00000000 00:0e 1057 anon_inode:[perf_event]", 0x10000, 0x11000, 0, 1057, { 0, 14 }, R | W | S,
		  HVAR_REGION_FILE, 0, true, "anon_inode:[perf_event]" },
		{ "10000-11000 rw-s ffffffffffff0000 00:0e 18446744073709551615 /dev/x", 0x10000, 0x11000, 0xffffffffffff0000, UINT64_MAX,
		  { 0, 14 }, R | W | S, HVAR_REGION_FILE, 0, false, "/dev/x" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		struct mapstext m;

		if (parse(row[i].line, strlen(row[i].line), &m))
			fail_msg("refused: %s", row[i].line);
		if (m.v.start != row[i].start || m.v.end != row[i].end || m.v.prot != row[i].prot ||
		    m.dev_major != row[i].dev[0] || m.dev_minor != row[i].dev[1] || m.ino != row[i].ino)
			fail_msg("fields: %s", row[i].line);
		if (m.v.pgoff != row[i].pgoff || m.v.region != row[i].region || m.v.flags != row[i].flags ||
		    m.pseudo != row[i].pseudo)
			fail_msg("kind: %s (pgoff %lx region %d flags %x pseudo %d)", row[i].line, m.v.pgoff, m.v.region,
				 m.v.flags, m.pseudo);
		assert_string_equal(m.path, row[i].path);
		assert_int_equal(m.path_len, strlen(row[i].path));
	}
}

static void test_refused(void **state)
{
	static const char *const line[] = {
		"", " ", "10000", "10000-", "10000-11000", "10000-11000 ", "10000-11000 r--",
		"10000-11000 r--p", "10000-11000 r--p 0", "10000-11000 r--p 0 8:1", "10000-11000 r--p 0 8:1 ",
		"11000-10000 r--p 0 8:1 5 /x", "10000-10000 r--p 0 8:1 5 /x", "10000-11000 r--x 0 8:1 5 /x",
		"10000-11000 w--p 0 8:1 5 /x", "10000-11000 r--p g 8:1 5 /x", "10000-11000 r--p 0 8;1 5 /x",
		"10000-11000 r--p 0 8:1 5x /x", "10000-11000 r--p 0 8:1 f /x", " 10000-11000 r--p 0 8:1 5 /x",
		"10000-1ffffffffffffffff r--p 0 8:1 5 /x", "10000-11000 r--p 0 100000000:1 5 /x",
		"10000-11000 r--p 0 8:1 18446744073709551616 /x", "0x10000-11000 r--p 0 8:1 5 /x",
		"Size:                  4 kB", "10000-11000 r--p 0 8:1 5\t/x", "10000-11000 r--pp 0 8:1 5 /x",
	};
	struct mapstext m;

	(void)state;
	for (size_t i = 0; i < sizeof(line) / sizeof(line[0]); i++)
		if (parse(line[i], strlen(line[i]), &m) != -EINVAL)
			fail_msg("taken: %s", line[i]);
	assert_int_equal(parse("10000-11000 r--p 0 8:1 5 /a\0b", 28, &m), -EINVAL);
}

static void test_not_deleted(void **state)
{
	struct mapstext m;

	(void)state;
	assert_int_equal(parse("10000-11000 r--p 0 8:1 5 /x (deleted)", 37, &m), 0);
	mapstext_not_deleted(&m);
	assert_string_equal(m.path, "/x (deleted)");
	assert_int_equal(m.path_len, 12);
	assert_int_equal(m.v.flags, 0);
}

/* Files of awkward names, mapped: the kernel writes the lines, stat(2) has the answers. */
static void test_kernel(void **state)
{
	static const char *const names[] = { "a b",	" lead",     "trail ",	"tab\tx", "\xff\xfe",
					     "new\nline", "back\\slash", "[heap]", "x (deleted)", "%s" };
	char dir[] = "/tmp/hotvar-test.XXXXXX", path[256], *line = NULL;
	size_t n = sizeof(names) / sizeof(names[0]), found = 0, cap = 0, lines = 0;
	struct stat st[16];
	ssize_t len;
	FILE *f;

	(void)state;
	assert_non_null(mkdtemp(dir));
	for (size_t i = 0; i < n; i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, names[i]);
		f = fopen(path, "w+");
		assert_non_null(f);
		assert_int_equal(ftruncate(fileno(f), 8192), 0);
		assert_int_equal(fstat(fileno(f), &st[i]), 0);
		assert_true(mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fileno(f), 4096) != MAP_FAILED);
		fclose(f);
	}
	f = fopen("/proc/self/maps", "re");
	assert_non_null(f);
	while ((len = getline(&line, &cap, f)) > 0) {
		struct mapstext m;

		lines++;
		assert_int_equal(line[len - 1], '\n');
		assert_int_equal(mapstext_line(line, (size_t)len - 1, &m), 0);
		for (size_t i = 0; i < n; i++) {
			if (m.ino != st[i].st_ino || m.dev_major != major(st[i].st_dev) ||
			    m.dev_minor != minor(st[i].st_dev))
				continue;
			if (m.v.flags & HVAR_VMA_DELETED)
				mapstext_not_deleted(&m);
			snprintf(path, sizeof(path), "%s/%s", dir, names[i]);
			assert_string_equal(m.path, path);
			assert_int_equal(m.v.pgoff, 4096);
			assert_int_equal(m.v.region, HVAR_REGION_FILE);
			found++;
		}
	}
	fclose(f);
	free(line);
	assert_int_equal(found, n);
	assert_true(lines > n);
	for (size_t i = 0; i < n; i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, names[i]);
		unlink(path);
	}
	rmdir(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_not_deleted),
		cmocka_unit_test(test_kernel),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
