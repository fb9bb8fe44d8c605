// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * hvar_call.c - a mapping system call: its numbers, its arguments, its ranges.
 *
 * What the call did to a list is in hvar_call_apply.c.
 */
#include "hvar_call.h"
#include "hvar_call_abi.h"

#define HVAR_CALL_NO_NR 0xffff
#define HVAR_CALL_X32	0x40000000u /* __X32_SYSCALL_BIT */

/* Where the arguments lie, if not in the registers as x86-64 has them. */
enum hvar_call_form {
	HVAR_CALL_PLAIN,
	HVAR_CALL_BLOCK,    /* mmap of i386: six words in memory */
	HVAR_CALL_PAGES,    /* mmap2 of i386: the offset is in pages */
	HVAR_CALL_IPC,	    /* ipc of i386: which, first, second, third, pointer */
	HVAR_CALL_SHADOW,   /* map_shadow_stack(addr, size, flags) */
	HVAR_CALL_ANYWHERE, /* the kernel chose where, and does not say */
	HVAR_CALL_NO_STOP,  /* changes nothing that is shown */
	HVAR_CALL_PRCTL,    /* changes something for some first arguments only: */
	HVAR_CALL_ARCH,	    /* likewise, arch_prctl(2) */
};

/* Numbers: arch/x86/entry/syscalls/syscall_{64,32}.tbl of Linux. */
struct hvar_call_row {
	uint16_t nr[3]; /* by enum hvar_abi, without x32's bit */
	uint8_t cause;	/* enum hvar_cause */
	uint8_t form;
};

static const struct hvar_call_row hvar_call_rows[] = {
	{ { 9, 90, 9 }, HVAR_CAUSE_MMAP, HVAR_CALL_BLOCK },
	{ { HVAR_CALL_NO_NR, 192, HVAR_CALL_NO_NR }, HVAR_CAUSE_MMAP, HVAR_CALL_PAGES },
	{ { 11, 91, 11 }, HVAR_CAUSE_MUNMAP, HVAR_CALL_PLAIN },
	{ { 10, 125, 10 }, HVAR_CAUSE_MPROTECT, HVAR_CALL_PLAIN },
	{ { 12, 45, 12 }, HVAR_CAUSE_BRK, HVAR_CALL_PLAIN },
	{ { 25, 163, 25 }, HVAR_CAUSE_MREMAP, HVAR_CALL_PLAIN },
	{ { 329, 380, 329 }, HVAR_CAUSE_PKEY_MPROTECT, HVAR_CALL_PLAIN },
	{ { 30, 397, 30 }, HVAR_CAUSE_SHMAT, HVAR_CALL_PLAIN },
	{ { 67, 398, 67 }, HVAR_CAUSE_SHMDT, HVAR_CALL_PLAIN },
	{ { HVAR_CALL_NO_NR, 117, HVAR_CALL_NO_NR }, HVAR_CAUSE_SHMAT, HVAR_CALL_IPC },
	{ { 216, 257, 216 }, HVAR_CAUSE_REMAP_FILE_PAGES, HVAR_CALL_PLAIN },
	{ { 56, 120, 56 }, HVAR_CAUSE_CLONE, HVAR_CALL_PLAIN },
	{ { 435, 435, 435 }, HVAR_CAUSE_CLONE3, HVAR_CALL_PLAIN },
	{ { 57, 2, 57 }, HVAR_CAUSE_FORK, HVAR_CALL_PLAIN },
	{ { 58, 190, 58 }, HVAR_CAUSE_VFORK, HVAR_CALL_PLAIN },
	{ { 59, 11, 520 }, HVAR_CAUSE_EXECVE, HVAR_CALL_PLAIN },
	{ { 322, 358, 545 }, HVAR_CAUSE_EXECVEAT, HVAR_CALL_PLAIN },
	{ { 453, HVAR_CALL_NO_NR, HVAR_CALL_NO_NR }, HVAR_CAUSE_MMAP, HVAR_CALL_SHADOW },
	{ { 206, 245, 543 }, HVAR_CAUSE_MMAP, HVAR_CALL_ANYWHERE },
	{ { 207, 246, 207 }, HVAR_CAUSE_MUNMAP, HVAR_CALL_ANYWHERE },
	{ { 28, 219, 28 }, HVAR_CAUSE_MADVISE, HVAR_CALL_NO_STOP },
	{ { 157, 172, 157 }, HVAR_CAUSE_PRCTL, HVAR_CALL_PRCTL },
	{ { 158, 384, 158 }, HVAR_CAUSE_MMAP, HVAR_CALL_ARCH },
};

/* Where [heap] and [stack] are, names, and another [vdso]. */
static const struct {
	uint8_t form;
	uint32_t first;
} hvar_call_firsts[] = {
	{ HVAR_CALL_PRCTL, HVAR_PR_SET_MM },
	{ HVAR_CALL_PRCTL, HVAR_PR_SET_VMA },
	{ HVAR_CALL_ARCH, HVAR_ARCH_MAP_VDSO_X32 },
	{ HVAR_CALL_ARCH, HVAR_ARCH_MAP_VDSO_32 },
	{ HVAR_CALL_ARCH, HVAR_ARCH_MAP_VDSO_64 },
};

static const struct hvar_call_row *hvar_call_find(enum hvar_abi abi, uint64_t nr)
{
	uint32_t bit = abi == HVAR_ABI_X32 ? HVAR_CALL_X32 : 0, i;

	if ((uint32_t)abi > HVAR_ABI_X32)
		return NULL;
	for (i = 0; i < HVAR_ARRAY_SIZE(hvar_call_rows); i++)
		if (hvar_call_rows[i].nr[abi] != HVAR_CALL_NO_NR &&
		    (hvar_call_rows[i].nr[abi] | bit) == nr)
			return &hvar_call_rows[i];
	return NULL;
}

HVAR_API uint32_t hvar_call_cause(enum hvar_abi abi, uint64_t nr)
{
	const struct hvar_call_row *row = hvar_call_find(abi, nr);

	return row ? row->cause : HVAR_CAUSE_NONE;
}

HVAR_API uint32_t hvar_call_numbers(enum hvar_abi abi, uint32_t *out, uint32_t max)
{
	uint32_t bit = abi == HVAR_ABI_X32 ? HVAR_CALL_X32 : 0, i, n = 0;

	if ((uint32_t)abi > HVAR_ABI_X32)
		return 0;
	for (i = 0; i < HVAR_ARRAY_SIZE(hvar_call_rows); i++) {
		if (hvar_call_rows[i].nr[abi] == HVAR_CALL_NO_NR ||
		    hvar_call_rows[i].form >= HVAR_CALL_NO_STOP)
			continue;
		if (n < max)
			out[n] = hvar_call_rows[i].nr[abi] | bit;
		n++;
	}
	return n;
}

HVAR_API uint32_t hvar_call_some(enum hvar_abi abi, struct hvar_call_some *out,
				 uint32_t max)
{
	uint32_t bit = abi == HVAR_ABI_X32 ? HVAR_CALL_X32 : 0, i, k, n = 0;

	if ((uint32_t)abi > HVAR_ABI_X32)
		return 0;
	for (i = 0; i < HVAR_ARRAY_SIZE(hvar_call_rows); i++)
		for (k = 0; k < HVAR_ARRAY_SIZE(hvar_call_firsts); k++) {
			if (hvar_call_firsts[k].form != hvar_call_rows[i].form)
				continue;
			if (n < max) {
				out[n].nr = hvar_call_rows[i].nr[abi] | bit;
				out[n].first = hvar_call_firsts[k].first;
			}
			n++;
		}
	return n;
}

HVAR_API bool hvar_call_changes(enum hvar_abi abi, uint64_t nr, uint64_t first)
{
	const struct hvar_call_row *row = hvar_call_find(abi, nr);
	uint32_t k;

	if (!row || row->form == HVAR_CALL_NO_STOP)
		return false;
	if (row->form < HVAR_CALL_NO_STOP)
		return true;
	for (k = 0; k < HVAR_ARRAY_SIZE(hvar_call_firsts); k++)
		if (hvar_call_firsts[k].form == row->form &&
		    hvar_call_firsts[k].first == (uint32_t)first)
			return true;
	return false;
}

/* ipc(2): the low 16 bits of "which", include/uapi/linux/ipc.h. */
enum hvar_call_ipc { HVAR_CALL_IPC_SHMAT = 21, HVAR_CALL_IPC_SHMDT = 22 };

HVAR_API uint64_t hvar_call_words(enum hvar_abi abi, uint64_t nr,
				  const uint64_t regs[6])
{
	const struct hvar_call_row *row = hvar_call_find(abi, nr);

	if (!row || abi != HVAR_ABI_I386)
		return 0;
	if (row->form == HVAR_CALL_BLOCK)
		return (uint32_t)regs[0];
	if (row->form == HVAR_CALL_IPC &&
	    (regs[0] & 0xffff) == HVAR_CALL_IPC_SHMAT)
		return (uint32_t)regs[3];
	return 0;
}

/* It may have changed anything: no length, and no flags, so that nobody applies it. */
static void hvar_call_anywhere(struct hvar_call *c)
{
	memset(c->args, 0, sizeof(c->args));
	c->args[1] = HVAR_CALL_TOP;
	c->ret = 0;
}

/*
 *	ipc(SHMAT, id, flags, &address, wanted)	shmat(id, wanted, flags) = address
 *	ipc(SHMDT, -, -, -, address)		shmdt(address)
 */
static void hvar_call_fill_ipc(struct hvar_call *c, const uint32_t *words,
			       uint32_t nwords)
{
	uint64_t id = c->args[1], flags = c->args[2], at = c->args[4];

	switch (c->args[0] & 0xffff) {
	case HVAR_CALL_IPC_SHMAT:
		memset(c->args, 0, sizeof(c->args));
		c->args[0] = id;
		c->args[1] = at;
		c->args[2] = flags;
		/* Attached, even if the address could not be written. */
		if (c->ret == -EFAULT)
			c->ret = 0;
		else if (c->ret == 0 && nwords)
			c->ret = words[0];
		break;
	case HVAR_CALL_IPC_SHMDT:
		c->cause = HVAR_CAUSE_SHMDT;
		memset(c->args, 0, sizeof(c->args));
		c->args[0] = at;
		break;
	default:
		c->cause = HVAR_CAUSE_NONE;
	}
}

HVAR_API void hvar_call_fill(struct hvar_call *c, enum hvar_abi abi, uint64_t nr,
			     const uint64_t regs[6], int64_t ret,
			     const uint32_t *words, uint32_t nwords)
{
	const struct hvar_call_row *row = hvar_call_find(abi, nr);
	uint32_t i;

	c->cause = row ? row->cause : HVAR_CAUSE_NONE;
	memcpy(c->args, regs, sizeof(c->args));
	c->ret = ret;
	if (!row)
		return;
	if (abi == HVAR_ABI_I386) {
		for (i = 0; i < 6; i++)
			c->args[i] = (uint32_t)regs[i];
		/* An address above 2 GiB is no error, however it was extended. */
		if (!HVAR_CALL_FAILED((int64_t)(int32_t)(uint32_t)ret))
			c->ret = (uint32_t)ret;
		else
			c->ret = (int32_t)(uint32_t)ret;
	}
	switch (row->form) {
	case HVAR_CALL_BLOCK:
		if (abi != HVAR_ABI_I386)
			break;
		if (nwords < HVAR_CALL_WORDS) {
			hvar_call_anywhere(c);
			break;
		}
		for (i = 0; i < HVAR_CALL_WORDS; i++)
			c->args[i] = words[i];
		break;
	case HVAR_CALL_PAGES:
		c->args[5] <<= HVAR_PAGE_SHIFT;
		break;
	case HVAR_CALL_IPC:
		hvar_call_fill_ipc(c, words, nwords);
		break;
	case HVAR_CALL_SHADOW:
		/* mmap's address and length; no flags: what it maps is its own. */
		memset(c->args + 2, 0, sizeof(c->args) - 2 * sizeof(c->args[0]));
		break;
	case HVAR_CALL_ARCH:
		if (!hvar_call_changes(abi, nr, regs[0]))
			c->cause = HVAR_CAUSE_NONE;
		else if (!HVAR_CALL_FAILED(c->ret))
			hvar_call_anywhere(c);
		break;
	case HVAR_CALL_ANYWHERE:
		if (!HVAR_CALL_FAILED(c->ret))
			hvar_call_anywhere(c);
		break;
	}
}

/* [@start, @start + @len) in whole pages, into @out; returns 1, or 0 if it is empty. */
static uint32_t hvar_call_span(uint64_t start, uint64_t len, struct hvar_range *out)
{
	uint64_t end = start + len;

	if (!len)
		return 0;
	out->start = HVAR_PAGE_DOWN(start);
	if (end < start || end > HVAR_PAGE_DOWN(HVAR_CALL_TOP))
		out->end = HVAR_CALL_TOP;
	else
		out->end = HVAR_PAGE_UP(end);
	return 1;
}

/* @len as the kernel rounds it for huge pages of @size bytes, a power of 2. */
static uint64_t hvar_call_round(uint64_t len, uint64_t size)
{
	uint64_t up = (len + (size - 1)) & ~(size - 1);

	return up < len ? HVAR_CALL_TOP : up;
}

/*
 * The most that a mapping of @len bytes at @start may be, if it may be one of
 * huge pages: those start at a multiple of their size, and it is rounded to it.
 */
static uint64_t hvar_call_huge(uint64_t start, uint64_t len)
{
	if (!(start & (HVAR_CALL_1G - 1)))
		return hvar_call_round(len, HVAR_CALL_1G);
	if (!(start & (HVAR_CALL_2M - 1)))
		return hvar_call_round(len, HVAR_CALL_2M);
	return len;
}

static uint32_t hvar_call_mmap_ranges(const struct hvar_call *c, struct hvar_range *out)
{
	uint64_t start = c->args[0], len = c->args[1], flags = c->args[3];

	if (HVAR_CALL_FAILED(c->ret)) {
		/* What it was to replace may be gone: mmap_region() of Linux. */
		if (!(flags & HVAR_MAP_FIXED) || flags & HVAR_MAP_FIXED_NOREPLACE)
			return 0;
	} else {
		start = c->ret;
	}
	if (flags & HVAR_MAP_HUGETLB || !(flags & HVAR_MAP_ANONYMOUS))
		len = hvar_call_huge(start, len);
	return hvar_call_span(start, len, out);
}

/* What moved or was resized, and where it went; failed, it may have cleared both. */
static uint32_t hvar_call_mremap_ranges(const struct hvar_call *c,
					struct hvar_range *out)
{
	uint64_t from = c->args[0], to = c->ret, old_len = c->args[1];
	uint64_t new_len = c->args[2];
	uint32_t n;

	if (HVAR_CALL_FAILED(c->ret)) {
		n = hvar_call_span(from, old_len, out);
		if (c->args[3] & HVAR_MREMAP_FIXED)
			n += hvar_call_span(c->args[4], new_len, out + n);
		return n;
	}
	/* The host cannot know which memory is of huge pages: as much as it may be. */
	old_len = hvar_call_huge(from, old_len);
	new_len = hvar_call_huge(to, new_len);
	if (from == to)
		return hvar_call_span(from, old_len > new_len ? old_len : new_len, out);
	n = hvar_call_span(from, old_len, out);
	return n + hvar_call_span(to, new_len, out + n);
}

static uint32_t hvar_call_mprotect_ranges(const struct hvar_call *c,
					  struct hvar_range *out)
{
	uint64_t start = c->args[0], len = c->args[1], prot = c->args[2];
	uint32_t n;

	/* Not of whole pages: refused before anything happened. */
	if (start & HVAR_PAGE_MASK)
		return 0;
	n = hvar_call_span(start, len, out);
	if (n && prot & HVAR_PROT_GROWSDOWN)
		out->start = 0; /* from where its area starts */
	if (n && prot & HVAR_PROT_GROWSUP)
		out->end = HVAR_CALL_TOP;
	return n;
}

static uint32_t hvar_call_brk_ranges(const struct hvar_call *c, uint64_t brk,
				     struct hvar_range *out)
{
	uint64_t was = HVAR_PAGE_UP(brk), now = HVAR_PAGE_UP(c->ret);

	/* A question, or refused: then the old break is returned. */
	if (!c->args[0] || (uint64_t)c->ret != c->args[0])
		return 0;
	if (!brk)
		return hvar_call_span(0, HVAR_CALL_TOP, out);
	out->start = was < now ? was : now;
	out->end = was < now ? now : was;
	return out->start < out->end;
}

HVAR_API uint32_t hvar_call_ranges(const struct hvar_call *c, uint64_t brk,
				   struct hvar_range out[3])
{
	bool failed = HVAR_CALL_FAILED(c->ret);

	switch (c->cause) {
	case HVAR_CAUSE_MMAP:
		return hvar_call_mmap_ranges(c, out);
	case HVAR_CAUSE_MUNMAP:
		if (c->args[0] & HVAR_PAGE_MASK)
			return 0;
		return hvar_call_span(c->args[0], c->args[1], out);
	case HVAR_CAUSE_MREMAP:
		return hvar_call_mremap_ranges(c, out);
	case HVAR_CAUSE_BRK:
		return hvar_call_brk_ranges(c, brk, out);
	case HVAR_CAUSE_MPROTECT:
	case HVAR_CAUSE_PKEY_MPROTECT:
		return hvar_call_mprotect_ranges(c, out);
	case HVAR_CAUSE_SHMAT:
		if (failed)
			return 0;
		return hvar_call_span(c->ret, HVAR_CALL_TOP - c->ret, out);
	case HVAR_CAUSE_SHMDT:
		if (failed)
			return 0;
		return hvar_call_span(c->args[0], HVAR_CALL_TOP - c->args[0], out);
	case HVAR_CAUSE_REMAP_FILE_PAGES:
	case HVAR_CAUSE_MADVISE:
		return hvar_call_span(c->args[0], c->args[1], out);
	case HVAR_CAUSE_PRCTL:
		if (failed)
			return 0;
		if ((uint32_t)c->args[0] == HVAR_PR_SET_VMA)
			return hvar_call_span(c->args[2], c->args[3], out);
		if ((uint32_t)c->args[0] == HVAR_PR_SET_MM)
			return hvar_call_span(0, HVAR_CALL_TOP, out);
	}
	return 0;
}

HVAR_API void hvar_call_widen(const struct hvar_vmas *m, struct hvar_range *r)
{
	const struct hvar_vma *v = hvar_vmas_prev(m, r->start);

	if (v && v->end >= r->start)
		r->start = v->start;
	v = hvar_vmas_next(m, r->end);
	if (v && v->start <= r->end)
		r->end = v->end;
}
