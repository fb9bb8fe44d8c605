// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_stap_companion.c - images of what a followed program loads, by a companion of which nothing else can be noticed.
 *
 * stap here is a shell under the name of stapio, whose child is the program.  Images are root's: others skip.
 */
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
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "testsuite/unit/temp_tree.h"
#include "translator-hooks/image_build.h"
#include "translator-hooks/stap_companion.h"

static const char source[] =
	"#include <dlfcn.h>\n#include <unistd.h>\n"
	"int main(int n, char **v) { char c; if (read(0, &c, 1) != 1) return 1;\n"
	"	if (!dlopen(v[n - 1], RTLD_NOW)) return 2; return read(0, &c, 1) == 1 ? 7 : 3; }\n";

static bool has_image(const char *name)
{
	char path[700];
	uint8_t id[64];
	int fd = open(at(name), O_RDONLY), n, len;

	assert_true(fd >= 0);
	len = image_build_id(fd, id, sizeof(id));
	close(fd);
	assert_true(len > 0);
	n = snprintf(path, sizeof(path), "%s/images/", dir);
	for (int i = 0; i < len; i++)
		n += sprintf(path + n, "%02x", id[i]);
	strcpy(path + n, ".img");
	return !access(path, R_OK);
}

static void pause_ms(unsigned ms)
{
	const struct timespec t = { ms / 1000, ms % 1000 * 1000000 };

	nanosleep(&t, NULL);
}

static bool gets_image(const char *name)
{
	for (int i = 0; i < 1500; i++) {
		if (has_image(name))
			return true;
		pause_ms(20);
	}
	return false;
}

/* Does @pid have the folder of images open? */
static bool holds_images(const char *pid)
{
	char path[300], to[700];
	const struct dirent *de;
	bool holds = false;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%s/fd", pid);
	d = opendir(path);
	while (d && (de = readdir(d)) != NULL) {
		ssize_t n;

		n = readlinkat(dirfd(d), de->d_name, to, sizeof(to) - 1);
		to[n > 0 ? n : 0] = '\0';
		holds |= strstr(to, dir) && strstr(to, "/images");
	}
	if (d)
		closedir(d);
	return holds;
}

/* Companions of this test. */
static int companions(void)
{
	DIR *d = opendir("/proc");
	const struct dirent *de;
	int n = 0;

	while ((de = readdir(d)) != NULL) {
		char path[300], comm[32] = "";
		FILE *f;

		snprintf(path, sizeof(path), "/proc/%s/comm", de->d_name);
		f = atoi(de->d_name) > 0 ? fopen(path, "r") : NULL;
		if (f && fgets(comm, sizeof(comm), f) && !strcmp(comm, "hotvar-images\n"))
			n += holds_images(de->d_name);
		if (f)
			fclose(f);
	}
	closedir(d);
	return n;
}

struct session {
	pid_t stap;
	int in;	  /* of the program */
	int held; /* what stap had open beside */
};

/* Begin "stap"; what it is to follow is @program, or with NULL the child of stapio. */
static void start(struct session *s, const char *name, const char *program, pid_t pid)
{
	int in[2], held[2];

	assert_int_equal(pipe(in), 0);
	assert_int_equal(pipe(held), 0);
	s->stap = fork();
	assert_true(s->stap >= 0);
	if (!s->stap) {
		struct stap_notes notes = { 0 };
		struct stap_images im;
		struct stap_targets t;
		struct err e = { 0, "" };
		struct stat st;

		dup2(in[0], 0);
		close(in[0]);
		close(in[1]);
		close(held[0]);
		if (stap_images_open(&im, at("images"), &e))
			_exit(90);
		stap_targets_init(&t, &im, &notes);
		if (program) {
			t.programs = calloc(1, sizeof(*t.programs));
			if (stat(program, &st))
				_exit(91);
			t.programs[0] = (struct stap_program){ st.st_dev, st.st_ino };
			t.n_programs = 1;
		}
		if (pid) {
			t.pids = malloc(sizeof(*t.pids));
			t.pids[0] = pid;
			t.n_pids = 1;
		}
		if (stap_companion_start(&t, false, &e))
			_exit(92);
		/* no child of stap's is the companion */
		if (waitpid(-1, NULL, WNOHANG) != -1 || errno != ECHILD)
			_exit(93);
		execl(at(name), name, "-c", "\"$TEST_TARGET\" \"$TEST_PLUG\"; exit $?", (char *)NULL);
		_exit(94);
	}
	close(in[0]);
	close(held[1]);
	s->in = in[1];
	s->held = held[0];
}

/* Let the program end, and stap with it: status 7, files closed, companion gone. */
static void finish(struct session *s)
{
	int status;
	char c;

	assert_int_equal(write(s->in, "x", 1), 1);
	assert_int_equal(waitpid(s->stap, &status, 0), s->stap);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 7);
	assert_int_equal(read(s->held, &c, 1), 0);
	close(s->in);
	close(s->held);
	for (int i = 0; i < 500 && companions(); i++)
		pause_ms(20);
	assert_int_equal(companions(), 0);
}

static void nothing_unfinished(void)
{
	DIR *d = opendir(at("images"));
	const struct dirent *de;

	while ((de = readdir(d)) != NULL)
		assert_false(!strncmp(de->d_name, ".tmp", 4));
	closedir(d);
}

static void clear(void)
{
	char command[300];

	snprintf(command, sizeof(command), "rm -rf %s/images", dir);
	assert_int_equal(system(command), 0);
}

/* -c: the child of stapio. */
static void of_a_child(void **state)
{
	struct session s;

	(void)state;
	clear();
	start(&s, "stapio", NULL, 0);
	assert_true(gets_image("target"));
	assert_false(has_image("libplug.so"));
	assert_true(companions() >= 1); /* it, and maybe one that makes an image */
	assert_int_equal(write(s.in, "x", 1), 1);
	assert_true(gets_image("libplug.so"));
	finish(&s);
	nothing_unfinished();
}

/* A child of stap that is not of stapio is stap's own business: its compiler. */
static void not_of_others(void **state)
{
	struct session s, t;

	(void)state;
	clear();
	start(&s, "sh", NULL, 0);
	start(&t, "stapio", NULL, 0); /* for a companion's look to be surely over */
	assert_true(gets_image("target"));
	kill(t.stap, SIGKILL);
	waitpid(t.stap, NULL, 0);
	close(t.in);
	close(t.held);
	assert_int_equal(write(s.in, "x", 1), 1);
	pause_ms(1000); /* nothing can be waited for: what must not happen */
	assert_false(has_image("libplug.so"));
	finish(&s);
}

/* process("PROGRAM"): whoever runs it. */
static void of_a_program(void **state)
{
	struct session s;
	int in[2];
	pid_t other;

	(void)state;
	clear();
	assert_int_equal(pipe(in), 0);
	other = fork();
	if (!other) {
		dup2(in[0], 0);
		execl(at("target"), "target", at("libplug.so"), (char *)NULL);
		_exit(95);
	}
	start(&s, "sh", at("target"), 0);
	assert_true(gets_image("target"));
	assert_int_equal(write(in[1], "x", 1), 1);
	assert_true(gets_image("libplug.so"));
	assert_int_equal(write(in[1], "x", 1), 1);
	waitpid(other, NULL, 0);
	close(in[0]);
	close(in[1]);
	assert_int_equal(write(s.in, "x", 1), 1);
	finish(&s);
}

/* -x: the process and its children. */
static void of_a_process(void **state)
{
	struct session s;
	int in[2];
	pid_t other;

	(void)state;
	clear();
	assert_int_equal(pipe(in), 0);
	other = fork();
	if (!other) {
		dup2(in[0], 0);
		execl(at("sh"), "sh", "-c", "\"$TEST_TARGET\" \"$TEST_PLUG\"; exit $?", (char *)NULL);
		_exit(95);
	}
	start(&s, "sh", NULL, other);
	assert_true(gets_image("target"));
	assert_int_equal(write(in[1], "x", 1), 1);
	assert_true(gets_image("libplug.so"));
	assert_int_equal(write(in[1], "x", 1), 1);
	waitpid(other, NULL, 0);
	close(in[0]);
	close(in[1]);
	assert_int_equal(write(s.in, "x", 1), 1);
	finish(&s);
}

/* However stap ends. */
static void killed(void **state)
{
	struct session s;
	int status;

	(void)state;
	clear();
	start(&s, "stapio", NULL, 0);
	assert_true(gets_image("target"));
	kill(s.stap, SIGKILL);
	assert_int_equal(waitpid(s.stap, &status, 0), s.stap);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	close(s.in);
	close(s.held);
	for (int i = 0; i < 500 && companions(); i++)
		pause_ms(20);
	assert_int_equal(companions(), 0);
}

static int run_command(const char *fmt, ...)
{
	char command[1000];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(command, sizeof(command), fmt, ap);
	va_end(ap);
	return system(command);
}

static int begin(void **state)
{
	const char *cc = getenv("CC");

	if (temp_begin(state) || chmod(dir, 0755))
		return -1;
	put("target.c", source);
	put("plug.c", "int plug = 1;\n");
	setenv("XDG_CACHE_HOME", at("cache"), 1);
	setenv("TEST_TARGET", at("target"), 1);
	setenv("TEST_PLUG", at("libplug.so"), 1);
	return run_command("cd %s && cp -L /bin/sh stapio && cp -L /bin/sh sh && %s -Wl,--build-id -o target target.c -ldl && %s -Wl,--build-id -shared -fPIC -o libplug.so plug.c",
			   dir, cc ? cc : "cc", cc ? cc : "cc");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_a_child),	cmocka_unit_test(not_of_others), cmocka_unit_test(of_a_program),
		cmocka_unit_test(of_a_process), cmocka_unit_test(killed),
	};

	if (geteuid()) {
		puts("1..1\nok 1 - companion # SKIP symbol images for the kernel are root's to make");
		return 0;
	}
	return cmocka_run_group_tests(tests, begin, temp_end);
}
