// SPDX-License-Identifier: GPL-2.0-or-later
/* test_stap_ready.c - what is said of machines on which stap cannot run a script, and where its parts are. */
#include "config.h"

#include <grp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "testsuite/unit/temp_tree.h"
#include "translator-hooks/stap_ready.h"

static void modules(void **state)
{
	struct stap_check c;

	(void)state;
	stap_ready_below(dir);
	stap_check_modules(&c);
	assert_false(c.ok);
	assert_non_null(strstr(c.what, "loads no modules"));
	assert_non_null(strstr(c.fix, "hotvar -- CMD"));
	put("proc/modules", "");
	stap_check_modules(&c);
	assert_true(c.ok);
	put("proc/sys/kernel/modules_disabled", "1\n");
	stap_check_modules(&c);
	assert_false(c.ok);
	assert_non_null(strstr(c.fix, "boot"));
	put("proc/sys/kernel/modules_disabled", "0\n");
	stap_check_modules(&c);
	assert_true(c.ok);
}

static void signing(void **state)
{
	static const struct {
		const char *lockdown, *enforce;
		bool ok;
	} cases[] = {
		{ NULL, NULL, true },
		{ "[none] integrity confidentiality\n", "N\n", true },
		{ "none [integrity] confidentiality\n", "N\n", false },
		{ "none integrity [confidentiality]\n", "N\n", false },
		{ "[none] integrity confidentiality\n", "Y\n", false },
	};
	struct stap_check c;

	(void)state;
	stap_ready_below(dir);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (cases[i].lockdown) {
			put("sys/kernel/security/lockdown", cases[i].lockdown);
			put("sys/module/module/parameters/sig_enforce", cases[i].enforce);
		}
		stap_check_signing(&c);
		assert_int_equal(c.ok, cases[i].ok);
		assert_int_equal(c.fix[0] == '\0', cases[i].ok);
	}
}

static void headers(void **state)
{
	char build[600], want[800];
	struct stap_check c;
	struct utsname u;

	(void)state;
	stap_ready_below(dir);
	uname(&u);
	stap_build_tree(NULL, NULL, build, sizeof(build));
	snprintf(want, sizeof(want), "%s/lib/modules/%s/build", dir, u.release);
	assert_string_equal(build, want);
	stap_check_headers(&c, NULL, build);
	assert_false(c.ok);
	/* a kernel that somebody has built has no package */
	stap_build_tree("6.18.44-mine", NULL, build, sizeof(build));
	stap_check_headers(&c, "6.18.44-mine", build);
	assert_false(c.ok);
	assert_non_null(strstr(c.fix, "-r DIR"));
	assert_null(strstr(c.fix, "6.18.44"));
	stap_check_headers(&c, "6.12.118+deb13-cloud-amd64", build);
	assert_string_equal(c.fix, "apt-get install linux-headers-6.12.118+deb13-cloud-amd64");
	stap_build_tree("6.1.0-57-amd64", NULL, build, sizeof(build));
	stap_check_headers(&c, "6.1.0-57-amd64", build);
	assert_false(c.ok);
	assert_string_equal(c.fix, "apt-get install linux-headers-6.1.0-57-amd64");
	put("lib/modules/6.1.0-57-amd64/build/Makefile", "all:\n");
	stap_check_headers(&c, "6.1.0-57-amd64", build);
	assert_true(c.ok);
	stap_ready_below("");
	stap_build_tree("6.1.0-57-amd64", "/sys/root", build, sizeof(build));
	assert_string_equal(build, "/sys/root/lib/modules/6.1.0-57-amd64/build");
	stap_build_tree(at("none"), NULL, build, sizeof(build));
	assert_string_equal(build, at("none"));
	stap_check_headers(&c, at("none"), build);
	assert_false(c.ok);
	assert_non_null(strstr(c.what, "no build tree"));
}

static void running(void **state)
{
	struct utsname u;

	(void)state;
	uname(&u);
	assert_true(stap_is_running(NULL));
	assert_true(stap_is_running(u.release));
	assert_false(stap_is_running("1.2.3"));
	assert_false(stap_is_running(at("none")));
	put("tree/include/config/kernel.release", "1.2.3\n");
	assert_false(stap_is_running(at("tree")));
	strcat(u.release, "\n");
	put("tree/include/config/kernel.release", u.release);
	assert_true(stap_is_running(at("tree")));
	assert_true(stap_is_native(NULL));
	assert_true(stap_is_native(u.machine));
	assert_false(stap_is_native("s390x"));
}

/* In a process that has become nobody: in groups @g, or in none. */
static int rights_of_nobody(const gid_t *g, size_t n, char *fix, size_t size)
{
	struct stap_check c;
	int io[2], status;
	ssize_t got;
	pid_t pid;

	assert_int_equal(pipe(io), 0);
	pid = fork();
	if (!pid) {
		if (setgroups(n, g) || setgid(65534) || setuid(65534))
			_exit(99);
		stap_check_rights(&c);
		if (write(io[1], c.fix, strlen(c.fix)) < 0)
			_exit(98);
		_exit(c.ok);
	}
	close(io[1]);
	got = read(io[0], fix, size - 1);
	fix[got > 0 ? got : 0] = '\0';
	close(io[0]);
	waitpid(pid, &status, 0);
	return WEXITSTATUS(status);
}

static void rights(void **state)
{
	const struct group *g;
	struct stap_check c;
	gid_t both[2];
	char fix[256];

	(void)state;
	if (getuid()) {
		stap_check_rights(&c);
		assert_true(c.ok || c.fix[0]);
		skip();
	}
	stap_check_rights(&c);
	if (!c.ok)
		assert_non_null(strstr(c.what, "CAP_SYS_MODULE"));
	assert_int_equal(rights_of_nobody(NULL, 0, fix, sizeof(fix)), 0);
	assert_non_null(strstr(fix, "usermod -aG stapusr,stapdev nobody"));
	/* where systemtap is installed there are the groups */
	g = getgrnam("stapusr");
	if (!g)
		return;
	both[0] = g->gr_gid;
	assert_int_equal(rights_of_nobody(both, 1, fix, sizeof(fix)), 0);
	g = getgrnam("stapdev");
	if (!g)
		return;
	both[1] = g->gr_gid;
	assert_int_equal(rights_of_nobody(both, 2, fix, sizeof(fix)), 1);
}

static void places(void **state)
{
	char out[600];

	(void)state;
	put("usr/bin/stap", "");
	put("usr/share/systemtap/runtime/runtime.h", "");
	stap_data_dir(at("usr/bin/stap"), out, sizeof(out));
	assert_string_equal(out, at("usr/share/systemtap"));
	assert_int_equal(symlink(at("usr/bin/stap"), at("stap")), 0);
	stap_data_dir(at("stap"), out, sizeof(out));
	assert_string_equal(out, at("usr/share/systemtap"));
	stap_data_dir(at("nowhere/stap"), out, sizeof(out));
	assert_string_equal(out, "/usr/share/systemtap");
	unsetenv("SYSTEMTAP_RUNTIME");
	stap_runtime_dir(at("stap"), out, sizeof(out));
	assert_string_equal(out, at("usr/share/systemtap/runtime"));
	setenv("SYSTEMTAP_RUNTIME", "/mine", 1);
	stap_runtime_dir(at("stap"), out, sizeof(out));
	assert_string_equal(out, "/mine");
	unsetenv("SYSTEMTAP_RUNTIME");
}

static void images(void **state)
{
	static const struct {
		const char *text, *want;
	} cases[] = {
		{ "#ifndef HVK_IMAGE_DIR\n#define HVK_IMAGE_DIR \"/some/where\"\n#endif\n", "/some/where" },
		{ "#define HVK_IMAGE_DIR \"relative\"\n", NULL },
		{ "#define HVK_IMAGE_DIR \"/no end\n", NULL },
		{ "#define HVK_IMAGE_DIR \"\"\n", NULL },
		{ "", NULL },
	};
	char out[600], otherwise[600];

	(void)state;
	stap_image_dir(at("none"), otherwise, sizeof(otherwise));
	assert_int_equal(otherwise[0], '/');
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		put("tapset/vma_runtime.stp", cases[i].text);
		stap_image_dir(at("tapset"), out, sizeof(out));
		assert_string_equal(out, cases[i].want ? cases[i].want : otherwise);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(modules), cmocka_unit_test(signing), cmocka_unit_test(headers), cmocka_unit_test(running),
		cmocka_unit_test(rights),  cmocka_unit_test(places),  cmocka_unit_test(images),
	};

	return cmocka_run_group_tests(tests, temp_begin, temp_end);
}
