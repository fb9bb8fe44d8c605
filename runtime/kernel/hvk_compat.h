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
#include <linux/hashtable.h>
#include <linux/hugetlb.h>
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
#include <linux/sched/task_stack.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/stat.h>
#include <linux/task_work.h>
#include <linux/timekeeping.h>
#include <linux/uaccess.h>
#include <linux/version.h>
#include <linux/vmalloc.h>
#include <asm/syscall.h>

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

#endif /* HVK_COMPAT_H */
