// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * hvk_addr.c - look-ups: what an address of current is, in words.
 *
 * Callable from any probe: they read the list under a lock they only try, and memory of this
 * module; they never touch the program's memory or its mmap_lock.
 */
#include "hvk_host.h"

#define HVK_TRIES	  1000
#define HVK_VSYSCALL	  0xffffffffff600000ull

static bool hvk_space_trylock(struct hvk_space *s)
{
	int i;

	for (i = 0; i < HVK_TRIES; i++) {
		if (raw_spin_trylock(&s->lock))
			return true;
		if (in_nmi())
			break;
		cpu_relax();
	}
	hvk_lose(HVK_LOST_BUSY);
	return false;
}

/* The followed space of current, or NULL; also NULL where the script's user may not know of current. */
static struct hvk_space *hvk_space_here(void)
{
	struct mm_struct *mm = READ_ONCE(current->mm);

	if (!mm || current->flags & PF_KTHREAD || !hvk_is_ours())
		return NULL;
	return hvk_space_find(mm);
}

/* The stack has grown since it was looked at: how far down may it reach? */
static u64 hvk_stack_low(const struct hvk_space *s, const struct hvar_vma *v)
{
	long grown = READ_ONCE(s->mm->stack_vm) - READ_ONCE(s->stack_vm);

	if (grown <= 0 || (u64)grown > v->start >> PAGE_SHIFT)
		return v->start;
	return v->start - ((u64)grown << PAGE_SHIFT);
}

/* @addr, which no area holds, may be stack that has grown, or the page that all share. */
static void hvk_find_beyond(const struct hvk_space *s, u64 addr, struct hvar_place *p)
{
	const struct hvar_vma *v = hvar_vmas_next(&s->vmas, addr);

	if (v && v->region == HVAR_REGION_STACK && addr >= hvk_stack_low(s, v)) {
		p->vma = *v;
		p->vma.start = hvk_stack_low(s, v);
		p->kind = HVAR_KIND_STACK;
		p->reason = HVAR_REASON_NO_FILE;
	} else if (HVAR_PAGE_DOWN(addr) == HVK_VSYSCALL) {
		p->vma.start = HVK_VSYSCALL;
		p->vma.end = HVK_VSYSCALL + PAGE_SIZE;
		p->vma.prot = HVAR_PROT_EXEC;
		p->vma.region = HVAR_REGION_VSYSCALL;
		p->kind = HVAR_KIND_VSYSCALL;
		p->reason = HVAR_REASON_NO_FILE;
	}
}

HVK_API int hvk_find(u64 addr, struct hvk_found *out)
{
	struct hvk_space *s;
	unsigned long flags;
	uint32_t why;
	int err = -ESRCH;

	memset(out, 0, sizeof(*out));
	rcu_read_lock();
	s = hvk_space_here();
	if (!s)
		goto out;
	err = -EBUSY;
	local_irq_save(flags);
	if (hvk_space_trylock(s)) {
		hvar_resolve(&s->vmas, addr, hvk_image_of, NULL, &out->place);
		if (out->place.kind == HVAR_KIND_UNMAPPED)
			hvk_find_beyond(s, addr, &out->place);
		/* A list that is still being read cannot say that there is nothing. */
		err = s->begun || out->place.kind != HVAR_KIND_UNMAPPED ? 0 : -EBUSY;
		raw_spin_unlock(&s->lock);
	}
	local_irq_restore(flags);
	out->space = s->id;
out:
	rcu_read_unlock();
	if (err)
		return err;
	out->module = hvk_module_get(out->place.module);
	out->file = hvk_module_get(out->place.vma.module);
	if (out->place.symbol != HVAR_IMAGE_NONE || out->place.section != HVAR_IMAGE_NONE)
		out->image = out->module ? hvk_image_of(NULL, out->module->id, &why) : NULL;
	return 0;
}

/* How many areas current has, and how often what was lost: for vma_count(). */
HVK_API u32 hvk_areas(void)
{
	struct hvk_space *s;
	u32 n;

	rcu_read_lock();
	s = hvk_space_here();
	n = s ? READ_ONCE(s->vmas.n) : 0;
	rcu_read_unlock();
	return n;
}

HVK_API u64 hvk_lost_all(void)
{
	u64 n = 0;
	u32 i;

	for (i = 0; i < HVK_LOSSES; i++)
		n += atomic64_read(&hvk_lost[i]);
	return n;
}

/* ---- words: each writes a NUL-terminated string into @out of @size bytes ---- */

static const char *hvk_region_label(u32 region)
{
	switch (region) {
	case HVAR_REGION_HEAP:
		return "[heap]";
	case HVAR_REGION_STACK:
		return "[stack]";
	case HVAR_REGION_SHM:
		return "[shm]";
	case HVAR_REGION_VSYSCALL:
		return "[vsyscall]";
	case HVAR_REGION_FILE:
		return "[file]"; /* its name could not be kept */
	default:
		return "[anon]";
	}
}

/* The path of an area of @module: "" for nameless memory, as /proc/PID/maps. */
HVK_API const char *hvk_area_path(u32 module, u32 region)
{
	const struct hvk_module *m = hvk_module_get(module);

	if (m)
		return m->path;
	return region == HVAR_REGION_HEAP || region == HVAR_REGION_STACK ||
	       region == HVAR_REGION_VSYSCALL ? hvk_region_label(region) : "";
}

static const char *hvk_base_name(const char *path)
{
	const char *s = strrchr(path, '/');

	return s && s[1] ? s + 1 : path;
}

HVK_API const char *hvk_section_name(const struct hvk_found *f)
{
	if (!f->image || f->place.section == HVAR_IMAGE_NONE)
		return "";
	return hvar_image_str(f->image, f->image->sections[f->place.section].name);
}

/* Names come from files that may be anybody's: whatever could end a line, or rule a terminal, is a question mark. */
static void hvk_one_word(char *s)
{
	for (; *s; s++)
		if ((u8)*s < ' ' || *s == 0x7f)
			*s = '?';
}

/*
 * The name of @addr, which @f is of; @err is what hvk_find() said.
 *
 *	counter			a variable
 *	counter@parser.c	one of several of that name
 *	libx.so.1:.bss+0x120	no symbol covers it
 *	libx.so.1+0x3120	nor is the section known: offset in the file
 *	[heap]
 *	0x7ffe1234		nothing is known
 */
static void hvk_symname_of(const struct hvk_found *f, int err, u64 addr, char *out, size_t size)
{
	if (err || f->place.kind == HVAR_KIND_UNMAPPED) {
		snprintf(out, size, "0x%llx", addr);
	} else if (f->image && f->place.symbol != HVAR_IMAGE_NONE) {
		const struct hvar_image_sym *y = &f->image->syms[f->place.symbol];
		const char *file = y->flags & HVAR_SYM_SAME_NAME ?
				   hvar_image_str(f->image, y->file) : "";

		snprintf(out, size, "%s%s%s", hvar_image_str(f->image, y->name),
			 *file ? "@" : "", hvk_base_name(file));
	} else if (f->image) {
		u64 at = f->image->sections[f->place.section].vaddr;

		snprintf(out, size, "%s:%s+0x%llx", hvk_base_name(f->module->path),
			 hvk_section_name(f), f->place.vaddr - at);
	} else if (f->module && f->place.flags & HVAR_PLACE_OFFSET) {
		snprintf(out, size, "%s+0x%llx", hvk_base_name(f->module->path),
			 f->place.file_offset);
	} else if (f->module) {
		snprintf(out, size, "%s", hvk_base_name(f->module->path));
	} else {
		snprintf(out, size, "%s", hvk_region_label(f->place.vma.region));
	}
	hvk_one_word(out);
}

HVK_API void hvk_symname(u64 addr, char *out, size_t size)
{
	struct hvk_found f;
	int err = hvk_find(addr, &f);

	hvk_symname_of(&f, err, addr, out, size);
}

/*
 *	counter+0x4/0x40 [/usr/bin/app]		as stap's own usymdata()
 *	0x7f0000003120 [/usr/lib/libx.so.1+0x3120]	without a symbol: offset in the file
 *	0x7ffe1234 [[stack]+0x1f234/0x21000]
 *	0x7ffe1234				nothing is known
 */
HVK_API void hvk_symdata(u64 addr, char *out, size_t size)
{
	struct hvk_found f;
	const char *path;

	if (hvk_find(addr, &f) || f.place.kind == HVAR_KIND_UNMAPPED) {
		snprintf(out, size, "0x%llx", addr);
		return;
	}
	path = f.module ? f.module->path : hvk_region_label(f.place.vma.region);
	if (f.image && f.place.symbol != HVAR_IMAGE_NONE)
		snprintf(out, size, "%s+0x%llx/0x%llx [%s]",
			 hvar_image_str(f.image, f.image->syms[f.place.symbol].name),
			 f.place.offset, f.place.size, path);
	else if (f.place.flags & HVAR_PLACE_OFFSET)
		snprintf(out, size, "0x%llx [%s+0x%llx]", addr, path, f.place.file_offset);
	else if (f.place.flags & HVAR_PLACE_VADDR)
		snprintf(out, size, "0x%llx [%s vaddr 0x%llx]", addr, path, f.place.vaddr);
	else
		snprintf(out, size, "0x%llx [%s+0x%llx/0x%llx]", addr, path,
			 addr - f.place.vma.start, f.place.vma.end - f.place.vma.start);
	hvk_one_word(out);
}

/* Whose is the page of a private file mapping? */
static enum hvar_page_state hvk_page_state(u64 addr)
{
	int copied = hvk_page_copied(addr);

	return copied < 0 ? HVAR_PAGE_UNKNOWN : copied ? HVAR_PAGE_COPIED : HVAR_PAGE_FILES;
}

/* The key of @addr, and whether it is followed at all. */
static int hvk_key_of(u64 addr, struct hvar_key *k)
{
	struct hvk_found f;
	int err = hvk_find(addr, &f);

	if (err)
		return err;
	if (f.place.kind == HVAR_KIND_UNMAPPED)
		return -EFAULT;
	*k = hvar_key_of(&f.place.vma, f.file ? &f.file->facts : NULL, f.space, addr,
			 hvk_page_state(addr));
	return 0;
}

/* device:object:where, in hex; "" if nothing is known. */
HVK_API void hvk_key(u64 addr, char *out, size_t size)
{
	struct hvar_key k;

	if (hvk_key_of(addr, &k))
		*out = '\0';
	else
		snprintf(out, size, "%llx:%llx:%llx", k.dev, k.object, k.where);
}

/* 1, 0, or -1 if nothing is known. */
HVK_API int hvk_private(u64 addr)
{
	struct hvar_key k;

	return hvk_key_of(addr, &k) ? -1 : hvar_key_private(&k);
}

HVK_API const char *hvk_region_name(u32 region)
{
	static const char *const names[HVAR_REGIONS] = {
		"unmapped", "file", "anon", "heap", "stack", "shm", "vdso", "vvar",
		"vsyscall", "jit",
	};

	return region < HVAR_REGIONS ? names[region] : "";
}

HVK_API void hvk_prot_str(u32 prot, char out[5])
{
	out[0] = prot & HVAR_PROT_READ ? 'r' : '-';
	out[1] = prot & HVAR_PROT_WRITE ? 'w' : '-';
	out[2] = prot & HVAR_PROT_EXEC ? 'x' : '-';
	out[3] = prot & HVAR_PROT_SHARED ? 's' : 'p';
	out[4] = '\0';
}
