// SPDX-License-Identifier: GPL-2.0-or-later
#include "hvt_uncounted.h"

#include "pub_tool_libcbase.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_libcproc.h"
#include "pub_tool_vki.h"
#include "pub_tool_vkiscnums.h"

#include "hvt_link.h"
#include "hvt_sys.h"

enum {
	RLIMIT_AS_ = 9,
	SET_ID_ = 06000, /* S_ISUID, S_ISGID */
};

struct limit {
	ULong soft, hard;
};

static void tell(UInt what, const HChar *text)
{
	struct hvt_message m;
	SizeT len = text ? VG_(strlen)(text) : 0;

	VG_(memset)(&m, 0, sizeof(m));
	m.type = HVT_UNCOUNTED;
	m.flags = what;
	hvt_link_send(&m, text, len < HVT_TEXT_MAX ? len : 0);
}

static Bool exists(Addr path)
{
	struct vki_stat st;

	return !hvt_sys(__NR_stat, (long)path, (long)&st, 0, 0, 0, 0);
}

/* Does executing the file give another identity, or rights? */
static Bool changes_ids(Addr path)
{
	struct vki_stat st;
	UChar capabilities[64];

	if (hvt_sys(__NR_stat, (long)path, (long)&st, 0, 0, 0, 0))
		return False;
	return st.st_mode & SET_ID_ ||
	       hvt_sys(__NR_getxattr, (long)path, (long)"security.capability", (long)capabilities, sizeof(capabilities), 0, 0) > 0;
}

/* Is it the link to a process's own file, ours? */
static Bool is_own(const HChar *path)
{
	HChar own[32];

	VG_(sprintf)(own, "/proc/%d/exe", VG_(getpid)());
	return VG_(strcmp)(path, "/proc/self/exe") == 0 || VG_(strcmp)(path, "/proc/thread-self/exe") == 0 || VG_(strcmp)(path, own) == 0;
}

void hvt_uncounted_before(UInt number, const UWord *args, UInt n)
{
	if (number != __NR_execve || !n)
		return;
	/* a path that cannot be read is no file, either */
	if (changes_ids(args[0]))
		tell(HVT_SET_ID, (const HChar *)args[0]);
	else if (exists(args[0]) && is_own((const HChar *)args[0]))
		tell(HVT_OWN_EXE, (const HChar *)args[0]);
}

/* Lift the limit that was set: as far as the hard one, which only a privileged process may raise. */
static void lift(void)
{
	struct limit l, none = { ~0ULL, ~0ULL };

	if (hvt_sys(__NR_prlimit64, 0, RLIMIT_AS_, 0, (long)&l, 0, 0) || l.soft == ~0ULL)
		return;
	if (!hvt_sys(__NR_prlimit64, 0, RLIMIT_AS_, (long)&none, 0, 0, 0)) {
		tell(HVT_LIMIT_LIFTED, NULL);
		return;
	}
	l.soft = l.hard;
	if (!hvt_sys(__NR_prlimit64, 0, RLIMIT_AS_, (long)&l, 0, 0, 0) && l.hard == ~0ULL)
		tell(HVT_LIMIT_LIFTED, NULL);
	else
		tell(HVT_LIMIT_STAYS, NULL);
}

void hvt_uncounted_after(UInt number, const UWord *args, UInt n, Bool failed)
{
	if (failed)
		return;
	if (number == __NR_setrlimit && n > 1 && (UInt)args[0] == RLIMIT_AS_)
		lift();
	else if (number == __NR_prlimit64 && n > 2 && (UInt)args[1] == RLIMIT_AS_ && args[2] &&
		 (!args[0] || (Int)args[0] == VG_(getpid)()))
		lift();
}
