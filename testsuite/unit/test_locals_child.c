// SPDX-License-Identifier: GPL-2.0-or-later
/* test_locals_child.c - names of locals from another process, and what is left when that is gone. */
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "translator-hooks/locals_child.h"

/* The one process whose parent this is, by /proc; 0: there is none. */
static int only_child(void)
{
	DIR *d = opendir("/proc");
	struct dirent *e;
	int found = 0;

	assert_non_null(d);
	while ((e = readdir(d))) {
		char path[300];
		int pid, parent;
		FILE *f;

		snprintf(path, sizeof(path), "/proc/%s/stat", e->d_name);
		f = e->d_name[0] >= '1' && e->d_name[0] <= '9' ? fopen(path, "r") : NULL;
		if (f && fscanf(f, "%d (%*[^)]) %*c %d", &pid, &parent) == 2 && parent == getpid()) {
			assert_int_equal(found, 0);
			found = pid;
		}
		if (f)
			fclose(f);
	}
	closedir(d);
	return found;
}

/* Where the symbol @name of this program is, by nm. */
static uint64_t address_of(const char *name)
{
	char command[128];
	unsigned long long at = 0;
	FILE *f;

	snprintf(command, sizeof(command), "nm /proc/%d/exe | sed -n 's/ [tT] %s$//p'", getpid(), name);
	f = popen(command, "r");
	assert_non_null(f);
	assert_int_equal(fscanf(f, "%llx", &at), 1);
	pclose(f);
	return at;
}

/* A sanitizer would put its locals elsewhere. */
__attribute__((noinline, no_sanitize_address)) long test_has_locals(volatile long *p)
{
	volatile long here[4] = { 1, 2, 3, 4 };

	return here[*p & 3] + *p;
}

static void test_same(void **state)
{
	int fd = open("/proc/self/exe", O_RDONLY);
	/* behind what sets the frame pointer, if something does */
	struct locals_at at = { .vaddr = address_of("test_has_locals") + 8, .len = 0, .base = LOCALS_CFA };
	struct locals_file *f = locals_file_open(fd, "self");
	struct locals_child *c = locals_child_open(fd, "self");
	int named = 0;

	(void)state;
	assert_non_null(f);
	assert_non_null(c);
	close(fd);
	for (at.offset = -96; at.offset < 16; at.offset += 4) {
		static struct locals_found a, b;

		locals_file_find(f, &at, &a);
		assert_int_equal(locals_child_find(c, &at, &b), 0);
		assert_int_equal(a.kind, b.kind);
		assert_string_equal(a.name, b.name);
		assert_string_equal(a.member, b.member);
		assert_string_equal(a.type, b.type);
		assert_int_equal(a.size, b.size);
		assert_int_equal(a.parameter, b.parameter);
		assert_non_null(b.function);
		assert_string_equal(a.function, b.function);
		assert_string_equal(b.function, "test_has_locals");
		named += !strcmp(b.name, "here");
	}
	assert_true(named >= 4);
	assert_string_equal(locals_child_why(c), "");
	locals_file_close(f);
	locals_child_close(c);
	assert_int_equal(only_child(), 0);
}

static void test_killed(void **state)
{
	int fd = open("/proc/self/exe", O_RDONLY), pid;
	struct locals_at at = { .vaddr = address_of("test_has_locals"), .base = LOCALS_CFA, .offset = -16 };
	struct locals_child *c = locals_child_open(fd, "self");
	static struct locals_found found;

	(void)state;
	close(fd);
	assert_non_null(c);
	assert_int_equal(locals_child_find(c, &at, &found), 0);
	pid = only_child();
	assert_true(pid > 0);
	kill(pid, SIGSEGV); /* blocked there: what comes from outside does not end it */
	assert_int_equal(locals_child_find(c, &at, &found), 0);
	kill(pid, SIGKILL);
	assert_int_equal(locals_child_find(c, &at, &found), -EPIPE);
	assert_non_null(strstr(locals_child_why(c), "killed by signal 9"));
	assert_int_equal(locals_child_find(c, &at, &found), -EPIPE);
	assert_int_equal(only_child(), 0);
	locals_child_close(c);
}

static void test_no_elf(void **state)
{
	int fd = memfd_create("text", 0);
	struct locals_at at = { .vaddr = 16 };
	struct locals_child *c;
	static struct locals_found found;

	(void)state;
	assert_int_equal(write(fd, "text", 4), 4);
	c = locals_child_open(fd, "text");
	close(fd);
	assert_non_null(c);
	assert_int_equal(locals_child_find(c, &at, &found), -ENOEXEC);
	assert_string_equal(locals_child_why(c), "");
	locals_child_close(c);
}

/* It keeps nothing open that others wait for the end of. */
static void test_descriptors(void **state)
{
	int fd = open("/proc/self/exe", O_RDONLY), ends[2];
	struct locals_at at = { .vaddr = 16 };
	static struct locals_found found;
	struct locals_child *c;
	char byte;

	(void)state;
	assert_int_equal(pipe(ends), 0);
	c = locals_child_open(fd, "self");
	assert_int_equal(locals_child_find(c, &at, &found), 0);
	close(ends[1]);
	assert_int_equal(read(ends[0], &byte, 1), 0);
	close(ends[0]);
	close(fd);
	locals_child_close(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same),
		cmocka_unit_test(test_killed),
		cmocka_unit_test(test_no_elf),
		cmocka_unit_test(test_descriptors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
