// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * tracker_program.c - what perf does not say of a program that was executed: where its heap begins, and [vsyscall].
 *
 * The kernel calls an area [heap] that overlaps [start_brk, brk), and moves brk after it has told of the new memory: the first
 * memory of a break, and a piece of it that does not merge, have no name yet.  /proc/PID/stat has start_brk as long as the
 * process lives.  Of one that is gone by then the kernel's own placing tells: at random, at most so far above the program,
 * where it puts no other memory unless it is asked to: above a program that is lower than 1 GB by MAP_32BIT, too, which has
 * places of its own.
 */
#include "config.h"

#include "tracker_space.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "grow.h"

#define NARROW_END 0x100000000ull    /* of a 32-bit program's memory, and an x32 one's */
#define BREAK_FAR  0x40000000u	     /* arch/x86/kernel/process.c, arch_randomize_brk(): 1 GB, 32 MB before Linux 6.9 */
#define BREAK_NEAR 0x2000000u	     /* and of a 32-bit program */
/* Where it is put under a program without interpreter that may lie anywhere: ELF_ET_DYN_BASE of arch/x86/include/asm/elf.h. */
#define APART	    0x555555554000ull
#define APART_NARROW 0x400000u
/* Where a wide program's memory is put by MAP_32BIT, and none else: find_start_end() of arch/x86/kernel/sys_x86_64.c. */
#define LOW	     0x40000000u
#define LOW_END	     0x80000000u

void tracker_break_begins(struct tracker *t, pid_t pid, uint64_t start_brk)
{
	t->launched = pid;
	t->launched_brk = start_brk;
}

uint64_t tracker_begins_at(struct tracker *t, pid_t pid, uint64_t start_brk)
{
	if (t->launched == pid && t->launched_brk)
		start_brk = t->launched_brk;
	if (t->launched == pid)
		t->launched = 0;
	return start_brk;
}

/* It ends where its last piece does, or the anonymous memory of its .bss that follows. */
static uint64_t end_of(const struct hvar_mm *mm, uint32_t module)
{
	const struct hvar_vma *v;
	uint64_t end = 0;

	for (v = hvar_vmas_next(&mm->vmas, 0); v; v = hvar_vmas_next(&mm->vmas, v->end)) {
		if (v->module == module)
			end = v->end;
		else if (end && v->start == end && !v->module && v->region == HVAR_REGION_ANON)
			return v->end;
	}
	return end;
}

/* Our own [vsyscall], which each wide program has at the same place, if any has. */
static void find_vsyscall(struct tracker *t)
{
	FILE *f = fopen("/proc/self/maps", "re");
	char line[512];

	t->vsyscall_asked = true;
	while (f && fgets(line, sizeof(line), f)) {
		struct modules_where where = { 0 };
		struct mapstext a;

		if (!strstr(line, " [vsyscall]") || mapstext_line(line, strcspn(line, "\n"), &a) ||
		    a.v.region != HVAR_REGION_VSYSCALL)
			continue;
		if (!modules_number(t->modules, &a, &where))
			t->vsyscall = a.v;
	}
	if (f)
		fclose(f);
}

void tracker_program_told(struct tracker *t, struct hvar_mm *mm, const struct hvar_vma *v, const struct hvar_event *base)
{
	struct space *s = space_of(mm);

	if (!s->executed)
		return;
	if (v->module && !(v->flags & HVAR_VMA_NAMED) && !s->program)
		s->program = v->module;
	/* The last that an exec maps. */
	if (v->region != HVAR_REGION_VDSO)
		return;
	s->executed = false;
	s->program_end = s->program ? end_of(mm, s->program) : 0;
	s->narrow = v->end <= NARROW_END;
	if (!t->vsyscall_asked)
		find_vsyscall(t);
	if (s->narrow || !t->vsyscall.end || grow_array((void **)&t->seen, &t->seen_cap, 1, sizeof(*t->seen)))
		return;
	t->seen[0] = t->vsyscall;
	t->nseen = 1;
	tracker_bring(t, mm, t->vsyscall.start, t->vsyscall.end, base);
}

/* May the kernel have put the break of that program at @addr? */
static bool may_begin(const struct space *s, uint64_t addr)
{
	uint64_t far = s->narrow ? BREAK_NEAR : BREAK_FAR, apart = s->narrow ? APART_NARROW : APART;

	return (addr >= s->program_end && addr - s->program_end <= far) ||
	       (s->program_end > apart && addr >= apart && addr - apart <= far);
}

/* Is @addr where MAP_32BIT puts memory, and a break hardly is?  A program may have been put there itself. */
static bool is_low(const struct space *s, uint64_t addr)
{
	return !s->narrow && s->program_end <= LOW && addr >= LOW && addr < LOW_END;
}

/*
 * The area that the kernel shows at the beginning of @m now, into t->areas.  NULL: none that begins there and reaches as far, or there is
 * no asking.
 */
static const struct mapstext *shown(struct tracker *t, struct hvar_mm *mm, pid_t pid, const struct tracker_mmap *m)
{
	const struct look *l = &space_of(mm)->look;

	if (space_of(mm)->gone || tracker_window(t, mm, pid) || !look_is_cheap(l) ||
	    look_at(l, m->start, m->start + 1, &t->areas) || t->areas.n != 1)
		return NULL;
	return t->areas.v[0].v.start == m->start && t->areas.v[0].v.end >= m->end ? &t->areas.v[0] : NULL;
}

/* Is memory at @m, without a name, most likely that of the break?  *@first: the first of it, where nobody said it would be. */
static bool may_be_heap(const struct hvar_mm *mm, const struct tracker_mmap *m, bool *first)
{
	const struct space *s = space_of(mm);
	const struct hvar_vma *old = hvar_vmas_find(&mm->vmas, m->start);
	bool sure = s->brk && (s->heap_told || !s->program_end || may_begin(s, s->brk));

	*first = false;
	if (m->prot & HVAR_PROT_SHARED)
		return false;
	/* Before Linux 6.7 perf has that name for what holds all of the heap only, not for a part that grew by itself. */
	if (old && old->region == HVAR_REGION_HEAP)
		return true;
	if ((m->prot & (HVAR_PROT_READ | HVAR_PROT_WRITE)) != (HVAR_PROT_READ | HVAR_PROT_WRITE))
		return false;
	if (sure)
		return m->start == HVAR_PAGE_UP(s->brk) || (s->start_brk && m->start == HVAR_PAGE_UP(s->start_brk));
	*first = !s->heap_told && s->program_end && may_begin(s, m->start) && !is_low(s, m->start);
	return *first;
}

/* What the program has named, all of it, and given another protection: perf does not tell such names. */
static const struct hvar_vma *named(const struct hvar_mm *mm, const struct tracker_mmap *m)
{
	const struct hvar_vma *v = NULL, *first = hvar_vmas_find(&mm->vmas, m->start);
	bool changed = false;

	for (uint64_t at = m->start; at < m->end; at = v->end) {
		v = hvar_vmas_find(&mm->vmas, at);
		if (!v || !(v->flags & HVAR_VMA_NAMED) || v->module != first->module || v->region != first->region)
			return NULL;
		changed |= v->prot != m->prot;
	}
	return changed ? first : NULL;
}

void tracker_name_anon(struct tracker *t, struct hvar_mm *mm, pid_t pid, const struct tracker_mmap *m, struct hvar_vma *v)
{
	struct space *s = space_of(mm);
	const struct hvar_vma *old = named(mm, m);
	const struct mapstext *now;
	bool first;

	if (old) {
		now = shown(t, mm, pid, m);
		if (now && !(now->v.flags & HVAR_VMA_NAMED))
			return;
		v->module = old->module;
		v->region = old->region;
		v->flags = old->flags;
		return;
	}
	if (!may_be_heap(mm, m, &first))
		return;
	now = shown(t, mm, pid, m);
	if (now && now->v.region != HVAR_REGION_HEAP)
		return;
	v->region = HVAR_REGION_HEAP;
	if (first)
		s->brk = s->start_brk = m->start;
}

void tracker_heap_told(struct space *s, const struct tracker_mmap *m)
{
	bool strange = !s->heap_told && s->program_end && !may_begin(s, s->brk);

	/* A part of it may have been given another protection: then the break is further up. */
	if (s->brk < m->end || strange)
		s->brk = m->end;
	s->heap_told = true;
}

void tracker_heap_seen(struct tracker *t, struct hvar_mm *mm)
{
	struct space *s = space_of(mm);
	uint64_t start = 0, end = 0;

	for (size_t i = 0; i < t->nseen; i++) {
		if (t->seen[i].region != HVAR_REGION_HEAP)
			continue;
		start = end ? start : t->seen[i].start;
		end = t->seen[i].end;
	}
	/* It was shrunk to nothing, or the program has said that it is elsewhere: prctl(PR_SET_MM). */
	if (!end)
		s->brk = s->start_brk;
	else if (s->start_brk < start || s->start_brk >= end)
		s->start_brk = start;
	if (end)
		s->brk = end;
	s->heap_told |= end != 0;
}
