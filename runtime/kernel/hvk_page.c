// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * hvk_page.c - what the page table of the current process says of one address.
 *
 * May be included twice: by the whole host, and by those who want nothing else of it.
 */
#ifndef HVK_PAGE_C
#define HVK_PAGE_C

#include "hvk_page.h"

/* The lowest entry for an address, of whichever level; its flags lie alike in all. */
struct hvk_leaf {
	u64 value;	   /* 0: there is none */
	unsigned long pfn; /* of the address itself, if present */
	u32 shift;	   /* log2 of the bytes it maps */
	bool present;
};

static void hvk_leaf_set(struct hvk_leaf *l, u64 value, bool present, unsigned long pfn,
			 u32 shift, unsigned long addr)
{
	l->value = value;
	l->present = present;
	l->shift = shift;
	l->pfn = present ? pfn + ((addr & ((1ul << shift) - 1)) >> PAGE_SHIFT) : 0;
}

/* Being split, a huge entry has lost its present bit for a moment, not its huge one. */
#define HVK_PAGE_THERE (_PAGE_PRESENT | _PAGE_PROTNONE | _PAGE_PSE)

/* Each entry is read once: what is tested is what is followed. */
static void hvk_page_walk(struct mm_struct *mm, unsigned long addr, struct hvk_leaf *l)
{
	pgd_t pgd = READ_ONCE(*pgd_offset(mm, addr));
	p4d_t p4d;
	pud_t pud;
	pmd_t pmd;
	pte_t pte;

	hvk_leaf_set(l, 0, false, 0, 0, addr);
	if (pgd_none(pgd) || unlikely(pgd_bad(pgd)))
		return;
	p4d = READ_ONCE(*p4d_offset(&pgd, addr));
	if (p4d_none(p4d) || unlikely(p4d_bad(p4d)))
		return;

	pud = READ_ONCE(*pud_offset(&p4d, addr));
	if (pud_none(pud))
		return;
	if (!(pud_flags(pud) & HVK_PAGE_THERE) || pud_flags(pud) & _PAGE_PSE) {
		hvk_leaf_set(l, pud_val(pud), pud_flags(pud) & HVK_PAGE_THERE, pud_pfn(pud),
			     PUD_SHIFT, addr);
		return;
	}
	if (unlikely(pud_bad(pud)))
		return;

	pmd = READ_ONCE(*pmd_offset(&pud, addr));
	if (pmd_none(pmd))
		return;
	if (!(pmd_flags(pmd) & HVK_PAGE_THERE) || pmd_flags(pmd) & _PAGE_PSE) {
		hvk_leaf_set(l, pmd_val(pmd), pmd_flags(pmd) & HVK_PAGE_THERE, pmd_pfn(pmd),
			     PMD_SHIFT, addr);
		return;
	}
	if (unlikely(pmd_bad(pmd)))
		return;

	pte = READ_ONCE(*pte_offset_kernel(&pmd, addr));
	if (!pte_none(pte))
		hvk_leaf_set(l, pte_val(pte), pte_present(pte), pte_pfn(pte), PAGE_SHIFT, addr);
}

static pte_t hvk_leaf_flags(const struct hvk_leaf *l)
{
	return native_make_pte(l->value & ~(u64)PTE_PFN_MASK);
}

/*
 * The page of zeros in its huge form, which no exported name tells: a whole huge page that the
 * kernel has mapped, clean and not writable, without counting it and without an owner.
 */
static bool hvk_is_huge_zero(const struct hvk_leaf *l, struct folio *folio, s64 mapcount)
{
	return l->shift == PMD_SHIFT && mapcount == 0 && !READ_ONCE(folio->mapping) &&
	       folio_test_large(folio) && folio_order(folio) == PMD_SHIFT - PAGE_SHIFT &&
	       !(l->value & _PAGE_RW) && !pte_dirty(hvk_leaf_flags(l));
}

/* What the descriptor of the page at @l says. */
static void hvk_page_descriptor(const struct hvk_leaf *l, struct hvk_page *out)
{
	struct page *page;
	struct folio *folio;

	if (is_zero_pfn(l->pfn)) {
		out->zero = 1;
		return;
	}
	if (!pfn_valid(l->pfn) || l->value & HVK_PAGE_DEVMAP ||
	    (l->value & _PAGE_SPECIAL && l->shift != PMD_SHIFT))
		return;
	page = pfn_to_page(l->pfn);
	folio = page_folio(page);
	if (l->present)
		out->mapcount = hvk_page_mapcount(page, folio);
	if (hvk_is_huge_zero(l, folio, out->mapcount)) {
		out->zero = 1;
		out->mapcount = -1;
	} else if (l->value & _PAGE_SPECIAL) {
		out->mapcount = -1;
	} else {
		out->anon = folio_test_anon(folio);
		if (l->present && test_bit(PG_dirty, (unsigned long *)&folio->flags))
			out->dirty = 1;
	}
}

/* @l is not present. */
static void hvk_page_entry(struct hvk_leaf *l, struct hvk_page *out)
{
	memset(out, 0, sizeof(*out));
	switch (hvk_entry_kind(native_make_pte(l->value), &l->pfn)) {
	case HVK_ENTRY_SWAP:
		out->swapped = 1;
		out->anon = 1; /* a file's page leaves no entry behind */
		break;
	case HVK_ENTRY_MOVING:
		out->present = 1;
		out->size = 1ll << l->shift;
		out->dirty = out->young = -1;
		out->mapcount = -1;
		l->value = 0; /* its bits are no flags */
		hvk_page_descriptor(l, out);
		break;
	case HVK_ENTRY_MARKER:
		break;
	case HVK_ENTRY_OTHER: /* in a device's memory, or broken */
		out->anon = -1;
		out->mapcount = -1;
		break;
	}
}

static void hvk_page_read(struct hvk_leaf l, struct hvk_page *out)
{
	memset(out, 0, sizeof(*out));
	if (!l.value)
		return;
	if (!l.present) {
		hvk_page_entry(&l, out);
		return;
	}
	out->present = 1;
	out->size = 1ll << l.shift;
	out->dirty = !!pte_dirty(hvk_leaf_flags(&l));
	out->young = !!pte_young(hvk_leaf_flags(&l));
	out->mapcount = -1;
	hvk_page_descriptor(&l, out);
}

/* What is not known: every field -1. */
static void hvk_page_unknown(struct hvk_page *out)
{
	memset(out, 0xff, sizeof(*out));
}

static bool hvk_page_try(struct mm_struct *mm, unsigned long addr, struct hvk_page *out)
{
	struct hvk_leaf before, after;

	hvk_page_walk(mm, addr, &before);
	hvk_page_read(before, out);
	if (!before.value)
		return true;
	/* The entry's stores come before those to a page that has left it. */
	smp_rmb();
	hvk_page_walk(mm, addr, &after);
	return before.value == after.value && before.shift == after.shift;
}

static void hvk_page_look(u64 addr, struct hvk_page *out)
{
	struct mm_struct *mm = READ_ONCE(current->mm);
	unsigned long flags;
	int i;

	hvk_page_unknown(out);
	if (!mm || current->flags & PF_KTHREAD || addr >= TASK_SIZE_MAX)
		return;
	local_irq_save(flags);
	if (read_cr3_pa() == __pa(mm->pgd)) {
		for (i = 0; i < HVK_PAGE_TRIES && !hvk_page_try(mm, addr, out); i++)
			hvk_page_unknown(out);
		if (i == HVK_PAGE_TRIES)
			hvk_page_unknown(out);
	}
	local_irq_restore(flags);
}

static int __attribute__((unused)) hvk_page_copied(u64 addr)
{
	struct hvk_page p;

	hvk_page_look(addr, &p);
	return p.anon;
}

static bool __attribute__((unused)) hvk_page_refuses(u64 addr, bool write, bool fetch)
{
	struct mm_struct *mm = READ_ONCE(current->mm);
	struct hvk_leaf l;
	unsigned long flags;
	bool is = false;

	if (!mm || current->flags & PF_KTHREAD || addr >= TASK_SIZE_MAX)
		return false;
	local_irq_save(flags);
	if (read_cr3_pa() == __pa(mm->pgd)) {
		hvk_page_walk(mm, addr, &l);
		is = !(l.value & _PAGE_PRESENT) || (write && !(l.value & _PAGE_RW)) ||
		     (fetch && l.value & _PAGE_NX);
	}
	local_irq_restore(flags);
	return is;
}

#endif /* HVK_PAGE_C */
