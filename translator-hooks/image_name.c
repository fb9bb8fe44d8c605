// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * image_name.c - how a variable, or a place that none covers, is written.
 */
#include "config.h"

#include "image_name.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rust_name.h"

/* A demangler recurses over a name, and a name may grow as it is demangled: bounds for both. */
#define MANGLED_MAX 8192
#define PLAIN_MAX   (16 << 20)

static bool keep_raw;

void image_name_raw(bool raw)
{
	keep_raw = raw;
}

/*
 * Can the plain form of @name be told to be of bearable length?  A reference
 * ("S0_", "T_") stands for any part before it, so a few of them, each made of the
 * one before twice or thrice, stand for gigabytes.  Growth is fastest when each
 * part names the last one three times.
 */
static bool bearable(const char *name)
{
	size_t len = strnlen(name, MANGLED_MAX + 1);
	double most = (double)len;
	unsigned refs = 0;

	if (len > MANGLED_MAX)
		return false;
	for (; *name; name++)
		refs += (name[0] == 'S' || name[0] == 'T') &&
			(name[1] == '_' || (name[1] >= '0' && name[1] <= '9') ||
			 (name[1] >= 'A' && name[1] <= 'Z'));
	for (; refs >= 3 && most <= PLAIN_MAX; refs -= 3)
		most *= 3;
	return most <= PLAIN_MAX;
}

/*
 * char *__cxa_demangle(const char *mangled, char *buffer, size_t *length,
 * int *status): Itanium C++ ABI, 3.4.  A C function of a library that most
 * machines have and hotvar must not depend on.
 */
typedef char *demangle_fn(const char *, char *, size_t *, int *);

/*
 * The demangler, loaded when first asked for; NULL: this machine has none.
 */
static demangle_fn *demangler(void)
{
	static demangle_fn *fn;
	static bool tried;

	if (!tried) {
		void *lib = dlopen("libstdc++.so.6", RTLD_NOW | RTLD_LOCAL);

		if (lib)
			*(void **)&fn = dlsym(lib, "__cxa_demangle");
		tried = true;
	}
	return fn;
}

/* What compilers put behind a variable's name ("_ZL5count.0", "_ZN3app1xE.lto_priv.1") is none of C++'s, and stays. */
static char *without_tail(demangle_fn *fn, const char *name)
{
	const char *dot = strchr(name, '.');
	char *own = dot ? strndup(name, (size_t)(dot - name)) : NULL, *plain, *out;
	int status;

	if (!own)
		return NULL;
	plain = fn(own, NULL, NULL, &status);
	free(own);
	if (!plain || asprintf(&out, "%s%s", plain, dot) < 0)
		out = NULL;
	free(plain);
	return out;
}

char *image_demangle(const char *name)
{
	demangle_fn *fn;
	char *plain;
	int status;

	if (name[0] != '_' || (name[1] != 'Z' && name[1] != 'R'))
		return NULL;
	plain = rust_name(name);
	if (plain || name[1] != 'Z' || !bearable(name))
		return plain;
	fn = demangler();
	plain = fn ? fn(name, NULL, NULL, &status) : NULL;
	return plain || !fn ? plain : without_tail(fn, name);
}

static char *name_of(const struct hvar_image *img, const struct hvar_image_sym *y, const char *tail)
{
	const char *raw = hvar_image_str(img, y->name);
	const char *file = hvar_image_str(img, y->file);
	char *plain = keep_raw ? NULL : image_demangle(raw), *out;
	int n;

	if (y->flags & HVAR_SYM_SAME_NAME && *file)
		n = asprintf(&out, "%s@%s%s", plain ? plain : raw, file, tail);
	else
		n = asprintf(&out, "%s%s", plain ? plain : raw, tail);
	free(plain);
	return n < 0 ? NULL : out;
}

char *image_name(const struct hvar_image *img, uint32_t symbol)
{
	return name_of(img, &img->syms[symbol], "");
}

char *image_name_tls(const struct hvar_image *img, uint32_t symbol)
{
	return name_of(img, &img->tls_syms[symbol], "@tls");
}

static char *symbol_name(const struct hvar_place *p, const struct hvar_image *img,
			 bool offset)
{
	char *name = p->flags & HVAR_PLACE_TLS ? image_name_tls(img, p->symbol) : image_name(img, p->symbol), *out;
	int n;

	if (!name || !offset || !p->offset)
		return name;
	n = asprintf(&out, "%s+0x%" PRIx64, name, p->offset);
	free(name);
	return n < 0 ? NULL : out;
}

/* "libfoo.so.1" of "/usr/lib/libfoo.so.1"; "[vdso]", "[anon:x]" as they are. */
static const char *short_name(const char *path)
{
	const char *slash = *path == '[' ? NULL : strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

char *image_place_name(const struct hvar_place *p, const struct hvar_image *img,
		       const char *path, bool offset)
{
	const char *module = path && *path ? short_name(path) : NULL;
	const char *section = p->section != HVAR_IMAGE_NONE && img ?
				      hvar_image_str(img, img->sections[p->section].name) : "";
	char *out;
	int n;

	if (p->symbol != HVAR_IMAGE_NONE && img)
		return symbol_name(p, img, offset);
	if (*section && module)
		n = asprintf(&out, "%s:%s+0x%" PRIx64, module, section,
			     p->vaddr - img->sections[p->section].vaddr);
	else if (module && p->flags & HVAR_PLACE_VADDR && p->kind != HVAR_KIND_UNMAPPED)
		n = asprintf(&out, "%s+0x%" PRIx64, module, p->vaddr);
	else if (module && p->kind == HVAR_KIND_FILE && p->flags & HVAR_PLACE_OFFSET)
		n = asprintf(&out, "%s[0x%" PRIx64 "]", module, p->file_offset);
	else if (module && *module == '[')
		n = asprintf(&out, "%s", module);
	else
		n = asprintf(&out, "[%s]", hvar_kind_name(p->kind));
	return n < 0 ? NULL : out;
}
