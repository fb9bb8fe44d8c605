// SPDX-License-Identifier: GPL-2.0-or-later
/* hvk_access.c - see hvk_access.h. */
#include "hvk_access.h"

static DEFINE_PER_CPU(struct hvk_told, hvk_told);
static bool hvk_access_said;

HVK_API void hvk_access_begin(void)
{
	if (!hvk_insn_begin() || hvk_access_said)
		return;
	hvk_access_said = true;
	_stp_warn("vma: vma.access and vma.fault will not fire: this kernel gives no address of its instruction decoder (insn_decode, insn_get_seg_base in /proc/kallsyms); it needs CONFIG_KALLSYMS=y, and staprun the right to read the addresses (sysctl kernel.kptr_restrict=1 or 0, no lockdown)\n");
}

HVK_API struct hvk_told *hvk_told_here(void)
{
	return this_cpu_ptr(&hvk_told);
}

/* Is current of a followed process? */
static bool hvk_is_followed(void)
{
	bool is;

	rcu_read_lock();
	is = hvk_space_here() != NULL;
	rcu_read_unlock();
	return is;
}

HVK_API bool hvk_sample(struct pt_regs *regs)
{
	struct hvk_told *t = hvk_told_here();

	if (!regs || !user_mode(regs) || !hvk_is_followed())
		return false;
	atomic64_inc(&hvk_seen[HVK_SAMPLES]);
	t->at = 0;
	if (hvk_step_next(regs, &t->a) > 0)
		return true;
	t->a.n = 0;
	atomic64_inc(&hvk_seen[HVK_SAMPLES_MISSED]);
	return false;
}

HVK_API bool hvk_sample_next(void)
{
	struct hvk_told *t = hvk_told_here();

	return ++t->at < t->a.n;
}

/* Is memory at @addr no code?  Then it is the fetch that faults, whatever the instruction would do. */
static bool hvk_is_no_code(u64 addr)
{
	struct hvk_found f;

	return !hvk_find(addr, &f) && f.place.kind != HVAR_KIND_UNMAPPED &&
	       !(f.place.vma.prot & HVAR_PROT_EXEC);
}

/* Would the processor refuse one of @span bytes from @addr, as the page table is now?  *@at: the first that it would. */
static bool hvk_is_refused(u64 addr, u32 span, u32 what, bool fetch, u64 *at)
{
	u64 end = addr + span;

	if (addr >= TASK_SIZE_MAX)
		return false; /* nor may the end go round to 0 */
	for (*at = addr; *at < end; *at = (*at | ~PAGE_MASK) + 1)
		if (hvk_page_refuses(*at, what & HVK_WRITE, fetch))
			return true;
	return false;
}

/*
 * The processor's address of the fault at hand has been overwritten, but the fault is not served yet: which of the
 * accesses of its instruction would be refused?  @length: of the instruction, 0 if that is not it.  Of two that would it
 * is the first, if it is a read and the other a write; an operand's length is only known not to be more than its
 * span, so one that would be refused in its second page counts where there is no other.
 */
static bool hvk_fault_recover(u64 ip, u32 length, struct hvk_told *t)
{
	const struct hvk_access *v = t->a.v, *found = NULL;
	u64 at;
	u32 n;

	t->fetch = length && hvk_is_refused(ip, length, 0, true, &t->fault);
	if (t->fetch)
		return true;
	for (n = 0; n < t->a.n; n++) {
		if (!hvk_is_refused(v[n].addr, v[n].span, v[n].what, false, &at))
			continue;
		if (!found) {
			found = &v[n];
			t->fault = at;
		} else if (t->fault != found->addr || found->what != HVK_READ || !(v[n].what & HVK_WRITE)) {
			return false;
		}
	}
	t->what = found ? found->what : 0;
	return found != NULL;
}

/* Which operand of the instruction at @regs is @cr2 in, if not in the instruction itself? */
static bool hvk_fault_explain(struct pt_regs *regs, u64 cr2, struct hvk_told *t)
{
	struct hvk_insn i;
	struct hvk_cpu c;
	u32 length = 0, n;
	int err;

	t->fault = cr2;
	t->what = 0;
	t->fetch = false;
	t->kernel = !user_mode(regs);
	t->a.n = 0;
	if (t->kernel ? hvk_cpu_init_kernel(&c, regs) : hvk_cpu_init(&c, regs))
		return false;
	err = hvk_insn_read(&c, &i);
	if (!err)
		hvk_insn_accesses(&c, &i, &t->a);
	if (!t->kernel && (!err || err == -EFAULT))
		length = err ? MAX_INSN_SIZE : i.in.length;
	t->a.ip = t->kernel ? task_pt_regs(current)->ip : c.ip;
	t->fetch = cr2 - c.ip < length;
	if (t->fetch && hvk_is_no_code(cr2))
		return true;
	/* Operands that lie close together: the first byte of one tells which it is. */
	for (n = 0; n < t->a.n; n++)
		if (cr2 == t->a.v[n].addr)
			t->what |= t->a.v[n].what;
	for (n = 0; n < t->a.n && !t->what; n++)
		if (cr2 - t->a.v[n].addr < t->a.v[n].span)
			t->what = t->a.v[n].what;
	t->fetch &= !t->what;
	return t->fetch || t->what || hvk_fault_recover(c.ip, length, t);
}

HVK_API bool hvk_fault(struct pt_regs *regs)
{
	u64 cr2 = read_cr2();

	if (!regs || !hvk_is_followed())
		return false;
	atomic64_inc(&hvk_seen[HVK_FAULTS]);
	if (hvk_fault_explain(regs, cr2, hvk_told_here()))
		return true;
	atomic64_inc(&hvk_seen[HVK_FAULTS_MISSED]);
	return false;
}
