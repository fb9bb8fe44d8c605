// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * hvt_tool.c - the Valgrind tool "hotvar": its options, and what is done when.
 */
#include "pub_tool_basics.h"
#include "pub_tool_clientstate.h"
#include "pub_tool_libcassert.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_libcproc.h"
#include "pub_tool_options.h"
#include "pub_tool_tooliface.h"
#include "pub_tool_vki.h"
#include "pub_tool_vkiscnums.h"

#include "hvt_calls.h"
#include "hvt_count.h"
#include "hvt_frame.h"
#include "hvt_heap.h"
#include "hvt_line.h"
#include "hvt_link.h"
#include "hvt_malloc.h"
#include "hvt_map.h"
#include "hvt_prefetch.h"
#include "hvt_puts.h"
#include "hvt_request.h"
#include "hvt_shadow.h"
#include "hvt_sys.h"
#include "hvt_threads.h"
#include "hvt_tick.h"
#include "hvt_touch.h"

static const HChar *socket_name;
static Bool stopped;	    /* --hotvar-stopped */
static Bool told;	    /* hotvar knows this process */
static ULong relieved_at;   /* blocks run when counters were last looked at */
static UInt largest;	    /* of them then */

static Bool option(const HChar *arg)
{
	if (VG_STR_CLO(arg, "--hotvar-socket", socket_name))
		return True;
	if (VG_BOOL_CLO(arg, "--hotvar-malloc", hvt_heap_on))
		return True;
	if (VG_BOOL_CLO(arg, "--hotvar-stopped", stopped))
		return True;
	if (VG_BOOL_CLO(arg, "--hotvar-callers", hvt_calls_on))
		return True;
	if (VG_BOOL_CLO(arg, "--hotvar-lines", hvt_line_on))
		return True;
	if (VG_BINT_CLO(arg, "--hotvar-prefetches", hvt_prefetch_lines, 64, 1 << 20))
		return True;
	return False;
}

static void usage(void)
{
	VG_(printf)("    --hotvar-socket=NAME      set by hotvar, which runs this tool: hotvar --exact -- CMD\n"
		    "    --hotvar-malloc=no|yes    set by hotvar: Valgrind's malloc stands in for the program's [no]\n"
		    "    --hotvar-stopped=no|yes   set by hotvar: count nothing until the program asks for it [no]\n"
		    "    --hotvar-callers=no|yes   set by hotvar: count by instruction, too [no]\n"
		    "    --hotvar-lines=no|yes     set by hotvar: count by thread and cache line, too [no]\n"
		    "    --hotvar-prefetches=N     set by hotvar: watch prefetches until N other lines were touched [off]\n");
}

static void debug_usage(void)
{
	VG_(printf)("    (none)\n");
}

static void begin(void)
{
	if (!socket_name) {
		VG_(printf)("hotvar: this tool is run by hotvar itself: use \"hotvar --exact -- CMD\".\n");
		VG_(exit)(125);
	}
	hvt_link_name(socket_name);
	hvt_shadow_init();
	hvt_frame_init();
	hvt_threads_init();
	hvt_prefetch_init();
	hvt_puts_init();
	if (hvt_line_on) /* functions that wait for threads begin a block */
		VG_(clo_vex_control).guest_chase = False;
}

static IRSB *instrument(VgCallbackClosure *closure, IRSB *in, const VexGuestLayout *layout,
			const VexGuestExtents *extents, const VexArchInfo *arch, IRType guest, IRType host)
{
	(void)closure;
	(void)arch;
	if (guest != host)
		VG_(tool_panic)("guest and host words differ");
	hvt_touch_code(extents);
	if (!hvt_prefetch_lines) /* it reads registers anywhere */
		hvt_puts(in, layout);
	return hvt_count_block(in, layout);
}

/* Nothing is left to do at the end: hotvar reads the counters itself. */
static void end(Int exit_code)
{
	(void)exit_code;
}

/* A thread runs at most so many blocks before one of the two below is called (its scheduling quantum). */
#define QUANTUM 200000

static void thread_runs(ThreadId tid, ULong blocks)
{
	ULong most = hvt_count_most();

	if (!told) {
		told = True;
		hvt_link_hello(hvt_shadow_fd(), 0);
		hvt_map_initial();
		hvt_request_begin(stopped);
		hvt_calls_begin();
		hvt_prefetch_begin();
		hvt_tick_init();
	}
	hvt_threads_run(tid);
	hvt_line_run(tid);
	hvt_frame_resume(tid);
	if (hvt_tick()) {
		relieved_at = blocks;
		largest = 0;
	}
	if (largest + (blocks - relieved_at + QUANTUM) * (most ? most : 1) < 0xffffffffu)
		return;
	relieved_at = blocks;
	hvt_calls_take_all();
	largest = hvt_shadow_relieve();
}

/* ---- fork ---- */

/* Shared with the child: 1 when hotvar knows it. */
static volatile Int *known;
static Int parent;

static void before_fork(ThreadId tid)
{
	long page;

	(void)tid;
	if (told) /* what the child has touched before is known then */
		hvt_shadow_take_all();
	parent = VG_(getpid)();
	page = hvt_sys(__NR_mmap, 0, VKI_PAGE_SIZE, VKI_PROT_READ | VKI_PROT_WRITE, VKI_MAP_SHARED | VKI_MAP_ANONYMOUS, -1, 0);
	known = page < 0 && page > -4096 ? NULL : (volatile Int *)page;
}

enum { FUTEX_WAIT_ = 0, FUTEX_WAKE_ = 1 };

/* The child's copy of the map is as ours is now: no change may be told before hotvar has it. */
static void in_parent(ThreadId tid)
{
	struct vki_timespec wait = { 2, 0 };

	(void)tid;
	if (!known)
		return;
	if (!*known)
		hvt_sys(__NR_futex, (long)known, FUTEX_WAIT_, 0, (long)&wait, 0, 0);
	hvt_sys(__NR_munmap, (long)known, VKI_PAGE_SIZE, 0, 0, 0, 0);
	known = NULL;
}

static void in_child(ThreadId tid)
{
	hvt_frame_forking(tid);
	hvt_shadow_renew();
	hvt_frame_init();
	hvt_link_hello(hvt_shadow_fd(), (UInt)parent);
	if (known) {
		*known = 1;
		hvt_sys(__NR_futex, (long)known, FUTEX_WAKE_, 1, 0, 0, 0);
		hvt_sys(__NR_munmap, (long)known, VKI_PAGE_SIZE, 0, 0, 0, 0);
		known = NULL;
	}
	hvt_calls_forked();
	hvt_prefetch_forked();
	hvt_line_forked();
	hvt_threads_forked();
	hvt_tick_init();
	hvt_threads_run(tid);
	hvt_frame_forked(tid);
}

static void before_options(void)
{
	VG_(details_name)("hotvar");
	VG_(details_version)(HOTVAR_VERSION);
	VG_(details_description)("counts every access to every variable");
	VG_(details_copyright_author)("The hotvar authors, GPL-2.0-or-later");
	VG_(details_bug_reports_to)("the authors of hotvar");
	VG_(details_avg_translation_sizeB)(400);
	VG_(basic_tool_funcs)(begin, instrument, end);
	VG_(needs_command_line_options)(option, usage, debug_usage);
	VG_(track_start_client_code)(thread_runs);
	VG_(track_pre_thread_ll_create)(hvt_line_thread_created);
	VG_(track_pre_thread_ll_exit)(hvt_threads_ended);
	VG_(track_pre_deliver_signal)(hvt_frame_signal);
	VG_(atfork)(before_fork, in_parent, in_child);
	hvt_malloc_init();
	hvt_map_init();
	hvt_touch_init();
	hvt_request_init();
}

VG_DETERMINE_INTERFACE_VERSION(before_options)
