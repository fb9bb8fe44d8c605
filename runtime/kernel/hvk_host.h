/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hvk_host.h - the core in a SystemTap module: what the kernel host keeps, and who locks what.
 *
 * Everything is one translation unit (hvk_host.c includes the rest).
 *
 * WHERE CODE RUNS
 *	handler	a stap probe of a followed thread: its call has returned, it begins or ends.
 *		current is that thread, preemption is off: nothing sleeps.
 *	work	a task_work of a followed thread, on its way back to user mode: may sleep.
 *		SystemTap waits for each before the module goes, so it is only ever handed to
 *		current, which then runs it soon; and no more once the session is stopping.
 *	look-up	a vma_ function, called from any probe: process, softirq, hardirq or NMI.
 *	end	probe end: no handler, work or look-up of another runs any more; preemption is off.
 *
 * LOCKS, in the order in which they are taken
 *	mmap_lock of current->mm, for reading.  A handler only tries, once, and leaves what it
 *		could not look at to a work, which waits for it.  Nobody else takes it.
 *	space->lock (raw, interrupts off): the list and counters of one address space.  A look
 *		holds it for one chunk of areas at a time; a look-up tries it some hundred times
 *		and answers "busy" otherwise, since an NMI, or a probe within the look itself,
 *		would wait for ever.  Below it only the allocator (GFP_ATOMIC) and hvk_events'.
 *		While space->growing, one work copies the list without it: handlers leave their changes to a work,
 *		and works wait.
 *	hvk_lock (raw, interrupts off): adding to and removing from the tables of spaces,
 *		threads and modules.  Nothing is taken below it.
 *
 * WITHOUT A LOCK
 *	Tables are read under RCU (preemption is off in every probe).  Records are freed by
 *	kfree_rcu(), which needs no code of this module.  Modules and images live until the end.
 *	A thread's record, but for its pointer to the space, is its own thread's alone: handlers and works of
 *	one thread never overlap.  It is freed by another, when its thread has gone too far in
 *	exiting to have any more of them.
 *	Page tables are walked with interrupts off, their memory never kept: hvk_page.h.
 *
 * MEMORY
 *	Bounded by the HVK_MAX_ numbers; what does not fit, or cannot be had, is counted in
 *	hvk_lost and printed at the end.  Where that leaves a list behind its mm, all of it is looked at
 *	again, soon at first, then every two seconds, until it has succeeded.  hvk_stop() gives everything back.
 *
 *	an address space	320 bytes, and 16 KiB that are enough for some 140 areas; for more of them
 *				84 to 168 bytes an area, twice as much while it grows; HVK_MAX_AREAS are 128 MiB
 *	a thread		512 bytes, its task_struct kept until it is freed, and a page for events once it has had one
 *	an event to be told	88 bytes; HVK_MAX_EVENTS are 12 MiB
 *	a mapped file		192 bytes and its path; its image, if it has one: HVK_MAX_IMAGES of all
 *	a processor		8 KiB; the tables: 88 KiB
 *
 * AT THE END
 *	Events of a thread that has not returned from a call since are only counted: a handler runs as the
 *	thread whose event it is, and at the end of the script none does.  A thread that ends is told all.
 */
#ifndef HVK_HOST_H
#define HVK_HOST_H

#include "hvk_compat.h"
#include "hvk_page.h"
#include "../core/hvar_call.h"
#include "../core/hvar_diff.h"
#include "../core/hvar_event.h"
#include "../core/hvar_image.h"
#include "../core/hvar_key.h"
#include "../core/hvar_resolve.h"
#include "../core/hvar_vmas.h"

#define HVK_API static __attribute__((unused))
#define HVK_GFP (GFP_ATOMIC | __GFP_NOWARN)

#define HVK_HASH_BITS	 10
#define HVK_CHUNK	 32	     /* areas seen under one hold of space->lock */
#define HVK_FIRST_AREAS 120	     /* that a new space has room for; it grows */
#define HVK_AT_ONCE	 1024	     /* areas that a handler walks; more are a work's */
#define HVK_MAX_AREAS	 (1u << 20)  /* of one address space */
#define HVK_MAX_SPACES	 4096
#define HVK_MAX_THREADS	 32768
#define HVK_MAX_MODULES	 8192
#define HVK_MAX_EVENTS	 (1u << 17)  /* waiting to be delivered, of all threads */
#define HVK_MAX_IMAGE	 (256u << 20) /* bytes of one */
#define HVK_MAX_IMAGES	 (1024ul << 20) /* bytes of all */
#define HVK_MAX_HANDLERS 32	     /* of one thread, that get the same news */
#define HVK_MAX_RANGES	 4

/* What a script of an unprivileged user may make the kernel keep. */
#if HVK_UNPRIVILEGED
#undef HVK_MAX_SPACES
#undef HVK_MAX_THREADS
#undef HVK_MAX_EVENTS
#undef HVK_MAX_IMAGES
#define HVK_MAX_SPACES	 256
#define HVK_MAX_THREADS	 4096
#define HVK_MAX_EVENTS	 (1u << 14)
#define HVK_MAX_IMAGES	 (128ul << 20)
#endif

/* ---- losses: what could not be kept or told, by reason ---- */

enum hvk_loss {
	HVK_LOST_EVENTS,  /* changes that no handler was told: no memory */
	HVK_LOST_AREAS,	  /* looks given up for want of memory: the list is behind */
	HVK_LOST_SPACES,
	HVK_LOST_THREADS,
	HVK_LOST_MODULES, /* files without a name */
	HVK_LOST_IMAGES,  /* too large, or no memory */
	HVK_LOST_BUSY,	  /* look-ups that found the list being changed */
	HVK_LOST_LOCK,	  /* looks that could not wait for mmap_lock: the task was killed */
	HVK_LOST_TELL,	  /* handlers not told: there are too many of them */
	HVK_LOSSES
};

static atomic64_t hvk_lost[HVK_LOSSES];

HVK_API void hvk_lose(enum hvk_loss what)
{
	atomic64_inc(&hvk_lost[what]);
}

/* ---- modules: mapped files, and areas with a name ---- */

enum hvk_module_state {
	HVK_MODULE_NEW,	    /* its file is to be read by a work */
	HVK_MODULE_READING, /* one work has it */
	HVK_MODULE_LOADED,  /* image is set */
	HVK_MODULE_MISSING, /* no image (yet): tried again when the directory changes */
	HVK_MODULE_NO_ID,   /* ELF without a build-id, or could not be read: no image can be found */
	HVK_MODULE_NO_ELF,
	HVK_MODULE_REFUSED, /* its image is damaged, foreign, or not root's alone */
};

struct hvk_image; /* hvk_image.c */

struct hvk_module {
	struct hlist_node node; /* hvk_modules */
	uint32_t id;		/* from 1 */
	atomic_t state;		/* enum hvk_module_state */
	const void *dentry;	/* identity, with the facts' dev and ino; never followed */
	u64 name_hash;
	struct file *file;	/* held until read */
	const struct hvk_image *image; /* published when complete */
	struct hvar_module facts;
	uint32_t generation;	/* of the inode */
	u64 view;		/* hvk_view() where it was first seen */
	u32 renames;		/* hvk_renames() when its path was last seen to be right */
	bool wanted;		/* somebody asked for a name in it */
	uint8_t shared_region, private_region; /* enum hvar_region of its areas */
	uint32_t len;
	char path[]; /* without " (deleted)" */
};

/* ---- address spaces ---- */

/* The list's storage: freed by RCU. */
struct hvk_store {
	struct rcu_head rcu;
	u64 bytes; /* of mem */
	u8 pad[64 - sizeof(struct rcu_head) - sizeof(u64)];
	u8 mem[];
};

struct hvk_range {
	u64 start, end;
};

struct hvk_space {
	struct hlist_node node;	/* hvk_spaces */
	struct rcu_head rcu;
	struct mm_struct *mm;	/* its count held: the pointer means this one until freed */
	u64 exec_id;		/* self_exec_id of the task that it was first seen in */
	u64 since;		/* when that was: as task_struct.start_time */
	uint32_t id;		/* from 1, never used twice */
	atomic_t users;		/* live threads */
	atomic_t refs;		/* thread records, live or dead */
	atomic_t ended;		/* its end has been told */
	raw_spinlock_t lock;	/* for all below */
	struct hvar_vmas vmas;
	struct hvk_store *store;
	u64 brk;		/* as after the last look that asked */
	unsigned long stack_vm; /* mm->stack_vm as after the last look at the stack */
	u64 pages;		/* in all areas of the list */
	u64 odd;		/* mm->total_vm less these, as after the last whole look: usually 0 */
	u64 seq;		/* number of the last event */
	u64 parent_seq;		/* the parent's when this was copied from it, else 0 */
	bool begun;		/* the first whole look is over */
	bool growing;		/* the list is being copied to a larger place: it is not to be changed */
	bool behind;		/* something could not be kept: all is to be looked at again, */
	unsigned long again;	/* from this jiffy on, */
	unsigned long pause;	/* and in so many jiffies more if that fails too */
	struct hvk_range heap, stack; /* around all that was ever called so */
	u64 strange;		/* what total_vm less pages is, where that is not odd, */
	u64 strange_seq;	/* after which event, */
	unsigned long strange_from; /* since which jiffy */
};

/* ---- events ---- */

struct hvk_event {
	u64 seq; /* within its address space, from 1 */
	struct hvar_event e;
};

#define HVK_PER_PAGE ((PAGE_SIZE - 2 * sizeof(void *)) / sizeof(struct hvk_event))

struct hvk_page_of_events {
	struct hvk_page_of_events *next;
	u32 n;
	struct hvk_event v[HVK_PER_PAGE];
};

struct hvk_events {
	struct hvk_page_of_events *first, *last;
	u32 skip;  /* of the first page, delivered already */
	u32 n;	   /* not yet gone, in all pages */
	u32 shown; /* of them, that the handlers of this call see */
	u32 mask;  /* types that the running handler is for: bits 1 << type */
	u32 at;	   /* the one selected, counted from the first */
	struct hvk_page_of_events *page; /* holds it; NULL: none is selected */
	u32 page_first;			 /* number of page's first event, counted likewise */
};

/* ---- threads ---- */

enum hvk_news { HVK_BEGIN = 1, HVK_CALL, HVK_END };

struct hvk_thread {
	struct hlist_node node; /* hvk_threads */
	struct rcu_head rcu;
	struct hvk_thread *next_dead;
	struct task_struct *task; /* its count held: the pointer means this one until freed */
	u32 pid, tid;
	bool dead;
	struct hvk_space *space; /* holds a ref; read by look-ups */
	struct hvk_events events;
	u64 signature;		/* of the news that the handlers are being told */
	u64 told[HVK_MAX_HANDLERS]; /* handlers that have been told it */
	u32 n_told;
	u32 cause;		/* of the looks that are waiting */
	struct hvk_range waiting[HVK_MAX_RANGES];
	u32 n_waiting;
	bool queued;		/* its work is */
	struct task_work work;
};

/* Where a look puts what it sees, and reads names: one a CPU for handlers, one a work. */
struct hvk_scratch {
	struct hvar_vma seen[HVK_CHUNK];
	bool nameless; /* one of them: there was no memory for its name */
	char path[PATH_MAX];
};

static DEFINE_RAW_SPINLOCK(hvk_lock);

/* Where images are; hvk_image.c. */
HVK_API int hvk_images_begin(const char *dir);

/* ---- what the functions of the tapset are made of: hvk_addr.c ---- */

struct hvk_found {
	struct hvar_place place;
	const struct hvk_module *module; /* that the address belongs to, or NULL */
	const struct hvk_module *file;	 /* of its area, or NULL */
	const struct hvar_image *image;	 /* that names it, or NULL */
	uint32_t space;			 /* its number */
};

/*
 * Resolve @addr of current.  Callable anywhere.  Returns 0, -ESRCH if current's
 * address space is not followed, or -EBUSY.
 */
HVK_API int hvk_find(u64 addr, struct hvk_found *out);

#endif /* HVK_HOST_H */
