// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * hvk_host.c - the whole kernel host, and its end: what a stap module includes.
 */
#include "hvk_host.h"

#include "../core/hvar_vmas_tree.c"
#include "../core/hvar_vmas.c"
#include "../core/hvar_event.c"
#include "../core/hvar_diff.c"
#include "../core/hvar_call.c"
#include "../core/hvar_call_apply.c"
#include "../core/hvar_image.c"
#include "../core/hvar_type.c"
#include "../core/hvar_resolve.c"
#include "../core/hvar_key.c"
#include "../core/hvar_module.c"

#include "hvk_event.c"
#include "hvk_module.c"
#include "hvk_space.c"
#include "hvk_look.c"
#include "hvk_build_id.c"
#include "hvk_image.c"
#include "hvk_thread.c"
#include "hvk_news.c"
#include "hvk_page.c"
#include "hvk_addr.c"
#include "hvk_member.c"
#include "hvk_walk.c"
#include "hvk_symbol.c"
#include "hvk_role.c"
#include "hvk_insn.c"
#include "hvk_step.c"
#include "hvk_access.c"

/* What hvk_host.h says of memory. */
typedef char hvk_sizes_are_as_said[sizeof(struct hvk_space) <= 320 && sizeof(struct hvk_thread) <= 512 &&
				   sizeof(struct hvk_module) <= 192 && sizeof(struct hvk_event) == 88 &&
				   sizeof(struct hvk_scratch) <= 5 * 1024 + 512 &&
				   sizeof(struct hvk_page_of_events) <= PAGE_SIZE ? 1 : -1];

/* What was lost, said once, to the script's stderr. */
HVK_API void hvk_report(void)
{
	static const char *const what[HVK_LOSSES] = {
		"events that no handler was told (no memory)",
		"looks at the map given up (no memory)",
		"address spaces not followed (too many, or no memory)",
		"threads not followed (too many, or no memory)",
		"mapped files without a name (too many, or no memory)",
		"symbol images not loaded (too large, or no memory)",
		"look-ups while the map was being changed",
		"looks at the map of a task that was being killed",
		"events for handlers that are too many for one thread",
	};
	u64 untold = hvk_threads_untold();
	u32 i;

	if (untold)
		_stp_warn("vma: %llu events were not told: the script ended before their threads' next call\n",
			  untold);
	for (i = 0; i < HVK_LOSSES; i++)
		if (atomic64_read(&hvk_lost[i]))
			_stp_warn("vma: lost %lld %s\n",
				  (long long)atomic64_read(&hvk_lost[i]), what[i]);
	hvk_images_report();
}

/* From probe end: nobody else is left.  Gives everything back. */
HVK_API void hvk_stop(void)
{
	hvk_threads_free();
	hvk_spaces_free();
	hvk_images_free();
	hvk_modules_free();
	hvk_scratches_free();
}
