// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * stap_ready.c - look at this machine with stap's eyes.
 */
#include "config.h"

#include "stap_ready.h"

#include <errno.h>
#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <linux/capability.h>
#include <unistd.h>

#include "stap_text.h"

#ifndef HOTVAR_TAPSETDIR
#define HOTVAR_TAPSETDIR "/usr/share/systemtap/tapset"
#endif
#ifndef HOTVAR_IMAGE_DIR
#define HOTVAR_IMAGE_DIR "/var/cache/hotvar"
#endif
#define RUNTIME_FILE "vma_runtime.stp"

__attribute__((format(printf, 4, 5))) static void say(struct stap_check *c, bool ok, const char *fix,
						      const char *fmt, ...)
{
	va_list ap;

	c->ok = ok;
	snprintf(c->fix, sizeof(c->fix), "%s", fix ? fix : "");
	va_start(ap, fmt);
	vsnprintf(c->what, sizeof(c->what), fmt, ap);
	va_end(ap);
}

static const char *running(void)
{
	static struct utsname u;

	return u.release[0] || !uname(&u) ? u.release : "?";
}

static const char *root = "";

void stap_ready_below(const char *dir)
{
	root = dir;
}

static bool is_there(const char *path)
{
	char whole[4096];

	snprintf(whole, sizeof(whole), "%s%s", root, path);
	return !access(whole, F_OK);
}

/* The first bytes of the file @path, below root; "" if there is none. */
static void first_of(const char *path, char *out, size_t n)
{
	char whole[4096];
	FILE *f;
	size_t got;

	snprintf(whole, sizeof(whole), "%s%s", root, path);
	f = fopen(whole, "re");
	got = f ? fread(out, 1, n - 1, f) : 0;
	out[got] = '\0';
	if (f)
		fclose(f);
}

/* ---- the kernel ---- */

void stap_check_modules(struct stap_check *c)
{
	char disabled[8];

	first_of("/proc/sys/kernel/modules_disabled", disabled, sizeof(disabled));
	if (!is_there("/proc/modules"))
		say(c, false, "hotvar itself needs none: hotvar -- CMD; for stap, boot a distribution's kernel",
		    "this kernel, %.100s, loads no modules", running());
	else if (disabled[0] == '1')
		say(c, false, "boot again: what set kernel.modules_disabled cannot be undone before",
		    "this kernel loads no more modules (kernel.modules_disabled is 1)");
	else
		say(c, true, NULL, "kernel %.100s loads modules", running());
}

void stap_check_signing(struct stap_check *c)
{
	const char *how = "see 'Secure Boot' in stap(1) and stap-server(8) for signed modules, or switch it off: mokutil --disable-validation, and boot";
	char lockdown[128], enforce[8];

	first_of("/sys/kernel/security/lockdown", lockdown, sizeof(lockdown));
	first_of("/sys/module/module/parameters/sig_enforce", enforce, sizeof(enforce));
	if (strstr(lockdown, "[integrity]") || strstr(lockdown, "[confidentiality]"))
		say(c, false, how, "this kernel is locked down, as Secure Boot does, and loads signed modules only");
	else if (enforce[0] == 'Y')
		say(c, false, how, "this kernel loads signed modules only (module.sig_enforce)");
	else
		say(c, true, NULL, "modules need no signature");
}

void stap_build_tree(const char *release, const char *sysroot, char *out, size_t n)
{
	if (release && *release == '/')
		snprintf(out, n, "%s", release);
	else
		snprintf(out, n, "%s%s/lib/modules/%s/build", root, sysroot ? sysroot : "",
			 release ? release : running());
}

/* A build tree says itself which kernel it is of. */
bool stap_is_running(const char *release)
{
	char path[4096], name[256], *text;

	if (!release)
		return true;
	if (*release != '/')
		return !strcmp(release, running());
	snprintf(path, sizeof(path), "%.4000s/include/config/kernel.release", release);
	text = stap_text_read(path, NULL);
	snprintf(name, sizeof(name), "%s", text ? text : "");
	free(text);
	name[strcspn(name, "\n")] = '\0';
	return !strcmp(name, running());
}

bool stap_is_native(const char *arch)
{
	struct utsname u;

	return !arch || (!uname(&u) && !strcmp(arch, u.machine));
}

/* Is @release called as the kernels of Debian and Ubuntu are, whose headers are packages?  6.12.118+deb13-amd64 */
static bool has_package(const char *release)
{
	static const char *const ends[] = { "-amd64", "-generic", "-lowlatency" };

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		size_t n = strlen(release), len = strlen(ends[i]);

		if (n > len && !strcmp(release + n - len, ends[i]))
			return true;
	}
	return false;
}

void stap_check_headers(struct stap_check *c, const char *release, const char *build)
{
	const char *of = release && *release != '/' ? release : running();
	char path[4096], fix[160];

	snprintf(path, sizeof(path), "%.4000s/Makefile", build);
	if (has_package(of))
		snprintf(fix, sizeof(fix), "apt-get install linux-headers-%.100s", of);
	else
		snprintf(fix, sizeof(fix), "give its build tree by -r DIR, or boot a kernel whose headers are a package: apt-get install linux-image-amd64 linux-headers-amd64");
	if (!access(path, R_OK))
		say(c, true, NULL, "the headers of kernel %.100s are in %.300s", release ? release : running(), build);
	else if (release && *release == '/')
		say(c, false, "name a kernel's build tree, or a release that /lib/modules has",
		    "-r %.200s is no build tree of a kernel", release);
	else
		say(c, false, fix, "the headers of kernel %.100s are not installed (no %.300s)",
		    release ? release : running(), build);
}

/* ---- the user ---- */

static bool in_group(const char *name)
{
	const struct group *g = getgrnam(name);
	gid_t list[NGROUPS_MAX > 65536 ? 65536 : NGROUPS_MAX];
	int n;

	if (!g)
		return false;
	if (getgid() == g->gr_gid || getegid() == g->gr_gid)
		return true;
	n = getgroups(sizeof(list) / sizeof(list[0]), list);
	for (int i = 0; i < n; i++)
		if (list[i] == g->gr_gid)
			return true;
	return false;
}

static bool may_load(void)
{
	struct __user_cap_header_struct head = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct data[2] = { { 0 } };

	return syscall(SYS_capget, &head, data) ||
	       (data[CAP_SYS_MODULE / 32].permitted & (1u << (CAP_SYS_MODULE % 32)));
}

void stap_check_rights(struct stap_check *c)
{
	const struct passwd *pw;
	char fix[200];

	if (!getuid()) {
		if (may_load())
			say(c, true, NULL, "root may load modules");
		else
			say(c, false, "run it on the host, or give the container CAP_SYS_MODULE",
			    "root may not load modules here (CAP_SYS_MODULE is missing: a container?)");
		return;
	}
	pw = getpwuid(getuid());
	snprintf(fix, sizeof(fix), "sudo hotvar stap ..., or as root: usermod -aG stapusr,stapdev %.60s, and log in again",
		 pw ? pw->pw_name : "USER");
	if (in_group("stapusr") && in_group("stapdev"))
		say(c, true, NULL, "a member of stapusr and stapdev may load modules by stap");
	else if (in_group("stapusr"))
		say(c, false, fix, "a member of stapusr, and not of stapdev, may only load modules that a compile server has signed");
	else
		say(c, false, fix, "only root and members of the groups stapusr and stapdev may load modules by stap");
}

/* ---- places ---- */

void stap_data_dir(const char *stap, char *out, size_t n)
{
	char real[PATH_MAX], path[PATH_MAX + 64], *slash;

	snprintf(out, n, "/usr/share/systemtap");
	if (!realpath(stap, real))
		return;
	for (int i = 0; i < 2; i++) {
		slash = strrchr(real, '/');
		if (!slash)
			return;
		*slash = '\0';
	}
	snprintf(path, sizeof(path), "%s/share/systemtap/runtime", real);
	if (!access(path, F_OK))
		snprintf(out, n, "%s/share/systemtap", real);
}

void stap_runtime_dir(const char *stap, char *out, size_t n)
{
	const char *env = getenv("SYSTEMTAP_RUNTIME");
	char data[PATH_MAX];

	if (env) {
		snprintf(out, n, "%s", env);
		return;
	}
	stap_data_dir(stap, data, sizeof(data));
	snprintf(out, n, "%s/runtime", data);
}

static bool has_tapset(const char *dir)
{
	char path[PATH_MAX + 64];

	snprintf(path, sizeof(path), "%s/" RUNTIME_FILE, dir);
	return !access(path, R_OK);
}

bool stap_tapset_dir(char *out, size_t n)
{
	char exe[PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	char *slash;

	exe[len < 0 ? 0 : len] = '\0';
	slash = strrchr(exe, '/');
	if (slash) {
		*slash = '\0';
		snprintf(out, n, "%s/tapset", exe);
		if (has_tapset(out))
			return true;
	}
	snprintf(out, n, "%s", HOTVAR_TAPSETDIR);
	return has_tapset(out);
}

/* The tapset itself says it: #define HVK_IMAGE_DIR "/var/cache/hotvar" */
void stap_image_dir(const char *dir, char *out, size_t n)
{
	static const char define[] = "#define HVK_IMAGE_DIR \"";
	char path[PATH_MAX + 64], *text, *at, *end;

	snprintf(out, n, "%s", HOTVAR_IMAGE_DIR);
	snprintf(path, sizeof(path), "%s/" RUNTIME_FILE, dir);
	text = stap_text_read(path, NULL);
	at = text ? strstr(text, define) : NULL;
	if (at) {
		at += strlen(define);
		end = strchr(at, '"');
		if (end && end > at && *at == '/')
			snprintf(out, n, "%.*s", (int)(end - at), at);
	}
	free(text);
}
