// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_heap_names.c - which functions are wrappers of an allocator, and what objects are called then.
 */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/report/heap_names.h"

static void wrappers(void **state)
{
	static const char *const yes[] = {
		"malloc", "calloc", "realloc", "xmalloc", "zmalloc", "zmalloc_usable", "ztrymalloc", "g_malloc0", "sqlite3Malloc", "mallocWithAlarm",
		"sqlite3DbMallocRawNN", "luaM_malloc_", "luaM_realloc_", "l_alloc", "my_alloc", "palloc", "allocate", "node_allocate", "posix_memalign",
		"memalign", "strdup", "xstrdup", "__strdup", "strndup", "g_strdup", "wcsdup", "kmemdup", "alloc2", "xmalloc.constprop.0",
		"operator new(unsigned long)", "operator new[](unsigned long, std::align_val_t)",
		"std::vector<int, std::allocator<int> >::_M_realloc_insert<int>(int&&)", "std::allocator<char>::allocate(unsigned long)",
		"__gnu_cxx::new_allocator<int>::allocate(unsigned long)", "int* std::__copy_move<int>(int*, int*)", "alloc::raw_vec::finish_grow",
		"__rust_alloc", "__rdl_alloc", "alloc::alloc::exchange_malloc", "my::pool<T>::malloc(unsigned)", "mmap", "mmap64", "mremap",
	};
	static const char *const no[] = {
		"", "main", "parse_line", "alloc_node", "allocator_init", "new_node", "make", "sdsnewlen", "dup", "dup2", "fdup", "mmap_file", "my_mmap",
		"ns::fill(std::vector<int>&)", "std_init", "stdlib_setup", "core_init", "(below main)", "operator==", "newton(int)",
		"run(alloc)", "show<malloc>", "allocations",
	};
	struct heap_frame f = { "", "", "/bin/app", 0, 0 };
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(yes) / sizeof(yes[0]); i++) {
		f.function = yes[i];
		if (!heap_names_wraps(&f, false))
			fail_msg("'%s' is a wrapper", yes[i]);
	}
	for (i = 0; i < sizeof(no) / sizeof(no[0]); i++) {
		f.function = no[i];
		if (heap_names_wraps(&f, false))
			fail_msg("'%s' is none", no[i]);
	}
	f = (struct heap_frame){ "allocate_it", "new_allocator.h", "/bin/app", 137, 0 };
	assert_true(heap_names_wraps(&f, true));
	assert_false(heap_names_wraps(&f, false)); /* it only has inlined it */
	f = (struct heap_frame){ "anything", "a.c", "/usr/libexec/hotvar/heap/vgpreload_hotvar-amd64-linux.so", 1, 0 };
	assert_true(heap_names_wraps(&f, false));
}

static void called(const char *text, size_t len, const char *want)
{
	struct heap_frame v[8];
	char *name = heap_names_make(v, heap_names_frames(text, len, v, 8), false);

	assert_non_null(name);
	assert_string_equal(name, want);
	free(name);
}
#define CALLED(text, want) called(text, sizeof(text) - 1, want)

static void names(void **state)
{
	char big[5000], *name;
	struct heap_frame f = { big, "x.c", "/m", 3, 0 };

	(void)state;
	CALLED("", "heap:[unknown]");
	CALLED("make\0src/node.c\0" "12\0/bin/app\0" "1f0\0", "heap:make@node.c:12");
	CALLED("xmalloc\0u.c\0" "3\0/bin/app\0" "10\0make\0n.c\0" "12\0/bin/app\0" "1f0\0", "heap:make@n.c:12");
	CALLED("make\0\0" "0\0/lib/libfoo.so.1\0" "1f0\0", "heap:make@libfoo.so.1+0x1f0");
	CALLED("\0\0" "0\0/lib/libfoo.so.1\0" "1f0\0", "heap:libfoo.so.1+0x1f0");
	CALLED("\0\0" "0\0\0" "1f0\0", "heap:[unknown]+0x1f0");
	/* nothing but wrappers: the outermost */
	CALLED("xmalloc\0u.c\0" "3\0/bin/app\0" "10\0zalloc\0z.c\0" "4\0/bin/app\0" "20\0", "heap:zalloc@z.c:4");
	/* what it takes and returns is not in a name, what it is in is */
	CALLED("int *ns::make<a, b>(char const*, int)\0m.cc\0" "12\0/bin/app\0" "1f0\0", "heap:ns::make<a, b>@m.cc:12");
	CALLED("(anonymous namespace)::make(int)\0m.cc\0" "12\0/bin/app\0" "1f0\0", "heap:(anonymous namespace)::make@m.cc:12");
	/* cut short: what is missing is not known */
	CALLED("make\0n.c", "heap:make@[unknown]+0x0");
	CALLED("make", "heap:make@[unknown]+0x0");
	memset(big, 'x', sizeof(big) - 1);
	big[sizeof(big) - 1] = '\0';
	name = heap_names_make(&f, 1, true);
	assert_non_null(name);
	assert_true(strlen(name) < 700);
	assert_memory_equal(name, "mmap:xxx", 8);
	free(name);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(wrappers), cmocka_unit_test(names) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
