// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * probe_stap.c - what this machine can do for `hotvar stap`.
 */
#include "config.h"

#include "probe.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launch.h"
#include "translator-hooks/stap_ready.h"
#include "translator-hooks/stap_runtime.h"

/* The command stap, "" if there is none. */
static void find_stap(char *out, size_t n)
{
	char *argv[] = { "stap", NULL };
	struct launch l;

	snprintf(out, n, "%s", launch_find(&l, argv, NULL) ? "" : l.path);
}

/* Systemtap translator/driver (version 4.8/0.188, Debian version 4.8-2) */
static void version_of(char *out, size_t n)
{
	FILE *p = popen("stap --version 2>&1 < /dev/null", "re");
	char line[256] = "", *at, *end;

	if (p && fgets(line, sizeof(line), p))
		line[strcspn(line, "\n")] = '\0';
	while (p && fgetc(p) != EOF)
		;
	if (p)
		pclose(p);
	at = strstr(line, "(version ");
	end = at ? strchr(at, ')') : NULL;
	snprintf(out, n, "%.*s", end ? (int)(end - at - 1) : 0, end ? at + 1 : "");
}

void probe_stap(struct probe_result *r)
{
	char stap[PATH_MAX], version[200], tapset[PATH_MAX];

	find_stap(stap, sizeof(stap));
	if (!*stap) {
		probe_say(r, PROBE_NO, "apt-get install systemtap", "stap is not installed");
		return;
	}
	version_of(version, sizeof(version));
	if (stap_tapset_dir(tapset, sizeof(tapset)))
		probe_say(r, PROBE_YES, NULL, "%.200s, %s; the vma tapset is in %.200s", stap,
			  *version ? version : "version not told", tapset);
	else
		probe_say(r, PROBE_NO, "make, or make install, where hotvar was built",
			  "%.200s is there, but the vma tapset is not in %.200s", stap, tapset);
}

static void tell(struct probe_result *r, const struct stap_check *c)
{
	probe_say(r, c->ok ? PROBE_YES : PROBE_NO, c->fix, "%.500s", c->what);
}

void probe_stap_modules(struct probe_result *r)
{
	struct stap_check c;

	stap_check_modules(&c);
	if (c.ok)
		stap_check_signing(&c);
	tell(r, &c);
}

void probe_stap_rights(struct probe_result *r)
{
	struct stap_check c;

	stap_check_rights(&c);
	tell(r, &c);
}

void probe_stap_headers(struct probe_result *r)
{
	char build[PATH_MAX];
	struct stap_check c;

	stap_build_tree(NULL, NULL, build, sizeof(build));
	stap_check_headers(&c, NULL, build);
	tell(r, &c);
}

void probe_stap_runtime(struct probe_result *r)
{
	char stap[PATH_MAX], dir[PATH_MAX], build[PATH_MAX], what[256];
	struct stap_check c;

	find_stap(stap, sizeof(stap));
	stap_build_tree(NULL, NULL, build, sizeof(build));
	stap_check_headers(&c, NULL, build);
	if (!*stap || !c.ok) {
		probe_say(r, PROBE_UNKNOWN, NULL, "that takes stap and the kernel's headers");
		return;
	}
	stap_runtime_dir(stap, dir, sizeof(dir));
	if (access(dir, R_OK))
		probe_say(r, PROBE_UNKNOWN, "apt-get install --reinstall systemtap", "stap's runtime is not in %.300s", dir);
	else if (stap_runtime_faults(dir, build, what, sizeof(what)))
		probe_say(r, PROBE_YES, NULL, "stap's own is at fault here: hotvar stap uses a copy with %.200s mended, plain stap does not",
			  what);
	else
		probe_say(r, PROBE_YES, NULL, "%.300s fits this kernel, as far as is known", dir);
}

void probe_stap_images(struct probe_result *r)
{
	char tapset[PATH_MAX], dir[PATH_MAX], fix[256];
	struct stat st;

	stap_tapset_dir(tapset, sizeof(tapset));
	stap_image_dir(tapset, dir, sizeof(dir));
	if (stat(dir, &st)) {
		probe_say(r, PROBE_NO, geteuid() ? "as root: hotvar stap --also PROGRAM" : "hotvar stap --also PROGRAM",
			  "there is no folder %.300s yet: no script has names", dir);
	} else if (!S_ISDIR(st.st_mode) || st.st_uid || (st.st_mode & (S_IWGRP | S_IWOTH))) {
		snprintf(fix, sizeof(fix), "as root: chown root '%.80s' && chmod 755 '%.80s'", dir, dir);
		probe_say(r, PROBE_NO, fix, "the kernel does not believe %.300s: it must be a folder of root's that nobody else may write to",
			  dir);
	} else {
		probe_say(r, PROBE_YES, NULL, "the kernel takes symbol images from %.300s%s", dir,
			  geteuid() ? "; root alone can put some there" : "");
	}
}
