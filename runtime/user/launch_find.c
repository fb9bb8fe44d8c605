// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * launch_find.c - which file a command is, and why one cannot be executed.
 *
 * PATH is searched as execvp(3) does: the first file that may be executed; one
 * that may not is remembered and blamed only if nothing better follows.
 */
#include "config.h"

#include "launch.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "launch_find.h"

#define WORD_MAX 64 /* longest command name that a hint is sought for */

/* The first bytes of @path: how many were read, 0 if none could be. */
static size_t head_of(const char *path, unsigned char *buf, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t n;

	if (fd < 0)
		return 0;
	n = read(fd, buf, size);
	close(fd);
	return n < 0 ? 0 : (size_t)n;
}

bool launch_is_text(const char *path)
{
	unsigned char buf[256];
	size_t n = head_of(path, buf, sizeof(buf)), i;

	for (i = 0; i < n && buf[i] != '\n'; i++)
		if (!buf[i])
			return false;
	return !(n >= SELFMAG && !memcmp(buf, ELFMAG, SELFMAG));
}

/* ---- the nearest name ---- */

static unsigned min3(unsigned a, unsigned b, unsigned c)
{
	unsigned m = a < b ? a : b;

	return m < c ? m : c;
}

/* Letters to add, drop, change or swap with a neighbour to make @a of @b; more than @max: @max + 1. */
static unsigned distance(const char *a, const char *b, unsigned max)
{
	unsigned rows[3][WORD_MAX + 1], la = strlen(a), lb = strlen(b), i, j;

	if (la > WORD_MAX || lb > WORD_MAX || la > lb + max || lb > la + max)
		return max + 1;
	for (j = 0; j <= lb; j++)
		rows[0][j] = j;
	for (i = 1; i <= la; i++) {
		unsigned *now = rows[i % 3], *up = rows[(i + 2) % 3];
		const unsigned *up2 = rows[(i + 1) % 3];

		now[0] = i;
		for (j = 1; j <= lb; j++) {
			now[j] = min3(up[j] + 1, now[j - 1] + 1,
				      up[j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] &&
			    a[i - 2] == b[j - 1] && up2[j - 2] + 1 < now[j])
				now[j] = up2[j - 2] + 1;
		}
	}
	return rows[la % 3][lb];
}

/* The best so far of the names that look like @word. */
struct hint {
	const char *word;
	unsigned best; /* its distance; starts one past what counts as near */
	char name[WORD_MAX + 1];
};

static void hint_init(struct hint *h, const char *word)
{
	size_t n = strlen(word);

	h->word = word;
	h->best = n < 2 ? 0 : n / 4 + 2;
	h->name[0] = '\0';
}

/* Look at the programs of directory @dir. */
static void hint_dir(struct hint *h, const char *dir)
{
	DIR *d = h->best ? opendir(dir) : NULL;
	const struct dirent *de;

	if (!d)
		return;
	while ((de = readdir(d))) {
		unsigned far = distance(h->word, de->d_name, h->best);
		struct stat st;

		if (far > h->best || (far == h->best && (!h->name[0] ||
				      strcmp(de->d_name, h->name) >= 0)))
			continue;
		if (fstatat(dirfd(d), de->d_name, &st, 0) || !S_ISREG(st.st_mode) ||
		    faccessat(dirfd(d), de->d_name, X_OK, AT_EACCESS))
			continue;
		h->best = far;
		strcpy(h->name, de->d_name); /* distance() took no longer one */
	}
	closedir(d);
}

/* ---- why not ---- */

static bool on_noexec(const char *path)
{
	struct statvfs fs;

	return !statvfs(path, &fs) && (fs.f_flag & ST_NOEXEC);
}

/* Say why @path, which is there, is refused.  0 if nothing tells against it. */
static int refuse(const char *name, const char *path, const struct stat *st,
		  struct err *e)
{
	if (S_ISDIR(st->st_mode))
		return err_exit(e, EISDIR, 126,
				"cannot run '%s': it is a directory; name a program inside it",
				name);
	if (!S_ISREG(st->st_mode))
		return err_exit(e, EACCES, 126,
				"cannot run '%s': it is no regular file; name a program",
				name);
	if (!faccessat(AT_FDCWD, path, X_OK, AT_EACCESS))
		return 0;
	if (on_noexec(path))
		return err_exit(e, EACCES, 126,
				"cannot run '%s': its file system is mounted noexec; copy it elsewhere, or mount -o remount,exec",
				name);
	if (st->st_mode & 0111)
		return err_exit(e, EACCES, 126,
				"cannot run '%s': only others may execute it (mode %03o, owner %u); run as its owner or ask for permission",
				name, st->st_mode & 0777, st->st_uid);
	return err_exit(e, EACCES, 126,
			"cannot run '%s': it has no execute permission; chmod +x '%s', or run its interpreter with it as argument",
			name, path);
}

static int not_there(const char *name, const char *path, int code, struct err *e)
{
	const char *slash = strrchr(path, '/');
	char dir[4096];
	struct hint h;

	if (code != ENOENT)
		return err_exit(e, code, 126,
				"cannot run '%s': %s; check each part of the path",
				name, strerror(code));
	snprintf(dir, sizeof(dir), "%.*s", (int)(slash - path + 1), path);
	hint_init(&h, slash + 1);
	hint_dir(&h, dir);
	if (h.name[0])
		return err_exit(e, ENOENT, 127,
				"cannot run '%s': no such file; did you mean '%s%s'?",
				name, dir, h.name);
	return err_exit(e, ENOENT, 127,
			"cannot run '%s': no such file; check the path", name);
}

static int find_given(struct launch *l, const char *name, struct err *e)
{
	struct stat st;

	if (strlen(name) >= sizeof(l->path))
		return err_exit(e, ENAMETOOLONG, 126,
				"cannot run '%.60s...': the name is too long; give a path of fewer than %zu bytes",
				name, sizeof(l->path));
	strcpy(l->path, name);
	if (stat(name, &st))
		return not_there(name, name, errno, e);
	return refuse(name, name, &st, e);
}

/* Call @each for every directory of @path until it returns true. */
static bool each_dir(const char *path, bool (*each)(void *ctx, const char *dir),
		     void *ctx)
{
	for (;; path++) {
		size_t n = strcspn(path, ":");
		char dir[4096];

		if (n < sizeof(dir)) {
			memcpy(dir, path, n);
			dir[n] = '\0';
			if (each(ctx, n ? dir : "."))
				return true;
		}
		path += n;
		if (!*path)
			return false;
	}
}

struct search {
	const char *name;
	char path[4096];   /* of the file found */
	char denied[4096]; /* the first that was there but may not be executed */
	struct hint hint;
};

static bool search_dir(void *ctx, const char *dir)
{
	struct search *s = ctx;
	struct stat st;
	int n = snprintf(s->path, sizeof(s->path), "%s/%s", dir, s->name);

	if (n < 0 || (size_t)n >= sizeof(s->path) || stat(s->path, &st))
		return false;
	if (!refuse(s->name, s->path, &st, NULL))
		return true;
	if (!s->denied[0])
		strcpy(s->denied, s->path);
	return false;
}

static bool hint_in(void *ctx, const char *dir)
{
	struct search *s = ctx;

	hint_dir(&s->hint, dir);
	return false;
}

static int find_along(struct launch *l, const char *name, const char *path,
		      struct err *e)
{
	struct search s = { .name = name };
	struct stat st;

	if (each_dir(path, search_dir, &s)) {
		strcpy(l->path, s.path);
		return 0;
	}
	if (s.denied[0] && !stat(s.denied, &st))
		return refuse(s.denied, s.denied, &st, e);
	if (!stat(name, &st) && !refuse(name, name, &st, NULL))
		return err_exit(e, ENOENT, 127,
				"cannot run '%s': no such command in PATH; to run the one in this directory: ./%s",
				name, name);
	hint_init(&s.hint, name);
	each_dir(path, hint_in, &s);
	if (s.hint.name[0])
		return err_exit(e, ENOENT, 127,
				"cannot run '%s': no such command in PATH; did you mean '%s'?",
				name, s.hint.name);
	return err_exit(e, ENOENT, 127,
			"cannot run '%s': no such command in PATH; install it or give its path",
			name);
}

int launch_find(struct launch *l, char *const argv[], struct err *e)
{
	const char *path = getenv("PATH");

	*l = (struct launch){ .pid = -1, .go_fd = -1, .why_fd = -1 };
	if (!argv[0] || !argv[0][0])
		return err_exit(e, ENOENT, 127,
				"cannot run '': the command's name is empty; name a program");
	if (strchr(argv[0], '/'))
		return find_given(l, argv[0], e);
	return find_along(l, argv[0], path ? path : "/bin:/usr/bin", e);
}

/* ---- why exec failed ---- */

/* "#!/usr/bin/env -S x" -> "/usr/bin/env" */
bool launch_interpreter(const char *path, char *out, size_t size)
{
	char buf[256];
	size_t n = head_of(path, (unsigned char *)buf, sizeof(buf) - 1);
	char *p, *end;

	buf[n] = '\0';
	if (n < 2 || memcmp(buf, "#!", 2))
		return false;
	p = buf + 2;
	p += strspn(p, " \t");
	end = p + strcspn(p, " \t\n");
	*end = '\0';
	snprintf(out, size, "%s", p);
	return true;
}

/* The loader that a 32- or 64-bit ELF file asks for; "" if none. */
static void loader_of(const char *path, char *out, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	union {
		Elf64_Ehdr e64;
		Elf32_Ehdr e32;
	} h;
	bool wide;
	unsigned i, n;

	out[0] = '\0';
	if (fd < 0)
		return;
	if (pread(fd, &h, sizeof(h), 0) != (ssize_t)sizeof(h)) {
		close(fd);
		return;
	}
	wide = h.e64.e_ident[EI_CLASS] == ELFCLASS64;
	n = wide ? h.e64.e_phnum : h.e32.e_phnum;
	for (i = 0; i < n && !out[0]; i++) {
		uint64_t at = wide ? h.e64.e_phoff + i * sizeof(Elf64_Phdr) :
				     h.e32.e_phoff + i * sizeof(Elf32_Phdr);
		union {
			Elf64_Phdr p64;
			Elf32_Phdr p32;
		} p;
		size_t len = wide ? sizeof(p.p64) : sizeof(p.p32);
		uint64_t off, filesz;

		if (pread(fd, &p, len, (off_t)at) != (ssize_t)len)
			break;
		if ((wide ? p.p64.p_type : p.p32.p_type) != PT_INTERP)
			continue;
		off = wide ? p.p64.p_offset : p.p32.p_offset;
		filesz = wide ? p.p64.p_filesz : p.p32.p_filesz;
		if (filesz < 2 || filesz > size ||
		    pread(fd, out, filesz, (off_t)off) != (ssize_t)filesz)
			out[0] = '\0';
		else
			out[filesz - 1] = '\0';
	}
	close(fd);
}

static const char *machine_name(unsigned machine)
{
	switch (machine) {
	case EM_386: return "32-bit x86";
	case EM_X86_64: return "x86-64";
	case EM_ARM: return "32-bit ARM";
	case EM_AARCH64: return "AArch64";
	case EM_RISCV: return "RISC-V";
	case EM_PPC64: return "64-bit PowerPC";
	case EM_S390: return "s390";
	case EM_MIPS: return "MIPS";
	default: return "another machine";
	}
}

static int bad_format(const char *path, struct err *e)
{
	unsigned char b[sizeof(Elf64_Ehdr)] = { 0 };
	size_t n = head_of(path, b, sizeof(b));
	unsigned machine;

	if (n < SELFMAG || memcmp(b, ELFMAG, SELFMAG))
		return err_exit(e, ENOEXEC, 126,
				"cannot run '%s': it is neither an ELF program nor a script; run the program that reads it",
				path);
	machine = b[EI_DATA] == ELFDATA2MSB ? b[18] << 8 | b[19] : b[19] << 8 | b[18];
	if (n < sizeof(Elf32_Ehdr) || machine == EM_X86_64)
		return err_exit(e, ENOEXEC, 126,
				"cannot run '%s': the ELF file is damaged or no program (a library or object file?); build or install it again",
				path);
	if (machine == EM_386)
		return err_exit(e, ENOEXEC, 126,
				"cannot run '%s': it is a 32-bit program and this kernel refuses it; boot with ia32_emulation=1, or mend the file if it is damaged",
				path);
	return err_exit(e, ENOEXEC, 126,
			"cannot run '%s': it is a program for %s and this machine is x86-64; build it for this machine",
			path, machine_name(machine));
}

static int no_interpreter(const char *path, struct err *e)
{
	char name[512];

	if (launch_interpreter(path, name, sizeof(name)))
		return err_exit(e, ENOENT, 126,
				"cannot run '%s': its interpreter '%s' does not exist; install it or mend the script's first line",
				path, name);
	loader_of(path, name, sizeof(name));
	if (name[0])
		return err_exit(e, ENOENT, 126,
				"cannot run '%s': its loader '%s' does not exist; install the C library of its architecture",
				path, name);
	return err_exit(e, ENOENT, 127,
			"cannot run '%s': the file is gone; look whether something replaces it",
			path);
}

int launch_explain(const char *path, int code, struct err *e)
{
	char name[512];
	struct stat st;
	int err;

	switch (code) {
	case ENOENT:
		return no_interpreter(path, e);
	case ENOEXEC:
		return bad_format(path, e);
	case ETXTBSY:
		return err_exit(e, code, 126,
				"cannot run '%s': it is open for writing; see who writes it with: fuser -v '%s'",
				path, path);
	case E2BIG:
		return err_exit(e, code, 126,
				"cannot run '%s': arguments and environment are too long; pass fewer, or raise: ulimit -s",
				path);
	case EACCES:
		if (!stat(path, &st)) {
			err = refuse(path, path, &st, e);
			if (err)
				return err;
		}
		if (launch_interpreter(path, name, sizeof(name)))
			return err_exit(e, code, 126,
					"cannot run '%s': its interpreter '%s' may not be executed; mend the script's first line",
					path, name);
		break;
	}
	return err_exit(e, code, 126,
			"cannot run '%s': %s; try it without hotvar to see whether that helps",
			path, strerror(code));
}

/* An ELF file for this machine, as far as its head tells; one of 32 bits is for others to judge. */
static bool is_for_us(const char *path)
{
	unsigned char b[sizeof(Elf64_Ehdr)] = { 0 };
	size_t n = head_of(path, b, sizeof(b));

	return n >= (b[EI_CLASS] == ELFCLASS32 ? sizeof(Elf32_Ehdr) : sizeof(Elf64_Ehdr)) && !memcmp(b, ELFMAG, SELFMAG) && b[EI_DATA] == ELFDATA2LSB &&
	       ((b[19] << 8 | b[18]) == EM_X86_64 || (b[19] << 8 | b[18]) == EM_386);
}

int launch_foresee(const char *path, struct err *e)
{
	char name[512];

	if (launch_interpreter(path, name, sizeof(name))) {
		if (access(name, F_OK))
			return launch_explain(path, ENOENT, e);
		return access(name, X_OK) ? launch_explain(path, EACCES, e) : 0;
	}
	if (launch_is_text(path))
		return 0;
	if (!is_for_us(path))
		return launch_explain(path, ENOEXEC, e);
	loader_of(path, name, sizeof(name));
	return name[0] && access(name, F_OK) ? launch_explain(path, ENOENT, e) : 0;
}

bool launch_changes_ids(const char *path)
{
	struct statvfs fs;
	struct stat st;

	if (stat(path, &st) || prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 ||
	    (!statvfs(path, &fs) && (fs.f_flag & ST_NOSUID)))
		return false;
	if ((st.st_mode & S_ISUID) && st.st_uid != geteuid())
		return true;
	if ((st.st_mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP) &&
	    st.st_gid != getegid())
		return true;
	return geteuid() && getxattr(path, "security.capability", NULL, 0) > 0;
}

const char *launch_unreadable(const char *path)
{
	/* It would be read in the process's memory (fs/exec.c, would_dump()). */
	if (!faccessat(AT_FDCWD, path, R_OK, AT_EACCESS) || errno != EACCES)
		return NULL;
	return "CMD may be executed but not read: from its exec on the kernel tells of it to root alone, so it is not measured; run hotvar as root, or make CMD readable";
}
