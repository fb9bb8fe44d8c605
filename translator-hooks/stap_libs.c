// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * stap_libs.c - DT_NEEDED names, and the files they may be.
 *
 * The dynamic linker looks into RPATH or RUNPATH of whoever needs the library, LD_LIBRARY_PATH, its cache
 * and its own folders, and in each folder first into glibc-hwcaps/ for what this processor has.  We look into all
 * of them, and those of all files seen before.
 */
#include "config.h"

#include "stap_libs.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "elf_file.h"

static const char *const own_dirs[] = {
	"/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib64", "/usr/lib64",
	"/lib/i386-linux-gnu",	 "/usr/lib/i386-linux-gnu",   "/lib32", "/usr/lib32",
	"/lib",			 "/usr/lib",
};
static const char *const below[] = {
	"",
	"/glibc-hwcaps/x86-64-v2",
	"/glibc-hwcaps/x86-64-v3",
	"/glibc-hwcaps/x86-64-v4",
};
#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
enum { MOST_NEEDED = 4096, MOST_DIRS = 512 };

struct search {
	struct stap_libs *l;
	const struct elf_file *elf;
	void (*found)(void *ctx, const char *path);
	void (*absent)(void *ctx, const char *name);
	void *ctx;
};

/* Takes @dir. */
static int add_dir(struct stap_libs *l, char *dir)
{
	char **v;

	for (size_t i = 0; i < l->n_dirs; i++) {
		if (!strcmp(l->dirs[i], dir)) {
			free(dir);
			return 0;
		}
	}
	v = reallocarray(l->dirs, l->n_dirs + 1, sizeof(*v));
	if (!v) {
		free(dir);
		return -ENOMEM;
	}
	v[l->n_dirs++] = dir;
	l->dirs = v;
	return 0;
}

/* One of $ORIGIN, ${LIB} and so on at @at: what it stands for, *@len its length there; NULL: none. */
static const char *token(const char *at, const char *origin, size_t *len)
{
	const char *const names[] = { "ORIGIN", "LIB", "PLATFORM" };
	const char *const values[] = { origin, "lib/x86_64-linux-gnu", "x86_64" };

	for (size_t i = 0; i < COUNT(names); i++) {
		size_t n = strlen(names[i]);
		bool braced = at[1] == '{';

		if (strncmp(at + 1 + braced, names[i], n) || (braced && at[2 + n] != '}'))
			continue;
		*len = 1 + n + 2 * braced;
		return values[i];
	}
	return NULL;
}

/* The @n bytes at @dir with its tokens replaced; malloc'd, or NULL. */
static char *expand(const char *dir, size_t n, const char *origin)
{
	char *out = NULL;
	size_t size = 0, len;
	FILE *f = open_memstream(&out, &size);

	if (!f)
		return NULL;
	for (size_t i = 0; i < n; i++) {
		const char *t = dir[i] == '$' ? token(dir + i, origin, &len) : NULL;

		if (t && len <= n - i) {
			fputs(t, f);
			i += len - 1;
		} else {
			fputc(dir[i], f);
		}
	}
	if (fclose(f)) {
		free(out);
		return NULL;
	}
	return out;
}

/*
 * A list of folders with colons between them; an empty one is the folder we are in.  A file may name any number, each of
 * which is asked for each library: no more than MOST_DIRS.
 */
static int add_dirs(struct stap_libs *l, const char *list, const char *origin)
{
	for (; l->n_dirs < MOST_DIRS; list++) {
		size_t n = strcspn(list, ":;");
		char *dir = n ? expand(list, n, origin) : strdup(".");
		int r = dir ? add_dir(l, dir) : -ENOMEM;

		if (r)
			return r;
		list += n;
		if (!*list)
			return 0;
	}
	return 0;
}

static int prepare(struct stap_libs *l)
{
	const char *path = getenv("LD_LIBRARY_PATH");
	int r = 0;

	if (l->ready)
		return 0;
	l->ready = true;
	stap_ldcache_read(&l->cache, "/etc/ld.so.cache");
	if (path && *path)
		r = add_dirs(l, path, ".");
	for (size_t i = 0; i < COUNT(own_dirs) && !r; i++) {
		char *dir = strdup(own_dirs[i]);

		r = dir ? add_dir(l, dir) : -ENOMEM;
	}
	return r;
}

void stap_libs_fini(struct stap_libs *l)
{
	stap_ldcache_fini(&l->cache);
	for (size_t i = 0; i < l->n_dirs; i++)
		free(l->dirs[i]);
	free(l->dirs);
	*l = (struct stap_libs){ 0 };
}

/* Is @path an ELF file of @s's class and machine? */
static bool fits(const struct search *s, const char *path)
{
	unsigned char head[20];
	struct stat st;
	int fd;
	bool r;

	if (stat(path, &st) || !S_ISREG(st.st_mode))
		return false;
	fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return false;
	r = pread(fd, head, sizeof(head), 0) == (ssize_t)sizeof(head) &&
	    !memcmp(head, ELFMAG, SELFMAG) &&
	    head[EI_CLASS] == (s->elf->is32 ? ELFCLASS32 : ELFCLASS64) &&
	    (head[18] | head[19] << 8) == s->elf->eh.e_machine;
	close(fd);
	return r;
}

static bool try(const struct search *s, const char *path)
{
	if (!fits(s, path))
		return false;
	s->found(s->ctx, path);
	return true;
}

static void look_for(const struct search *s, const char *name)
{
	const struct stap_libs *l = s->l;
	const char *cached;
	bool any = false;
	size_t at = 0;
	char path[4096];

	if (!*name)
		return;
	if (strchr(name, '/')) {
		if (!try(s, name))
			s->absent(s->ctx, name);
		return;
	}
	while ((cached = stap_ldcache_next(&l->cache, name, &at)) != NULL)
		any |= try(s, cached);
	for (size_t i = 0; i < l->n_dirs; i++) {
		for (size_t k = 0; k < COUNT(below); k++) {
			int n = snprintf(path, sizeof(path), "%s%s/%s", l->dirs[i], below[k], name);

			if (n > 0 && (size_t)n < sizeof(path))
				any |= try(s, path);
		}
	}
	if (!any)
		s->absent(s->ctx, name);
}

/* ---- the dynamic section ---- */

static const Elf64_Phdr *find_segment(const struct elf_file *f, uint32_t type)
{
	for (uint32_t i = 0; i < f->n_ph; i++)
		if (f->ph[i].p_type == type)
			return &f->ph[i];
	return NULL;
}

/* The table of strings that the dynamic section @d names, NUL behind it, *@size bytes; NULL: none. */
static char *strings(const struct elf_file *f, Elf_Data *d, uint64_t *size)
{
	uint64_t vaddr = 0, offset, left;
	char *out = NULL;
	GElf_Dyn dyn;

	*size = 0;
	for (int i = 0; gelf_getdyn(d, i, &dyn) && dyn.d_tag != DT_NULL; i++) {
		if (dyn.d_tag == DT_STRTAB)
			vaddr = dyn.d_un.d_ptr;
		else if (dyn.d_tag == DT_STRSZ)
			*size = dyn.d_un.d_val;
	}
	if (!vaddr || !elf_file_vaddr(f, vaddr, &offset, &left) || *size > left ||
	    elf_file_get(f, offset, *size, &out, NULL))
		return NULL;
	return out;
}

/* The folder that @path is in, for $ORIGIN; malloc'd, or NULL. */
static char *origin_of(const char *path)
{
	char *real = realpath(path, NULL), *slash;

	if (!real)
		real = strdup(path);
	slash = real ? strrchr(real, '/') : NULL;
	if (slash)
		slash[slash == real] = '\0';
	return real;
}

static int each_needed(const struct search *s, Elf_Data *d, const char *strs, uint64_t size,
		       const char *path)
{
	char *origin = origin_of(path);
	GElf_Dyn dyn;
	int r = origin ? 0 : -ENOMEM, i, n = 0;

	for (i = 0; !r && gelf_getdyn(d, i, &dyn) && dyn.d_tag != DT_NULL; i++)
		if ((dyn.d_tag == DT_RPATH || dyn.d_tag == DT_RUNPATH) && dyn.d_un.d_val < size)
			r = add_dirs(s->l, strs + dyn.d_un.d_val, origin);
	for (i = 0; !r && gelf_getdyn(d, i, &dyn) && dyn.d_tag != DT_NULL && n < MOST_NEEDED; i++) {
		char *name;

		if ((dyn.d_tag != DT_NEEDED && dyn.d_tag != DT_AUXILIARY &&
		     dyn.d_tag != DT_FILTER) || dyn.d_un.d_val >= size)
			continue;
		n++;
		name = expand(strs + dyn.d_un.d_val, strlen(strs + dyn.d_un.d_val), origin);
		if (name)
			look_for(s, name);
		else
			r = -ENOMEM;
		free(name);
	}
	free(origin);
	return r;
}

static void interpreter(const struct search *s)
{
	const Elf64_Phdr *ph = find_segment(s->elf, PT_INTERP);
	char *name;

	if (!ph || ph->p_filesz > 4096 ||
	    elf_file_get(s->elf, ph->p_offset, ph->p_filesz, &name, NULL))
		return;
	if (*name == '/' && !try(s, name))
		s->absent(s->ctx, name);
	free(name);
}

static void preloaded(const struct search *s, char *list)
{
	char *save, *name;

	for (name = strtok_r(list, " :\t\n", &save); name; name = strtok_r(NULL, " :\t\n", &save))
		look_for(s, name);
}

/* LD_PRELOAD and /etc/ld.so.preload. */
static void preloads(const struct search *s)
{
	const char *env = getenv("LD_PRELOAD");
	char *list = env ? strdup(env) : NULL, text[4096];
	FILE *f;
	size_t n;

	if (list)
		preloaded(s, list);
	free(list);
	f = fopen("/etc/ld.so.preload", "re");
	if (!f)
		return;
	n = fread(text, 1, sizeof(text) - 1, f);
	text[n] = '\0';
	preloaded(s, text);
	fclose(f);
}

int stap_libs_each(struct stap_libs *l, int fd, const char *path, bool program,
		   void (*found)(void *ctx, const char *path),
		   void (*absent)(void *ctx, const char *name), void *ctx)
{
	struct elf_file elf;
	struct search s = { l, &elf, found, absent, ctx };
	const Elf64_Phdr *dynamic;
	Elf_Data *d = NULL;
	uint64_t size;
	char *strs;
	int r = prepare(l);

	if (r || elf_file_open(&elf, fd, NULL, 0, path, false, NULL))
		return r;
	dynamic = find_segment(&elf, PT_DYNAMIC);
	interpreter(&s);
	if (dynamic && !elf_file_data(&elf, dynamic->p_offset, dynamic->p_filesz, ELF_T_DYN, &d, NULL)) {
		strs = strings(&elf, d, &size);
		if (strs)
			r = each_needed(&s, d, strs, size, path);
		free(strs);
		if (!r && program)
			preloads(&s);
	}
	elf_file_close(&elf);
	return r;
}
