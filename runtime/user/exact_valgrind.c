// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "exact_valgrind.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launch.h"
#include "launch_find.h"
#include "translator-hooks/elf_file.h"

#define TOOL "hotvar-amd64-linux"
/* The program break's file, which a core without links to valgrind's own cannot do without. */
#define CORE "vgpreload_core-amd64-linux.so"

enum { PREFETCHES_LEN = 40 };

/* Is it there?  To @folder then. */
static bool is_folder(const char *above, const char *below, char folder[4096])
{
	char path[4096 + 64];

	snprintf(folder, 4096, "%.3000s%s", above, below);
	snprintf(path, sizeof(path), "%s/" TOOL, folder);
	return !access(path, X_OK);
}

/* Is @folder, where hotvar lies, the one that it was to be installed in? */
static bool is_in_place(const char *folder)
{
	struct stat here, there;

	return !stat(folder, &here) && !stat(HOTVAR_BINDIR, &there) && here.st_dev == there.st_dev && here.st_ino == there.st_ino;
}

/*
 * In the folder that hotvar was built in; where it was to be installed, if hotvar is, too; or where make install puts it
 * beside hotvar, in any tree; or where it was to be installed.
 */
static int find_tool(char folder[4096], struct err *e)
{
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *slash;

	self[n > 0 ? n : 0] = '\0';
	slash = strrchr(self, '/');
	if (slash) {
		*slash = '\0';
		if (is_folder(self, "/runtime/valgrind/lib", folder) || (is_in_place(self) && is_folder(HOTVAR_VALGRIND_DIR, "", folder)) ||
		    is_folder(self, "/../libexec/hotvar", folder))
			return 0;
	}
	if (is_folder(HOTVAR_VALGRIND_DIR, "", folder))
		return 0;
	return err_set(e, ENOENT,
		       "cannot count every access: hotvar's tool for valgrind, " TOOL ", is not where this hotvar was configured for, %s, nor in ../libexec/hotvar from %s: it is built where valgrind's headers are (apt-get install valgrind), then: configure --prefix=DIR, make and make install again",
		       HOTVAR_VALGRIND_DIR, slash ? self : "it");
}

int exact_valgrind_find(struct exact_valgrind *v, struct err *e)
{
	static char name[] = "valgrind";
	char *argv[] = { name, NULL };
	char path[PATH_MAX + 8];
	struct launch l = { .go_fd = -1, .why_fd = -1 };
	int err = find_tool(v->folder, e);

	if (err)
		return err;
	if (launch_find(&l, argv, NULL))
		return err_set(e, ENOENT, "cannot count every access: there is no valgrind along PATH: install it: apt-get install valgrind");
	/* Debian's command is a script that changes CMD's environment. */
	snprintf(path, sizeof(path), "%s.bin", l.path);
	snprintf(v->launcher, sizeof(v->launcher), "%.4000s", access(path, X_OK) ? l.path : path);
	snprintf(path, sizeof(path), "%.4000s/" CORE, v->folder);
	if (access(path, R_OK))
		return err_set(e, ENOENT, "cannot count every access: %s is not there: valgrind is not installed as it was when hotvar was: install it (apt-get install valgrind), then configure, make and install hotvar again",
			       path);
	return 0;
}

static bool is_32_bit(const unsigned char id[EI_NIDENT])
{
	return !memcmp(id, ELFMAG, SELFMAG) && id[EI_CLASS] == ELFCLASS32;
}

/* Its first bytes, or -errno. */
static int read_id(const char *path, unsigned char id[EI_NIDENT])
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), err = fd < 0 ? -errno : 0;

	memset(id, 0, EI_NIDENT);
	if (!err && pread(fd, id, EI_NIDENT, 0) < EI_NIDENT)
		memset(id, 0, EI_NIDENT);
	if (fd >= 0)
		close(fd);
	return err;
}

int exact_valgrind_can_run(const char *path, struct err *e)
{
	unsigned char id[EI_NIDENT];
	char interpreter[512];
	int code = -read_id(path, id);

	if (code && (code == EMFILE || code == ENFILE))
		return err_set(e, code, "cannot count the accesses of '%s': %s; raise: ulimit -n", path, strerror(code));
	if (launch_changes_ids(path))
		return err_set(e, EPERM, "cannot count the accesses of '%s': it is set-user-ID, set-group-ID or has capabilities, which valgrind cannot give it: run a copy without them, or leave out --exact", path);
	if (code)
		return err_set(e, EACCES, "cannot count the accesses of '%s': valgrind must read it, and may not: make it readable, or leave out --exact", path);
	if (is_32_bit(id))
		return err_set(e, ENOTSUP, "cannot count the accesses of '%s': it is a 32-bit program, and hotvar's tool for valgrind is for 64-bit ones: leave out --exact", path);
	if (launch_foresee(path, e))
		return -ENOEXEC;
	if (launch_interpreter(path, interpreter, sizeof(interpreter)) && !read_id(interpreter, id) && is_32_bit(id))
		return err_set(e, ENOTSUP, "cannot count the accesses of '%s': its interpreter '%s' is a 32-bit program, and hotvar's tool for valgrind is for 64-bit ones: leave out --exact", path, interpreter);
	return 0;
}

int exact_valgrind_failed(const char *name, int wait_status, struct err *e)
{
	int status = WEXITSTATUS(wait_status);

	if (WIFSIGNALED(wait_status))
		return err_exit(e, EINTR, 128 + WTERMSIG(wait_status),
				"cannot count the accesses of '%s': valgrind was ended by signal %d before the program began: run it again",
				name, WTERMSIG(wait_status));
	return err_exit(e, ECHILD, status == 126 || status == 127 ? status : 0,
			"cannot count the accesses of '%s': valgrind ended with status %d before the program began: mend what it says above, or leave out --exact",
			name, status);
}

bool exact_valgrind_keeps_malloc(const char *whose)
{
	return whose && !strcmp(whose, "program");
}

/*
 * Valgrind can tell inlined functions apart, but versions up to 3.19 at least complain of the debug information that
 * clang makes by default: with tables of addresses, which gcc makes for split files alone.
 */
static bool tells_inlined(const char *path)
{
	struct elf_file f;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool ok = true;

	if (fd >= 0 && !elf_file_open(&f, fd, NULL, 0, path, true, NULL)) {
		ok = !elf_file_section(&f, ".debug_addr") && !elf_file_section(&f, ".debug_str_offsets");
		elf_file_close(&f);
	}
	if (fd >= 0)
		close(fd);
	return ok;
}

char **exact_valgrind_argv(const struct exact_valgrind *v, char *const *argv, const char *path, const char *socket,
			   const char *whose)
{
	static const char *const options[] = {
		"--command-line-only=yes", /* none of ~/.valgrindrc */
		"--tool=hotvar", "--trace-children=yes", "--vgdb=no", "-q",
	};
	size_t n_options = sizeof(options) / sizeof(options[0]), n = 0, i, at = 0;
	char **out, *text, *synonym, *prefetches;
	size_t len = strlen(socket) + 32, synonym_len = (whose ? strlen(whose) : 0) + 64;
	bool keeps = exact_valgrind_keeps_malloc(whose);

	while (argv[n])
		n++;
	out = malloc((n + n_options + 12) * sizeof(*out) + len + synonym_len + PREFETCHES_LEN);
	if (!out)
		return NULL;
	text = (char *)(out + n + n_options + 12);
	synonym = text + len;
	prefetches = synonym + synonym_len;
	snprintf(text, len, "--hotvar-socket=%s", socket);
	out[at++] = (char *)v->launcher;
	for (i = 0; i < n_options; i++)
		out[at++] = (char *)options[i];
	out[at++] = text;
	if (v->prefetches) {
		snprintf(prefetches, PREFETCHES_LEN, "--hotvar-prefetches=%u", v->prefetches);
		out[at++] = prefetches;
	}
	if (v->callers)
		out[at++] = (char *)"--hotvar-callers=yes";
	if (v->lines) {
		out[at++] = (char *)"--hotvar-lines=yes";
		out[at++] = (char *)"--fair-sched=try"; /* each thread has its turn */
	}
	if (v->stopped)
		out[at++] = (char *)"--hotvar-stopped=yes";
	if (!keeps) {
		out[at++] = (char *)"--hotvar-malloc=yes";
		if (tells_inlined(path))
			out[at++] = (char *)"--read-inline-info=yes";
	}
	if (whose && !keeps) {
		snprintf(synonym, synonym_len, "--soname-synonyms=somalloc=%s", whose);
		out[at++] = synonym;
	}
	out[at++] = (char *)"--";
	for (i = 0; i < n; i++)
		out[at++] = argv[i];
	out[at] = NULL;
	return out;
}
