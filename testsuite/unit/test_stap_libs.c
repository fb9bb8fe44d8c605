// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_stap_libs.c - libraries of programs: what ldd says must be among what is found, and ld.so.cache is read as
 * ldconfig reads it.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "testsuite/unit/temp_tree.h"
#include "translator-hooks/stap_libs.h"

/* Files by their true names. */
struct set {
	char *v[4096];
	size_t n;
	char absent[4096];
};

static bool has(const struct set *s, const char *path)
{
	char *real = realpath(path, NULL);
	bool r = false;

	for (size_t i = 0; i < s->n && real && !r; i++)
		r = !strcmp(s->v[i], real);
	free(real);
	return r;
}

static void found(void *ctx, const char *path)
{
	struct set *s = ctx;

	if (!has(s, path) && s->n < 4096)
		s->v[s->n++] = realpath(path, NULL);
}

static void absent(void *ctx, const char *name)
{
	struct set *s = ctx;
	size_t n = strlen(s->absent);

	snprintf(s->absent + n, sizeof(s->absent) - n, "%s ", name);
}

static void all_of(struct stap_libs *l, struct set *s, const char *program)
{
	for (size_t i = 0; i <= s->n; i++) {
		const char *path = i ? s->v[i - 1] : program;
		int fd = open(path, O_RDONLY);

		assert_true(fd >= 0);
		assert_int_equal(stap_libs_each(l, fd, path, !i, found, absent, s), 0);
		close(fd);
	}
}

static void set_fini(struct set *s)
{
	while (s->n)
		free(s->v[--s->n]);
	*s->absent = '\0';
}

/*	libc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x...)
 *	/lib64/ld-linux-x86-64.so.2 (0x...) */
static int check_ldd(const struct set *s, const char *program)
{
	char command[300], line[1024];
	int n = 0;
	FILE *p;

	snprintf(command, sizeof(command), "ldd %s 2>&1", program);
	p = popen(command, "r");
	while (p && fgets(line, sizeof(line), p)) {
		char *path = strstr(line, "=> /");

		path = path ? path + 3 : strchr(line, '/');
		if (!path)
			continue;
		path[strcspn(path, " \n")] = '\0';
		n++;
		if (!has(s, path))
			fail_msg("ldd %s has %s, which was not found", program, path);
	}
	if (p)
		pclose(p);
	return n;
}

static void as_ldd(void **state)
{
	static const char *const programs[] = { "/bin/ls", "/bin/sh", "/usr/bin/python3", "/usr/bin/gdb", "/usr/bin/git",
						"/usr/bin/stap", "/usr/bin/valgrind" };
	struct stap_libs l = { 0 };
	static struct set s;
	int checked = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
		if (access(programs[i], R_OK))
			continue;
		all_of(&l, &s, programs[i]);
		checked += check_ldd(&s, programs[i]);
		assert_string_equal(s.absent, "");
		set_fini(&s);
	}
	stap_libs_fini(&l);
	assert_true(checked > 4);
}

/* Each line of ldconfig -p: 	libz.so.1 (libc6,x86-64) => /lib/x86_64-linux-gnu/libz.so.1 */
static void as_ldconfig(void **state)
{
	FILE *p = popen("PATH=$PATH:/sbin:/usr/sbin ldconfig -p 2>/dev/null", "r");
	struct stap_ldcache c;
	char line[1024];
	size_t n = 0;

	(void)state;
	stap_ldcache_read(&c, "/etc/ld.so.cache");
	while (p && fgets(line, sizeof(line), p)) {
		char *path = strstr(line, "=> "), *name = line + strspn(line, "\t ");
		const char *got;
		bool found_it = false;
		size_t at = 0;

		if (*line != '\t' || !path)
			continue;
		path += 3;
		path[strcspn(path, "\n")] = '\0';
		name[strcspn(name, " ")] = '\0';
		while ((got = stap_ldcache_next(&c, name, &at)) != NULL)
			found_it |= !strcmp(got, path);
		if (!found_it)
			fail_msg("%s => %s is not found", name, path);
		n++;
	}
	if (p)
		pclose(p);
	if (!n)
		skip();
	assert_int_equal(n, c.entries);
	stap_ldcache_fini(&c);
}

/* ---- a cache and programs of our own ---- */

static void put_bytes(const char *name, const void *data, size_t n)
{
	char path[300];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "w");
	assert_non_null(f);
	assert_int_equal(fwrite(data, 1, n, f), n);
	fclose(f);
}

static void read_cache(struct stap_ldcache *c, const void *data, size_t n)
{
	char path[300];

	put_bytes("cache", data, n);
	snprintf(path, sizeof(path), "%s/cache", dir);
	stap_ldcache_read(c, path);
}

/* One entry, behind the older list or not; then each byte of it damaged in turn. */
static void damaged_caches(void **state)
{
	static const char strings[] = "libx.so\0/lib/libx.so";
	for (int old = 0; old < 2; old++) {
		unsigned char b[256] = { 0 };
		size_t at = 0, base, size, next = 0;
		uint32_t n = 1;
		struct stap_ldcache c;

		(void)state;
		if (old) {
			memcpy(b, "ld.so-1.7.0", 12);
			memcpy(b + 12, &n, 4);
			at = 16 + 12 + 4; /* one entry, and to a multiple of 8 */
		}
		base = at;
		memcpy(b + at, "glibc-ld.so.cache1.1", 20);
		memcpy(b + at + 20, &n, 4);
		n = 48 + 24;
		memcpy(b + at + 48 + 4, &n, 4);
		n += 8;
		memcpy(b + at + 48 + 8, &n, 4);
		memcpy(b + at + 72, strings, sizeof(strings));
		size = at + 72 + sizeof(strings);
		read_cache(&c, b, size);
		assert_int_equal(c.entries, 1);
		assert_int_equal(c.base, base);
		assert_string_equal(stap_ldcache_next(&c, "libx.so", &next), "/lib/libx.so");
		assert_null(stap_ldcache_next(&c, "libx.so", &next));
		stap_ldcache_fini(&c);
		for (size_t i = 0; i < size; i++) {
			unsigned char was = b[i];
			const char *got;

			b[i] = 0xff;
			read_cache(&c, b, size);
			next = 0;
			while ((got = stap_ldcache_next(&c, "libx.so", &next)) != NULL)
				assert_true(strlen(got) <= size);
			stap_ldcache_fini(&c);
			read_cache(&c, b, i);
			next = 0;
			while ((got = stap_ldcache_next(&c, "libx.so", &next)) != NULL)
				assert_true(strlen(got) <= size);
			stap_ldcache_fini(&c);
			b[i] = was;
		}
	}
}

static int build(const char *fmt, ...)
{
	char command[2000], args[1600];
	const char *cc = getenv("CC");
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(args, sizeof(args), fmt, ap);
	va_end(ap);
	snprintf(command, sizeof(command), "cd %s && %s %s", dir, cc ? cc : "cc", args);
	return system(command);
}

/* RUNPATH with $ORIGIN, LD_LIBRARY_PATH, LD_PRELOAD, and a library that is nowhere. */
static void of_our_own(void **state)
{
	struct stap_libs l = { 0 };
	static struct set s;
	char path[300], env[300];

	(void)state;
	put_bytes("a.c", "int a;", 6);
	put_bytes("m.c", "extern int a, b, gone; int main(void) { return a + b + gone; }", 62);
	put_bytes("b.c", "int b;", 6);
	put_bytes("gone.c", "int gone;", 9);
	put_bytes("p.c", "int p;", 6);
	snprintf(path, sizeof(path), "%s/sub", dir);
	mkdir(path, 0755);
	snprintf(path, sizeof(path), "%s/env", dir);
	mkdir(path, 0755);
	if (build("-shared -fPIC -o sub/liba.so a.c") || build("-shared -fPIC -o env/libb.so b.c") ||
	    build("-shared -fPIC -o libgone.so gone.c") || build("-shared -fPIC -o libp.so p.c") ||
	    build("-o prog m.c -Lsub -la -Lenv -lb -L. -lgone '-Wl,-rpath,$ORIGIN/sub'"))
		skip();
	snprintf(path, sizeof(path), "%s/libgone.so", dir);
	unlink(path);
	snprintf(env, sizeof(env), "%s/env", dir);
	setenv("LD_LIBRARY_PATH", env, 1);
	snprintf(env, sizeof(env), "%s/libp.so", dir);
	setenv("LD_PRELOAD", env, 1);
	snprintf(path, sizeof(path), "%s/prog", dir);
	all_of(&l, &s, path);
	unsetenv("LD_LIBRARY_PATH");
	unsetenv("LD_PRELOAD");
	assert_string_equal(s.absent, "libgone.so ");
	snprintf(path, sizeof(path), "%s/sub/liba.so", dir);
	assert_true(has(&s, path));
	snprintf(path, sizeof(path), "%s/env/libb.so", dir);
	assert_true(has(&s, path));
	assert_true(has(&s, env));
	assert_true(has(&s, "/lib64/ld-linux-x86-64.so.2"));
	set_fini(&s);
	stap_libs_fini(&l);
}

/* A file that is no program has no libraries; a damaged one neither, or fewer. */
static void no_program(void **state)
{
	struct stap_libs l = { 0 };
	static struct set s;
	char path[300], *b = malloc(1 << 20);
	unsigned seed = 99;
	ssize_t n;
	int fd;

	(void)state;
	put_bytes("text", "#!/bin/sh\n", 10);
	snprintf(path, sizeof(path), "%s/text", dir);
	all_of(&l, &s, path);
	assert_int_equal(s.n, 0);
	fd = open("/bin/ls", O_RDONLY);
	n = read(fd, b, 1 << 20);
	close(fd);
	assert_true(n > 1000);
	snprintf(path, sizeof(path), "%s/damaged", dir);
	for (int round = 0; round < 300; round++) {
		char was[4];
		size_t at;

		seed = seed * 1103515245 + 12345;
		at = (seed >> 8) % (round % 2 ? 1000 : (size_t)n - 4);
		memcpy(was, b + at, 4);
		memset(b + at, (int)(seed >> 4), 4);
		put_bytes("damaged", b, (size_t)n);
		fd = open(path, O_RDONLY);
		assert_int_equal(stap_libs_each(&l, fd, path, true, found, absent, &s), 0);
		close(fd);
		memcpy(b + at, was, 4);
		set_fini(&s);
	}
	free(b);
	stap_libs_fini(&l);
}

/* Any number of folders to look into: some hundred are. */
static void many_folders(void **state)
{
	struct stap_libs l = { 0 };
	struct set s = { 0 };
	char *env, *p;

	(void)state;
	env = malloc(20000 * 8);
	assert_non_null(env);
	p = env;
	for (int i = 0; i < 15000; i++)
		p += sprintf(p, "/n%d:", i);
	setenv("LD_LIBRARY_PATH", env, 1);
	free(env);
	all_of(&l, &s, "/bin/sh");
	unsetenv("LD_LIBRARY_PATH");
	assert_true(l.n_dirs > 100);
	assert_true(l.n_dirs < 1000);
	/* the C library is found all the same */
	assert_true(s.n > 0);
	set_fini(&s);
	stap_libs_fini(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_ldd),     cmocka_unit_test(as_ldconfig), cmocka_unit_test(damaged_caches),
		cmocka_unit_test(of_our_own), cmocka_unit_test(no_program),
		cmocka_unit_test(many_folders),
	};

	return cmocka_run_group_tests(tests, temp_begin, temp_end);
}
