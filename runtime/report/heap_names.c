// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "heap_names.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

size_t heap_names_frames(const char *text, size_t len, struct heap_frame *v, size_t max)
{
	const char *s[5];
	size_t n = 0, at = 0, i;

	while (n < max && at < len) {
		for (i = 0; i < 5; i++) {
			s[i] = at < len ? text + at : "";
			at += strlen(s[i]) + 1;
		}
		v[n++] = (struct heap_frame){ s[0], s[1], s[3], strtoull(s[2], NULL, 10), strtoull(s[4], NULL, 16) };
	}
	return n;
}

/* ---- wrappers ---- */

#define ANONYMOUS "(anonymous namespace)"

static bool begins(const char *name, const char *with)
{
	return !strncmp(name, with, strlen(with));
}

/* Of "int *ns::f<a b>(char, int)" that is "ns::f<a b>": without what it returns and takes. */
static void plain(const char *name, const char **start, size_t *len)
{
	size_t depth = 0, i, end = strlen(name), from = 0;

	for (i = 0; name[i]; i++) {
		if (!strncmp(name + i, "operator", 8))
			break;
		if (begins(name + i, ANONYMOUS))
			i += strlen(ANONYMOUS) - 1;
		else if (name[i] == '<')
			depth++;
		else if (name[i] == '>' && depth)
			depth--;
		else if (name[i] == ' ' && !depth)
			from = i + 1;
		else if (name[i] == '(' && !depth && i) {
			end = i;
			break;
		}
	}
	while (from < end && (name[from] == '*' || name[from] == '&'))
		from++;
	if (from >= end) /* "(below main)" */
		from = 0;
	*start = name + from;
	*len = end - from;
}

static bool in_a_library_of_its_language(const char *name)
{
	static const char *const spaces[] = {
		"operator new", "std::", "__gnu_cxx::", "alloc::", "core::", "<alloc::", "<core::", "<std::", "__rust_", "__rdl_", "__rg_",
	};
	size_t i;

	for (i = 0; i < sizeof(spaces) / sizeof(spaces[0]); i++)
		if (begins(name, spaces[i]))
			return true;
	return false;
}

/* Inlined functions have no namespace in what is told of them, but a file. */
static bool file_of_standard_library(const char *file)
{
	static const char *const files[] = {
		"new_allocator.h", "alloc_traits.h", "allocator.h", "allocated_ptr.h", "basic_string.h", "hashtable.h", "hashtable_policy.h",
		"unordered_map.h", "unordered_set.h", "shared_ptr.h", "shared_ptr_base.h", "unique_ptr.h", "list.tcc", "vector.tcc", "deque.tcc",
		"basic_string.tcc", "forward_list.h", "forward_list.tcc",
	};
	size_t i;

	if (begins(file, "stl_") || begins(file, "std_"))
		return true;
	for (i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		if (!strcmp(file, files[i]))
			return true;
	return false;
}

static bool names_an_allocator(const char *name, size_t len)
{
	static const char *const inside[] = { "malloc", "calloc", "realloc", "memalign" };
	static const char *const exact[] = { "mmap", "mmap64", "__mmap", "mremap" };
	static const char *const last[] = { "alloc", "allocate", "strdup", "strndup", "wcsdup", "memdup" };
	char low[64];
	size_t i, n, start;

	/* Of "a::b<c>::d<e>" that is "d". */
	for (i = n = 0, start = 0; i < len; i++) {
		n += name[i] == '<';
		n -= name[i] == '>' && n;
		if (name[i] == ':' && !n)
			start = i + 1;
	}
	name += start;
	for (len -= start, i = 0; i < len && name[i] != '<'; i++)
		;
	len = i;
	if (len >= sizeof(low))
		return false;
	for (n = 0; n < sizeof(exact) / sizeof(exact[0]); n++)
		if (len == strlen(exact[n]) && !strncmp(name, exact[n], len))
			return true;
	for (i = 0; i < len && name[i] != '.'; i++) /* gcc's ".constprop.0" */
		low[i] = (char)tolower((unsigned char)name[i]);
	low[i] = '\0';
	for (n = 0; n < sizeof(inside) / sizeof(inside[0]); n++)
		if (strstr(low, inside[n]))
			return true;
	while (i && (low[i - 1] == '_' || isdigit((unsigned char)low[i - 1])))
		low[--i] = '\0';
	for (n = 0; n < sizeof(last) / sizeof(last[0]); n++)
		if (i >= strlen(last[n]) && !strcmp(low + i - strlen(last[n]), last[n]))
			return true;
	return false;
}

bool heap_names_wraps(const struct heap_frame *f, bool inlined)
{
	const char *name;
	size_t len;

	if (begins(base_name(f->module), "vgpreload_"))
		return true;
	plain(f->function, &name, &len);
	return in_a_library_of_its_language(name) || (inlined && file_of_standard_library(base_name(f->file))) ||
	       names_an_allocator(name, len);
}

/* ---- names ---- */

char *heap_names_make(const struct heap_frame *v, size_t n, bool mapped)
{
	const struct heap_frame *f = NULL;
	const char *function, *kind = mapped ? "mmap" : "heap";
	char *name;
	size_t i;
	int len, written;

	for (i = 0; i < n && !f; i++)
		if (!heap_names_wraps(&v[i], i + 1 < n && v[i].addr == v[i + 1].addr))
			f = &v[i];
	if (!f && n && !begins(base_name(v[n - 1].module), "vgpreload_"))
		f = &v[n - 1];
	if (!f)
		return strdup(mapped ? "mmap:[unknown]" : "heap:[unknown]");
	plain(f->function, &function, &i);
	len = i > 512 ? 512 : (int)i;
	if (len && f->line && *f->file)
		written = asprintf(&name, "%s:%.*s@%s:%" PRIu64, kind, len, function, base_name(f->file), f->line);
	else
		written = asprintf(&name, "%s:%.*s%s%s+0x%" PRIx64, kind, len, function, len ? "@" : "",
				   *f->module ? base_name(f->module) : "[unknown]", f->addr);
	return written < 0 ? NULL : name;
}
