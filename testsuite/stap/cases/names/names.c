// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * names.c - marks addresses, and prints what each function of the tapset is to say of them.
 *
 *	WANT TAG FUNCTION VALUE		FUNCTION of the address marked with TAG says VALUE
 *	SAME FUNCTION TAG TAG		it says the same of both
 *	DIFFER FUNCTION TAG TAG		it does not
 *	WALK NAME BIAS START END COUNT	so many addresses from START to END are marked (MARK_NAME): the nm of NAME says what they are
 */
#define _GNU_SOURCE
#include "mark.h"
#include <dlfcn.h>
#include <link.h>
#include <sys/wait.h>

int table[64] = { 7 };
static int hidden[32] = { 9 };
static char zeros[3 * 4096 + 100];
const char words[] = "read-only words, enough of them not to be merged";
const char *const relocated[16] = { words, words + 5 };
static int tag;
struct row { int n; struct { long hits, misses; } st; unsigned low : 3, high : 9; char tail[5]; } rows[4];

/* One line of /proc/self/maps, of the area that holds an address. */
struct area {
	unsigned long start, end, pgoff;
	char prot[8];
	char path[4096];
};

static __attribute__((noinline)) int area_of(const void *p, struct area *out)
{
	char line[4500];
	FILE *f = fopen("/proc/self/maps", "r");
	char *deleted;
	int found = 0;

	while (!found && fgets(line, sizeof(line), f)) {
		*out->path = '\0';
		sscanf(line, "%lx-%lx %7s %lx %*s %*s %4095[^\n]", &out->start, &out->end, out->prot, &out->pgoff, out->path);
		found = out->start <= (unsigned long)p && (unsigned long)p < out->end;
		deleted = strstr(out->path, " (deleted)");
		if (deleted)
			*deleted = '\0';
	}
	fclose(f);
	return found;
}

static void want_long(const char *function, unsigned long value)
{
	printf("WANT %d %s %ld\n", tag, function, (long)value);
}

static void want(const char *function, const char *value)
{
	printf("WANT %d %s %s\n", tag, function, value);
}

/* Where the first area begins that begins above @p. */
static unsigned long next_area(const void *p)
{
	unsigned long start, found = 0;
	char line[4500];
	FILE *f = fopen("/proc/self/maps", "r");

	while (!found && fgets(line, sizeof(line), f)) {
		start = strtoul(line, NULL, 16);
		if (start > (unsigned long)p && !strstr(line, "[vsyscall]"))
			found = start;
	}
	fclose(f);
	return found;
}

/* What is right for memory as /proc/self/maps has it, then the mark. */
static int address(const void *p, const char *kind, const char *module, const char *section, const char *symbol,
	const void *start, unsigned long size)
{
	char text[8192];
	struct area a;

	tag++;
	want("vma_kind", kind);
	if (module)
		want("vma_module", module);
	want("vma_section", section);
	want_long("vma_lost", 0);
	want_long("vma_access_samples", 0); /* this script has no such probe */
	want_long("vma_access_missed", 0);
	want_long("vma_fault_missed", 0);
	want_long("vma_next", next_area(p));
	want_long("vma_symaddr", (unsigned long)hidden);
	if (size || !symbol || *symbol == '[')
		want_long("vma_symsize", size);
	if (symbol) {
		want("vma_symname", symbol);
		if (start) {
			snprintf(text, sizeof(text), "%s+0x%lx/0x%lx [%s]", symbol,
				(unsigned long)((const char *)p - (const char *)start), size, module);
			want("vma_symdata", text);
		}
	}
	if (area_of(p, &a)) {
		want_long("vma_start", a.start);
		want_long("vma_end", a.end);
		want_long("vma_pgoff", *a.path == '/' ? a.pgoff / 4096 : 0);
		want("vma_path", a.path);
		want("vma_prot", a.prot);
	} else {
		want("vma_prot", "");
		want_long("vma_start", 0);
		want_long("vma_end", 0);
		want_long("vma_pgoff", 0);
		want("vma_path", "");
		snprintf(text, sizeof(text), "0x%lx", (unsigned long)p);
		want("vma_symname", text);
		want("vma_symdata", text);
	}
	fflush(stdout);
	mark(MARK_ADDRESS, (long)p, tag);
	return tag;
}

static int walk(struct dl_phdr_info *info, size_t size, void *which)
{
	const char *name = *info->dlpi_name ? info->dlpi_name : "names";
	int i;

	(void)size;
	if (strcmp(name, which))
		return 0;
	for (i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
		unsigned long at = info->dlpi_addr + ph->p_vaddr, end = at + ph->p_memsz, step;

		if (ph->p_type != PT_LOAD)
			continue;
		step = ph->p_memsz / 200 + 1;
		printf("WALK %s 0x%lx 0x%lx 0x%lx 0x%lx\n", strrchr(name, '/') ? strrchr(name, '/') + 1 : name,
			(unsigned long)info->dlpi_addr, at, end, (ph->p_memsz + step - 1) / step);
		for (; at < end; at += step)
			mark(MARK_NAME, at, 0);
	}
	return 0;
}

/* Members, as the compiler's own addresses have them. */
static void members(void)
{
	tag++;
	want("vma_member", "rows[2].st.misses");
	fflush(stdout);
	mark(MARK_ADDRESS, (long)&rows[2].st.misses, tag);
	tag++;
	want("vma_member", "rows[3].tail[4]");
	want("vma_symname", "rows");
	fflush(stdout);
	mark(MARK_ADDRESS, (long)&rows[3].tail[4], tag);
	tag++;
	want("vma_member", "table[63]");
	fflush(stdout);
	mark(MARK_ADDRESS, (long)&table[63] + 2, tag);
	tag++;
	want("vma_member", "[stack]");
	fflush(stdout);
	mark(MARK_ADDRESS, (long)__builtin_frame_address(0), tag);
}

/* Page facts: a page untouched, read, written; shared and copied by a fork. */
static void pages(void)
{
	char *p = map(4 * 4096, RW, ANON), *s = map(4096, RW, MAP_SHARED | MAP_ANONYMOUS);
	int a, b, c, go[2], done[2];
	pid_t child;
	char x = 0;

	*p = 1;
	*s = 1;
	tag++;
	want_long("vma_page_present", 1);
	want_long("vma_page_dirty", 1);
	want_long("vma_page_mapcount", 1);
	want_long("vma_page_young", 1);
	want_long("vma_page_anon", 1);
	want_long("vma_page_zero", 0);
	want_long("vma_page_swapped", 0);
	want_long("vma_page_size", 4096);
	want_long("vma_is_private", 1);
	fflush(stdout);
	mark(MARK_ADDRESS, (long)p, tag);
	a = tag++;
	want_long("vma_page_present", 0);
	want_long("vma_page_dirty", 0);
	want_long("vma_page_mapcount", 0);
	fflush(stdout);
	mark(MARK_ADDRESS, (long)p + 8192, tag);
	tag++;
	want_long("vma_is_private", 0);
	want_long("vma_page_present", 1);
	fflush(stdout);
	mark(MARK_ADDRESS, (long)s, tag);
	b = tag++;
	c = tag++;
	if (pipe(go) || pipe(done))
		die("pipe");
	child = fork();
	if (!child) {
		*p = 2; /* now this process has a page of its own */
		s[1] = 1; /* and the shared one in its page table */
		mark(MARK_ADDRESS, (long)p, c);
		mark(MARK_ADDRESS, (long)s, c + 1);
		if (write(done[1], "x", 1) != 1 || read(go[0], &x, 1) != 1)
			_exit(1);
		_exit(0);
	}
	tag++;
	if (read(done[0], &x, 1) != 1)
		die("child");
	printf("DIFFER vma_key %d %d\nSAME vma_key %d %d\n", a, c, b, c + 1);
	tag++;
	want_long("vma_page_mapcount", 2); /* the shared page, while the child is there */
	fflush(stdout);
	mark(MARK_ADDRESS, (long)s, tag);
	if (write(go[1], "x", 1) != 1)
		die("child");
	waitpid(child, NULL, 0);
}

int main(void)
{
	char self[4096] = "", *heap = malloc(100), *p;
	const int *t, *h;
	void *lib;

	if (readlink("/proc/self/exe", self, sizeof(self) - 1) < 0)
		die("/proc/self/exe");
	address(&table[3], "data", self, ".data", "table", table, sizeof(table));
	address(&hidden[2], "data", self, ".data", "hidden", hidden, sizeof(hidden));
	zeros[0] = 1;
	address(&zeros[2 * 4096 + 9], "bss", self, ".bss", "zeros", zeros, sizeof(zeros));
	address(&words[4], "rodata", self, ".rodata", "words", words, sizeof(words));
	address(&relocated[1], "relro", self, ".data.rel.ro", "relocated", relocated, sizeof(relocated));
	address((char *)area_of + 3, "text", self, ".text", "area_of", NULL, 0);
	address(heap, "heap", "", "", "[heap]", NULL, 0);
	address(&lib, "stack", "", "", "[stack]", NULL, 0);
	address(map(8192, PROT_READ, ANON), "anon", "", "", "[anon]", NULL, 0);
	address(map(8192, RW, MAP_SHARED | MAP_ANONYMOUS), "shm", NULL, "", NULL, NULL, 0);
	address((void *)16, "unmapped", "", "", NULL, NULL, 0);
	address((void *)-16, "unmapped", "", "", NULL, NULL, 0);
	lib = dlopen("/srv/names/libplugin.so", RTLD_NOW);
	if (!lib)
		die(dlerror());
	t = dlsym(lib, "plugin_table");
	address(&t[5], "data", "/srv/names/libplugin.so", ".data", "plugin_table", t, 64 * sizeof(int));
	h = ((int *(*)(void))dlsym(lib, "plugin_hidden_at"))();
	address(&h[1], "data", "/srv/names/libplugin.so", ".data", "plugin_hidden", h, 32 * sizeof(int));
	members();
	pages();

	/* One call that changes three areas. */
	p = map(3 * 4096, RW, ANON);
	mprotect(p + 4096, 4096, PROT_READ);
	puts("WANT events vma_events 3");
	fflush(stdout);
	munmap(p, 3 * 4096);

	checkpoint();
	tag++;
	printf("COUNT %d %d %d\n", tag, getpid(), mark_checkpoints);
	fflush(stdout);
	mark(MARK_ADDRESS, (long)table, tag);

	dl_iterate_phdr(walk, (void *)"names");
	dl_iterate_phdr(walk, (void *)"/srv/names/libplugin.so");
	fflush(stdout);
	return 0;
}
