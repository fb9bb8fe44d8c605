// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * live.c - a process as it is at this moment: look, number the files, open their images.
 *
 * A file's image stays open by module number, over all looks; what could not be
 * had is asked for again only after another look.
 */
#include "config.h"

#include "live.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "clock.h"
#include "grow.h"
#include "look.h"
#include "modules.h"
#include "proc.h"
#include "target.h"
#include "thread_tls.h"
#include "translator-hooks/image_build.h"
#include "translator-hooks/image_cache.h"
#include "translator-hooks/image_inside.h"

/* How old a look may be while addresses keep coming. */
#define LOOK_NS 100000000u
enum { LOOKS = 64 };
/* [vdso] is a few pages; more is something else. */
#define VDSO_MAX ((uint64_t)1 << 20)
/* Pagemap entries: Documentation/admin-guide/mm/pagemap.rst */
#define PM_PRESENT ((uint64_t)1 << 63)
#define PM_SWAP	   ((uint64_t)1 << 62)
#define PM_FILE	   ((uint64_t)1 << 61)
#define PM_GUARD   ((uint64_t)1 << 58)

struct named {
	struct image_file *image;
	uint32_t why;  /* enum hvar_reason; NONE: not asked for */
};

struct live {
	pid_t pid;
	struct look look;
	struct look_areas areas;
	struct modules *modules;
	struct modules_where where;
	struct hvar_vmas vmas;
	void *mem;
	struct named *named; /* by module number */
	size_t named_cap;
	uint64_t looked_ns;
	int pagemap;
	pid_t space; /* whose address space it is: space_of(); 0: not asked for yet */
	struct jit *jit; /* NULL: not asked for yet, or no memory */
	bool jit_stale;	 /* there has been a look since */
	struct thread_tls *tls; /* likewise */
	bool tls_stale;
};

static int fill(struct live *l)
{
	uint64_t size = hvar_vmas_bytes((uint32_t)l->areas.n);
	size_t i;
	void *mem;

	if (l->areas.n > UINT32_MAX / 2 || posix_memalign(&mem, 64, size ? size : 64))
		return -ENOMEM;
	free(l->mem);
	l->mem = mem;
	hvar_vmas_init(&l->vmas, mem, size);
	for (i = 0; i < l->areas.n; i++) {
		struct mapstext *a = &l->areas.v[i];

		if (modules_number(l->modules, a, &l->where))
			return -ENOMEM;
		if (hvar_vmas_set(&l->vmas, a->v.start, a->v.end, &a->v) == -ENOSPC)
			return -ENOMEM;
	}
	return 0;
}

/* Nothing can be read of a space that no task has any more: pagemap_read() of the kernel's fs/proc/task_mmu.c */
static bool is_there(const struct live *l)
{
	uint64_t entry;

	return l->pagemap >= 0 && pread(l->pagemap, &entry, sizeof(entry), 0) == sizeof(entry);
}

bool live_is_there(const struct live *l)
{
	return l->pagemap < 0 || is_there(l); /* where that may not be read it is not known */
}

/* The thread through which it was looked is gone: another sees the same, if there is still that space. */
static int look_again(struct live *l)
{
	int r = -ESRCH;

	for (int i = 0; i < LOOKS && r == -ESRCH && is_there(l); i++) {
		look_close(&l->look);
		r = look_open(&l->look, l->pid);
		if (!r)
			r = look_at(&l->look, 0, ~(uint64_t)0, &l->areas);
		if (!r && !is_there(l)) { /* what was seen may be the next program's */
			look_close(&l->look);
			l->areas.n = 0;
		}
	}
	return r;
}

void live_look(struct live *l, bool now)
{
	uint64_t t = clock_now_ns();
	size_t i;

	if (!now && t - l->looked_ns < LOOK_NS)
		return;
	l->looked_ns = t;
	l->jit_stale = l->tls_stale = true;
	if ((look_at(&l->look, 0, ~(uint64_t)0, &l->areas) && look_again(l)) || !l->areas.n || fill(l))
		return;
	for (i = 0; i < l->named_cap; i++)
		if (!l->named[i].image)
			l->named[i].why = HVAR_REASON_NONE;
}

/* What can be looked at after both were opened is what both are of. */
static int look_first(struct live *l)
{
	int r = -ESRCH;

	for (int i = 0; i < LOOKS && r == -ESRCH; i++) {
		look_close(&l->look);
		if (l->pagemap >= 0)
			close(l->pagemap);
		r = look_open(&l->look, l->pid);
		l->pagemap = r ? -1 : proc_open(l->pid, "pagemap", O_RDONLY);
		if (!r)
			r = look_at(&l->look, 0, ~(uint64_t)0, &l->areas);
		if (!r && !l->areas.n)
			r = -ESRCH;
		if (r == -ESRCH && !target_is_alive(l->pid))
			break;
	}
	return r;
}

struct live *live_open(pid_t pid, struct err *e)
{
	struct proc_stat st;
	struct live *l;
	int r;

	r = target_check(pid, e);
	if (r) {
		errno = -r;
		return NULL;
	}
	l = calloc(1, sizeof(*l));
	if (!l)
		goto no_memory;
	l->pid = pid;
	l->look.fd = -1;
	l->pagemap = -1;
	l->modules = modules_new();
	if (!l->modules)
		goto no_memory;
	r = look_first(l);
	if (r == -ENOMEM)
		goto no_memory;
	if (r) {
		if (r == -EMFILE || r == -ENFILE)
			err_set(e, -r, "cannot name addresses of process %d: %s; raise: ulimit -n", (int)pid, strerror(-r));
		else
			err_set(e, -r, r == -ESRCH ?
				"cannot name addresses of process %d: it has ended; name a living one" :
				"cannot name addresses of process %d: its memory map cannot be read; run as its owner or as root",
				(int)pid);
		live_free(l);
		errno = -r;
		return NULL;
	}
	l->where.pid = pid;
	l->where.look = &l->look;
	if (!proc_stat(pid, &st))
		l->where.mapped_ns = proc_started_ns(st.start_ticks);
	l->looked_ns = clock_now_ns();
	if (fill(l))
		goto no_memory;
	return l;
no_memory:
	err_set(e, ENOMEM, "cannot name addresses of process %d: no memory: free some", (int)pid);
	live_free(l);
	errno = ENOMEM;
	return NULL;
}

void live_free(struct live *l)
{
	size_t i;

	if (!l)
		return;
	for (i = 0; i < l->named_cap; i++)
		image_file_free(l->named[i].image);
	free(l->named);
	modules_free(l->modules);
	jit_free(l->jit);
	thread_tls_free(l->tls);
	look_areas_fini(&l->areas);
	look_close(&l->look);
	if (l->pagemap >= 0)
		close(l->pagemap);
	free(l->mem);
	free(l);
}

/* ---- images ---- */

/* The [vdso] is in no file: its ELF image is what the process has in memory. */
static int vdso_image(struct live *l, uint32_t id, struct image_file **out, struct err *e)
{
	const struct hvar_vma *v = hvar_vmas_next(&l->vmas, 0);
	void *elf, *data;
	uint64_t n, got = 0;
	size_t size;
	int fd, r;

	while (v && !(v->module == id && v->region == HVAR_REGION_VDSO))
		v = hvar_vmas_next(&l->vmas, v->end);
	if (!v || v->end - v->start > VDSO_MAX)
		return -ENOENT;
	n = v->end - v->start;
	elf = malloc(n);
	if (!elf)
		return -ENOMEM;
	fd = proc_open(l->pid, "mem", O_RDONLY);
	while (fd >= 0 && got < n) {
		ssize_t k = pread(fd, (char *)elf + got, n - got, (off_t)(v->start + got));

		if (k < 0 && errno == EINTR)
			continue;
		if (k <= 0)
			break;
		got += (uint64_t)k;
	}
	if (fd >= 0)
		close(fd);
	r = got == n ? image_build_mem(elf, n, "[vdso]", &data, &size, e) : -EACCES;
	free(elf);
	return r ? r : image_file_of_mem(data, size, out, e);
}

static uint32_t find_image(struct live *l, uint32_t id, struct image_file **out)
{
	const struct hvar_module *m = modules_get(l->modules, id);
	const char *path = modules_path(l->modules, id);
	struct err e = { 0, "" };
	int fd, r;

	if (m->flags & HVAR_MODULE_PSEUDO) {
		if (strcmp(path, "[vdso]"))
			return HVAR_REASON_NO_FILE;
		r = vdso_image(l, id, out, &e);
		return !r ? HVAR_REASON_NONE :
		       r == -EACCES || r == -ENOENT ? HVAR_REASON_NO_ACCESS : HVAR_REASON_BAD_ELF;
	}
	if (m->flags & HVAR_MODULE_STALE)
		return HVAR_REASON_STALE;
	if (m->flags & HVAR_MODULE_UNREAD)
		return HVAR_REASON_NO_ACCESS;
	if (!(m->flags & HVAR_MODULE_ELF))
		return HVAR_REASON_NO_ELF;
	fd = modules_fd(l->modules, id);
	if (fd < 0)
		return modules_get(l->modules, id)->flags & HVAR_MODULE_STALE ?
			       HVAR_REASON_STALE : HVAR_REASON_NO_ACCESS;
	r = m->elf_page ? image_inside_get(fd, path, (uint64_t)m->elf_page << HVAR_PAGE_SHIFT, out, &e) :
			  image_cache_get(fd, path, out, &e);
	if (!r)
		return HVAR_REASON_NONE;
	return r == -ENOEXEC ? HVAR_REASON_NO_ELF :
	       r == -EBADMSG || r == -ENOTSUP || r == -EFBIG ? HVAR_REASON_BAD_ELF :
							       HVAR_REASON_NO_ACCESS;
}

const struct hvar_image *live_image(void *live, uint32_t id, uint32_t *why)
{
	struct live *l = live;
	size_t had = l->named_cap;
	struct named *n;

	*why = HVAR_REASON_NO_ACCESS;
	if (!modules_get(l->modules, id) ||
	    grow_array((void **)&l->named, &l->named_cap, (size_t)id + 1, sizeof(*l->named)))
		return NULL;
	memset(l->named + had, 0, (l->named_cap - had) * sizeof(*l->named));
	n = &l->named[id];
	if (!n->image && n->why == HVAR_REASON_NONE)
		n->why = find_image(l, id, &n->image);
	*why = n->why;
	return n->image ? &n->image->img : NULL;
}

void live_resolve(struct live *l, uint64_t addr, struct hvar_place *out)
{
	hvar_resolve(&l->vmas, addr, live_image, l, out);
}

const struct hvar_vmas *live_vmas(const struct live *l)
{
	return &l->vmas;
}

const struct hvar_module *live_module(const struct live *l, uint32_t id)
{
	return modules_get(l->modules, id);
}

const char *live_path(const struct live *l, uint32_t id)
{
	return modules_path(l->modules, id);
}

enum hvar_page_state live_page_state(struct live *l, uint64_t addr)
{
	uint64_t entry;

	if (l->pagemap < 0 ||
	    pread(l->pagemap, &entry, sizeof(entry), (off_t)(addr >> HVAR_PAGE_SHIFT) * 8) != sizeof(entry))
		return HVAR_PAGE_UNKNOWN;
	return (entry & (PM_SWAP | PM_GUARD)) == PM_SWAP || (entry & PM_PRESENT && !(entry & PM_FILE)) ?
		       HVAR_PAGE_COPIED : HVAR_PAGE_FILES;
}

/* The eldest of its forebears that has the very same address space, by kcmp(2). */
static pid_t space_of(pid_t pid)
{
	for (;;) {
		long parent = target_status(pid, "PPid:");

		if (parent <= 1 || proc_same_memory(proc_living(pid), proc_living((pid_t)parent)) != 1)
			return pid;
		pid = (pid_t)parent;
	}
}

struct hvar_key live_key(struct live *l, const struct hvar_vma *v, uint64_t addr, enum hvar_page_state page)
{
	if (!l->space)
		l->space = space_of(l->pid);
	return hvar_key_of(v, modules_get(l->modules, v->module), (uint32_t)l->space, addr, page);
}

bool live_private(struct live *l, uint64_t addr, const struct hvar_place *p)
{
	struct hvar_key key = live_key(l, &p->vma, addr, live_page_state(l, addr));

	return hvar_key_private(&key);
}

static void look_jit(struct live *l)
{
	size_t i;

	jit_look_map(l->jit);
	for (i = 0; i < l->areas.n; i++) {
		uint32_t id = l->areas.v[i].v.module;
		const struct hvar_module *m = modules_get(l->modules, id);
		const char *path = modules_path(l->modules, id);

		if (m && !(m->flags & HVAR_MODULE_PSEUDO) && jit_is_dump(path))
			jit_look_dump(l->jit, path, m->dev_major, m->dev_minor, m->ino);
	}
}

bool live_jit(struct live *l, uint64_t addr, const struct hvar_place *p, struct jit_code *out)
{
	/* what belongs to a file that is loaded is that file's */
	if (!(p->vma.prot & HVAR_PROT_EXEC) || p->symbol != HVAR_IMAGE_NONE ||
	    p->section != HVAR_IMAGE_NONE ||
	    (p->vma.region != HVAR_REGION_ANON && p->vma.region != HVAR_REGION_SHM &&
	     p->vma.region != HVAR_REGION_HEAP))
		return false;
	if (!l->jit) {
		l->jit = jit_new(l->pid);
		l->jit_stale = true;
	}
	if (!l->jit)
		return false;
	if (l->jit_stale)
		look_jit(l);
	l->jit_stale = false;
	return jit_find(l->jit, addr, out);
}

/* The number of the file that the process runs; 0: not known. */
static uint32_t exe_module(const struct live *l)
{
	char path[64];
	struct stat st;
	size_t i;

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)proc_living(l->pid));
	if (stat(path, &st))
		return 0;
	for (i = 0; i < l->areas.n; i++) {
		const struct hvar_module *m = modules_get(l->modules, l->areas.v[i].v.module);

		if (m && m->dev_major == major(st.st_dev) && m->dev_minor == minor(st.st_dev) &&
		    m->ino == st.st_ino)
			return l->areas.v[i].v.module;
	}
	return 0;
}

bool live_tls(struct live *l, uint64_t addr, struct hvar_place *p, uint64_t *thread)
{
	if (p->module || p->symbol != HVAR_IMAGE_NONE ||
	    (p->vma.region != HVAR_REGION_ANON && p->vma.region != HVAR_REGION_HEAP))
		return false;
	if (!l->tls) {
		l->tls = thread_tls_new(l->pid);
		l->tls_stale = true;
	}
	if (!l->tls)
		return false;
	if (l->tls_stale)
		thread_tls_look_images(l->tls, &l->vmas, live_image, l, exe_module(l));
	l->tls_stale = false;
	return thread_tls_find(l->tls, addr, live_image, l, p, thread);
}
