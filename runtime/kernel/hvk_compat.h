/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hvk_compat.h - what differs between kernels, and between runtimes of SystemTap.
 *
 * The one file of the kernel host that asks for versions.  Kernels from 6.1 on.
 * HVK_OBJECT is defined where the host is compiled on its own, outside a stap
 * module, to be checked by the compiler; then what the stap runtime gives is
 * declared here.
 */
#ifndef HVK_COMPAT_H
#define HVK_COMPAT_H

#include <linux/atomic.h>
#include <linux/compat.h>
#include <linux/cred.h>
#include <linux/dcache.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/fs_struct.h>
#include <linux/hashtable.h>
#include <linux/hugetlb.h>
#include <linux/kallsyms.h>
#include <linux/kdev_t.h>
#include <linux/magic.h>
#include <linux/mm.h>
#include <linux/mm_types.h>
#include <linux/mmap_lock.h>
#include <linux/path.h>
#include <linux/percpu.h>
#include <linux/personality.h>
#include <linux/rculist.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/task_stack.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/stat.h>
#include <linux/swap.h>
#include <linux/swapops.h>
#include <linux/task_work.h>
#include <linux/timekeeping.h>
#include <linux/uaccess.h>
#include <linux/version.h>
#include <linux/vmalloc.h>
#include <asm/pgtable.h>
#include <asm/processor.h>
#include <asm/inat.h>
#include <asm/insn-eval.h>
#include <asm/insn.h>
#include <asm/segment.h>
#include <asm/syscall.h>

/* swapops.h in new words (6.19). */
#if __has_include(<linux/leafops.h>)
#include <linux/leafops.h>
#define HVK_LEAFOPS
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 1, 0)
#error "hotvar's kernel host needs Linux 6.1 or newer (it walks areas with the VMA iterator)"
#endif

#ifdef HVK_OBJECT
#define task_work callback_head
extern int stp_task_work_add(struct task_struct *task, struct callback_head *work);
extern void stp_init_task_work(struct callback_head *work, task_work_func_t fn);
extern void stp_task_work_func_done(void);
extern void _stp_warn(const char *fmt, ...);
extern void _stp_printf(const char *fmt, ...);
#endif

/*
 * In a module for a member of the group stapusr (stap --unprivileged) everything is his own processes' alone, and
 * nothing that he may call again and again takes long.
 */
#define HVK_UNPRIVILEGED 0
#define hvk_is_ours()	 true
#ifndef HVK_OBJECT
#if !STP_PRIVILEGE_CONTAINS(STP_PRIVILEGE, STP_PR_STAPDEV) && !STP_PRIVILEGE_CONTAINS(STP_PRIVILEGE, STP_PR_STAPSYS)
#undef HVK_UNPRIVILEGED
#undef hvk_is_ours
#define HVK_UNPRIVILEGED 1
#define hvk_is_ours()	 is_myproc()
#endif
#endif

/* Calls through pointers to what is not exported may lack the landing pad that IBT wants; old runtimes do not care. */
#ifndef ibt_wrapper
#define ibt_wrapper(type, call) (call)
#endif

/*
 * All that is allocated.  With -DHVK_FAIL_EVERY=N each N-th time there is no memory, while
 * hvk_failing is set: for those who test what then becomes of us.
 */
#ifdef HVK_FAIL_EVERY
static bool hvk_failing __attribute__((unused)) = true;
static atomic_t hvk_allocations = ATOMIC_INIT(0);

static inline bool hvk_fails(void)
{
	return READ_ONCE(hvk_failing) &&
	       (u32)atomic_inc_return(&hvk_allocations) % HVK_FAIL_EVERY == 0;
}
#else
static inline bool hvk_fails(void)
{
	return false;
}
#endif

static inline void *hvk_kmalloc(size_t size, gfp_t flags)
{
	return hvk_fails() ? NULL : kmalloc(size, flags);
}

static inline void *hvk_kvmalloc(size_t size)
{
	return hvk_fails() ? NULL : kvmalloc(size, GFP_KERNEL | __GFP_NOWARN);
}

/* The file as the program sees it: behind overlayfs and its like lies another one (6.8). */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 8, 0)
#define hvk_file_path(file)  file_user_path(file)
#define hvk_file_inode(file) file_user_inode(file)
#else
#define hvk_file_path(file)  (&(file)->f_path)
#define hvk_file_inode(file) file_inode(file)
#endif

/* What /proc/PID/maps calls [heap]: 6.6 stopped counting areas that only touch it. */
static inline bool hvk_is_heap(const struct vm_area_struct *vma)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 6, 0)
	return vma->vm_start < vma->vm_mm->brk &&
	       vma->vm_end > vma->vm_mm->start_brk;
#else
	return vma->vm_start <= vma->vm_mm->brk &&
	       vma->vm_end >= vma->vm_mm->start_brk;
#endif
}

static inline bool hvk_is_stack(const struct vm_area_struct *vma)
{
	return vma->vm_start <= vma->vm_mm->start_stack &&
	       vma->vm_end >= vma->vm_mm->start_stack;
}

/* Size, and time of the last change, of what @inode is: seconds and nanoseconds in one. */
static inline u64 hvk_inode_mtime(const struct inode *inode)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 7, 0)
	struct timespec64 t = inode_get_mtime(inode);
#else
	struct timespec64 t = inode->i_mtime;
#endif

	return (u64)t.tv_sec * NSEC_PER_SEC + t.tv_nsec;
}

/* The name that a program has given anonymous memory, without "[anon:" and "]"; or NULL. */
static inline const char *hvk_anon_name(struct vm_area_struct *vma)
{
#ifdef CONFIG_ANON_VMA_NAME
	struct anon_vma_name *name = anon_vma_name(vma);

	return name ? name->name : NULL;
#else
	return NULL;
#endif
}

static inline bool hvk_is_i386_call(void)
{
#ifdef CONFIG_IA32_EMULATION
	return in_ia32_syscall();
#else
	return false;
#endif
}

/* What a page table's entry that is neither empty nor present means. */
enum hvk_entry {
	HVK_ENTRY_SWAP,	  /* the page is out */
	HVK_ENTRY_MOVING, /* it is being migrated: *@pfn, still or already, is where it is */
	HVK_ENTRY_MARKER, /* there is no page: guarded, or watched by userfaultfd */
	HVK_ENTRY_OTHER,
};

static inline enum hvk_entry hvk_entry_kind(pte_t pte, unsigned long *pfn)
{
#ifdef HVK_LEAFOPS
	softleaf_t e = softleaf_from_pte(pte);

	if (softleaf_is_swap(e))
		return HVK_ENTRY_SWAP;
	if (softleaf_is_marker(e))
		return HVK_ENTRY_MARKER;
	if (!softleaf_is_migration(e))
		return HVK_ENTRY_OTHER;
	*pfn = softleaf_to_pfn(e);
#else
	swp_entry_t e = pte_to_swp_entry(pte);

	if (!non_swap_entry(e))
		return HVK_ENTRY_SWAP;
	if (is_pte_marker_entry(e))
		return HVK_ENTRY_MARKER;
	if (!is_migration_entry(e))
		return HVK_ENTRY_OTHER;
	*pfn = swp_offset_pfn(e);
#endif
	return HVK_ENTRY_MOVING;
}

/* The bit of memory that a device may take away; gone in 6.17. */
#ifdef CONFIG_ARCH_HAS_PTE_DEVMAP
#define HVK_PAGE_DEVMAP _PAGE_DEVMAP
#else
#define HVK_PAGE_DEVMAP 0
#endif

/*
 * How many entries of page tables map @page, of @folio; -1 where this kernel does not know.
 * Up to 6.10 there is page_mapcount(); then it is the kernel's own business, and this is
 * what /proc/kpagecount says.
 */
static inline s64 hvk_page_mapcount(struct page *page, struct folio *folio)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 11, 0)
	s64 n = page_mapcount(page);
#elif defined(CONFIG_NO_PAGE_MAPCOUNT)
	s64 n = atomic_read(&page->_mapcount) + 1;

	/* Of a large folio each mapping is counted, but not of which page. */
	if (folio_test_large(folio)) {
		if (!folio_test_anon(folio) || folio_maybe_mapped_shared(folio))
			return -1;
		n = 1;
	}
#else
	s64 n = atomic_read(&page->_mapcount) + 1;

	if (folio_test_large(folio))
		n = max_t(s64, n, 0) + atomic_read(&folio->_entire_mapcount) + 1;
#endif
	/* A page of another type keeps that where the count would be. */
	return max_t(s64, n, 0);
}

#endif /* HVK_COMPAT_H */
