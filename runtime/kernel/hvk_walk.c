// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * hvk_walk.c - from an area of current to the next, from a page in memory to the next.
 *
 * Callable where those of hvk_addr.c and hvk_page.c are, and as bounded. Nothing is held between two steps:
 * what changes meanwhile may be seen or not.
 */
#include "hvk_host.h"

#define HVK_WALK_STEPS 4096 /* entries of page tables, without a page in them */

/* Where the first area begins that begins above @addr; 0 if there is none, or nothing is known. */
HVK_API u64 hvk_next(u64 addr)
{
	const struct hvar_vma *v;
	struct hvk_space *s;
	unsigned long flags;
	u64 next = 0;

	rcu_read_lock();
	s = hvk_space_here();
	if (s) {
		local_irq_save(flags);
		if (hvk_space_trylock(s)) {
			v = hvar_vmas_next(&s->vmas, addr);
			if (v && v->start <= addr)
				v = hvar_vmas_next(&s->vmas, v->end);
			next = v ? v->start : 0;
			raw_spin_unlock(&s->lock);
		}
		local_irq_restore(flags);
	}
	rcu_read_unlock();
	return next;
}

/* The last byte of what the entry for @addr in a table of 1 << @shift bytes an entry stands for. */
#define HVK_ENTRY_LAST(addr, shift) ((addr) | ((1ul << (shift)) - 1))

/* Is anything mapped at @addr?  If not, *@last is the last byte of which that is certain. */
static bool hvk_walk_entry(struct mm_struct *mm, unsigned long addr, unsigned long *last)
{
	pgd_t pgd = READ_ONCE(*pgd_offset(mm, addr));
	p4d_t p4d;
	pud_t pud;
	pmd_t pmd;

	*last = HVK_ENTRY_LAST(addr, PGDIR_SHIFT);
	if (pgd_none(pgd) || unlikely(pgd_bad(pgd)))
		return false;
	p4d = READ_ONCE(*p4d_offset(&pgd, addr));
	*last = HVK_ENTRY_LAST(addr, P4D_SHIFT);
	if (p4d_none(p4d) || unlikely(p4d_bad(p4d)))
		return false;
	pud = READ_ONCE(*pud_offset(&p4d, addr));
	*last = HVK_ENTRY_LAST(addr, PUD_SHIFT);
	if (pud_none(pud))
		return false;
	if (!(pud_flags(pud) & HVK_PAGE_THERE) || pud_flags(pud) & _PAGE_PSE)
		return true;
	if (unlikely(pud_bad(pud)))
		return false;
	pmd = READ_ONCE(*pmd_offset(&pud, addr));
	*last = HVK_ENTRY_LAST(addr, PMD_SHIFT);
	if (pmd_none(pmd))
		return false;
	if (!(pmd_flags(pmd) & HVK_PAGE_THERE) || pmd_flags(pmd) & _PAGE_PSE)
		return true;
	if (unlikely(pmd_bad(pmd)))
		return false;
	*last = HVK_ENTRY_LAST(addr, PAGE_SHIFT);
	return !pte_none(READ_ONCE(*pte_offset_kernel(&pmd, addr)));
}

/*
 * The first page above the page (of whatever size) at @addr, or with @addr 0 of all, that has an entry in the page
 * table of current: in memory, or in swap; 0 if there is none.  After a long way without one, the page that was
 * reached.  Safe as hvk_page.h says.
 */
HVK_API u64 hvk_page_next(u64 addr)
{
	struct mm_struct *mm = READ_ONCE(current->mm);
	unsigned long flags, last = 0;
	bool there = false;
	int i;

	if (!mm || current->flags & PF_KTHREAD)
		return 0;
	local_irq_save(flags);
	if (read_cr3_pa() == __pa(mm->pgd)) {
		if (addr && addr < TASK_SIZE_MAX) {
			hvk_walk_entry(mm, addr, &last);
			addr = last + 1;
		}
		for (i = 0; i < HVK_WALK_STEPS && addr < TASK_SIZE_MAX && !there; i++) {
			there = hvk_walk_entry(mm, addr, &last);
			if (!there)
				addr = last + 1;
		}
	} else {
		addr = 0;
	}
	local_irq_restore(flags);
	return addr < TASK_SIZE_MAX ? addr : 0;
}

/* r, w, x or -, and p or s, of the area that holds @addr; "" if none does. */
HVK_API void hvk_prot(u64 addr, char out[5])
{
	struct hvk_found f;

	if (hvk_find(addr, &f) || !f.place.vma.end)
		*out = '\0';
	else
		hvk_prot_str(f.place.vma.prot, out);
}
