/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tracker_space.h - what the tracker keeps of an address space, private to tracker*.c.
 *
 * mm->vmas is its list, mm->host its struct space.  Every change of a list goes
 * through tracker_bring(), which tells it.
 */
#ifndef TRACKER_SPACE_H
#define TRACKER_SPACE_H

#include "look.h"
#include "modules.h"
#include "tracker.h"

/* Pages where nothing was found: asked for again only after a while. */
#define SPACE_MISSES 64
/* Mappings that grow by themselves, as [stack] does: those made last are watched. */
#define SPACE_GROWING 16

/* Ranges to look at, and what was mapped and unmapped a moment ago: tracker_told.c. */
#define SPACE_DOUBTS 8
#define SPACE_RECENT 32

struct space_doubt {
	uint64_t start, end;
	uint32_t cause; /* enum hvar_cause of the call that left them in doubt */
	bool changed;	/* that call has changed something: not to know what is a loss */
	uint64_t lo, hi; /* as looked at: whole areas */
	bool stale;	/* all of it is in doubt again */
	struct hvar_vma *seen; /* there, or NULL */
	size_t nseen;
	struct hvar_vmas touched; /* of what was seen: there were news of it since; without memory: none */
};

struct space_recent {
	uint64_t start, end, time_ns;
	pid_t tid; /* who mapped it; 0: nothing here */
	bool gone; /* unmapped it, rather */
};

struct space {
	struct look look;   /* its window, open or not */
	uint32_t used;	    /* tracker's clock when it was last looked through */
	bool denied;	    /* the kernel does not let us look */
	bool gone;	    /* the last look failed: the next window may be of what was executed meanwhile */
	uint64_t brk;	    /* program break; 0: not known */
	uint64_t start_brk; /* where it began; 0: not known */
	bool heap_told;	    /* there was a [heap] by now */
	bool executed;	    /* the areas of an exec are being told: tracker_program.c */
	bool narrow;	    /* a 32-bit program, */
	uint32_t program;   /* the module that was executed, 0: not known, */
	uint64_t program_end; /* and where it ends, with its .bss; 0: not known */
	uint64_t stack;	    /* an address in [stack]; 0: not known */
	uint64_t growing[SPACE_GROWING]; /* addresses in what MAP_GROWSDOWN made; 0: none */
	uint32_t next_growing;
	uint64_t read_ns;   /* event time of the last read of the whole file on a miss */
	int size_fd;	    /* of "statm", while its window is open; -1: none */
	pid_t size_pid;	    /* whose it is */
	uint64_t pages;	    /* of memory that there were at a look; 0: not known */
	unsigned as_large;  /* times in a row that it was found to be as large since */
	uint64_t started_ns; /* realtime: for files that changed after it */
	uint32_t personality; /* of the task that was asked first */
	bool asked;	     /* personality is known, or cannot be had and is 0 */
	struct space_doubt doubt[SPACE_DOUBTS];
	uint32_t ndoubts;
	uint64_t look_ns;   /* clock: not to be looked at before, or too much of the time goes into it */
	struct space_doubt quiet; /* all of it, as seen when there had been no news for a while */
	uint32_t maybe_mm; /* number of the address space that this one may be, and not a copy of; 0: none */
	bool maybe_changed; /* such a one has had news */
	bool maybe_is;	   /* it is known to be that one by now */
	uint32_t strangers; /* such ones of this that have had news and are gone */
	struct space_recent recent[SPACE_RECENT];
	uint32_t next_recent;
	struct {
		pid_t tid;
		uint64_t time_ns;
	} last[SPACE_RECENT]; /* news of a task, by tid; one may take another's place */
	uint64_t news_ns;    /* of the last news of a map that was told late, since it was last found quiet; 0: none */
	struct {
		struct hvar_call call; /* its cause is HVAR_CAUSE_NONE: none */
		pid_t tid;
		uint64_t time_ns, place; /* place: that the kernel has chosen last */
		uint32_t places;	 /* how many it has chosen: 0, 1, or more */
	} begun; /* the call that held the lock last, if what it did is not told yet: tracker_begun.c */
	bool sealed;	     /* it has called mseal(2): what it unmaps may stay */
	struct {
		uint64_t page;
		uint64_t time_ns;
	} miss[SPACE_MISSES];
};

struct tracker {
	struct stream *out;
	struct hvar_tasks tasks;
	struct modules *modules;
	struct look_areas areas; /* of the last look */
	struct hvar_vma *seen;	 /* the same, numbered */
	size_t nseen, seen_cap;
	uint32_t clock, windows, max_windows;
	uint64_t told;		 /* events */
	pid_t checked_pid;	 /* at checked_ns, what is followed by this number was the same process */
	uint64_t checked_ns;
	tracker_tap_fn tap;	 /* NULL: none */
	void *tap_ctx;
	bool late_is_usual;	 /* changes that a look finds are no loss */
	bool news_are_late;	 /* tracker_news_are_late() */
	bool news_begin;	 /* tracker_calls_begin() */
	uint64_t most_areas;	 /* a process may have, by the kernel's count */
	bool doubts;		 /* some space has some */
	pid_t launched;		 /* that has executed a program, which is not told yet; 0: none */
	uint64_t launched_brk;	 /* where its break begins */
	bool vsyscall_asked;
	struct hvar_vma vsyscall; /* empty: there is none */
	uint64_t lost[STREAM_LOST_WHATS]; /* since they were last told */
};

/* Memory for a new address space: a copy of @from's list, or an empty one.  0 or -ENOMEM. */
int space_born(struct hvar_mm *mm, const struct hvar_mm *from);
/* Take back the memory of an address space that is gone. */
void space_gone(struct tracker *t, struct hvar_mm *mm);

/* Whose reading implies executing?  Read once for an address space, through @tid, which is in it. */
uint32_t space_personality(struct space *s, pid_t tid);

static inline struct space *space_of(const struct hvar_mm *mm)
{
	return mm->host;
}

/*
 * Look at [*@lo, *@hi) of @mm into t->seen, @tid being a task in it, and widen the
 * range to the areas seen.  @fresh: what is new there was mapped just now.
 */
int tracker_see(struct tracker *t, struct hvar_mm *mm, pid_t tid, uint64_t *lo,
		uint64_t *hi, bool fresh);
/* Open @mm's window through any of its tasks, @tid first.  0 or -errno. */
int tracker_window(struct tracker *t, struct hvar_mm *mm, pid_t tid);
/* Bring @mm's list in [@lo, @hi) up to t->seen and tell what changed.  0 or -ENOMEM. */
int tracker_bring(struct tracker *t, struct hvar_mm *mm, uint64_t lo, uint64_t hi,
		  const struct hvar_event *base);
/* An emit function for the core: @ctx is the tracker. */
void tracker_emit(void *ctx, const struct hvar_event *e);
/* Tell how far [stack] and its like in @mm, where @task is, have grown by themselves. */
void tracker_grown(struct tracker *t, struct hvar_mm *mm, const struct hvar_task *task,
		   uint64_t time_ns);
/* @s is gone, and what it left in doubt will never be known: count it. */
void tracker_doubts_gone(struct tracker *t, const struct space *s);
/* What was seen of @s's doubts is nothing any more. */
void space_doubts_fini(struct space *s);
/* Do @c to the list by what it says alone, @file as for hvar_call_apply().  0, -EOPNOTSUPP or -ENOMEM. */
int tracker_apply(struct tracker *t, struct hvar_mm *mm, const struct hvar_task *task,
		  const struct hvar_call *c, const struct hvar_vma *file, uint64_t time_ns);
/* Widen @r by its neighbours whose label may come or go with what lies there. */
void tracker_take_in_labels(const struct hvar_mm *mm, struct hvar_range *r);
/* Where the last piece ends of the SysV segment that was attached at @at; 0: none is listed. */
uint64_t tracker_segment_end(const struct tracker *t, const struct hvar_mm *mm, uint64_t at);
/* @tid has mapped [@lo, @hi) of @mm, as was told just now. */
void tracker_mapped_by(struct tracker *t, struct hvar_mm *mm, pid_t tid, uint64_t lo, uint64_t hi,
		       uint64_t time_ns);
/* [@lo, @hi) of @mm is in doubt, and @changed if a call has most likely changed something there. */
void tracker_doubt(struct tracker *t, struct hvar_mm *mm, uint64_t lo, uint64_t hi, uint32_t cause, bool changed);
/* Is what @tid maps up to @end the memory of the break that it is about to move up? */
bool tracker_begun_is_break(const struct space *s, pid_t tid, uint64_t end);
/* @tid has mapped [@start, @end): if that is the break's, it has moved. */
void tracker_begun_mapped(struct tracker *t, struct hvar_mm *mm, pid_t tid, uint64_t start, uint64_t end,
			  uint64_t time_ns);
/* Whatever call held the lock of @mm (NULL: none) last, it is over. */
void tracker_begun_finish(struct tracker *t, struct hvar_mm *mm, uint64_t time_ns);
/* There are news of [@lo, @hi) of @s: what was seen there, or wherever, is nothing any more. */
void tracker_touch(struct space *s, uint64_t lo, uint64_t hi);
void tracker_touch_all(struct space *s);
/* All of @mm is in doubt. */
void tracker_doubt_all(struct tracker *t, struct hvar_mm *mm, uint32_t cause);
/* Tell again the modules of which a fact has changed since they were told. */
void tracker_tell_modules(struct tracker *t);
/* After a look at everything: note where stack and heap end. */
void tracker_landmarks(struct tracker *t, struct hvar_mm *mm, uint64_t start_brk);

/* Where the break of what @pid has executed begins: as was told by tracker_break_begins(), else @start_brk. */
uint64_t tracker_begins_at(struct tracker *t, pid_t pid, uint64_t start_brk);
/* @v of @mm was told by perf: at the end of what an exec maps, what is not told of it follows, as @base. */
void tracker_program_told(struct tracker *t, struct hvar_mm *mm, const struct hvar_vma *v, const struct hvar_event *base);
/* perf has no name for @m of @mm, where @pid is: what is it?  Into @v. */
void tracker_name_anon(struct tracker *t, struct hvar_mm *mm, pid_t pid, const struct tracker_mmap *m, struct hvar_vma *v);
/* @m was told as [heap]. */
void tracker_heap_told(struct space *s, const struct tracker_mmap *m);
/* After a look at everything, where nothing else tells of the break. */
void tracker_heap_seen(struct tracker *t, struct hvar_mm *mm);

/* A task of @pid, the leader if it is followed; NULL if none is. */
struct hvar_task *tracker_task_of(const struct tracker *t, pid_t pid);

static inline void tracker_count(struct tracker *t, enum stream_loss_what what)
{
	t->lost[what]++;
}

#endif /* TRACKER_SPACE_H */
