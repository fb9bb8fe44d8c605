// SPDX-License-Identifier: GPL-2.0-or-later
#include "hvt_sites.h"

#include "pub_tool_debuginfo.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_stacktrace.h"
#include "pub_tool_vkiscnums.h"

#include "hvt_link.h"
#include "hvt_shadow.h"
#include "hvt_sys.h"
#include "hvt_tick.h"

enum {
	FRAMES = 12,
	SLOTS = 2 * HVT_SITES_MAX,
	OTHER = 1,
	CODE_PAGES = 4096,
	NAME_MAX = 1000,
};

struct stack {
	ULong hash;
	UInt n;
	Bool retired; /* its code is gone */
	Bool maps;
	Addr ip[FRAMES];
};

static struct stack *stacks; /* by number */
static UInt n_stacks, cap_stacks;
static UInt slots[SLOTS]; /* by hash: number, 0: free */
static UInt n_offsets;	  /* given out */

/* Pages that stacks' code lies in: those of a mapping that goes are looked for here. */
static Addr code_pages[CODE_PAGES];
static UInt n_code_pages;

struct hvt_site *hvt_sites_get(UInt n)
{
	return (struct hvt_site *)(hvt_shadow_at(HVT_SITES)) + n;
}

static struct hvt_offset *offsets_of(const struct hvt_site *site)
{
	return (struct hvt_offset *)(hvt_shadow_at(HVT_OFFSETS)) + site->offsets;
}

/* ---- telling ---- */

struct text {
	HChar v[HVT_STACK_MAX];
	UInt len, frames;
};

/* Names come from the program's files: what would move a cursor stands as '?'. */
static Bool add(struct text *t, const HChar *s)
{
	UInt i;

	for (i = 0; s[i] && i < NAME_MAX; i++) {
		if (t->len + 2 > HVT_STACK_MAX)
			return False;
		t->v[t->len++] = (UChar)s[i] < ' ' || s[i] == 0x7f ? '?' : s[i];
	}
	if (t->len + 1 > HVT_STACK_MAX)
		return False;
	t->v[t->len++] = '\0';
	return True;
}

/* All of a frame, or nothing of it. */
static Bool add_frame(struct text *t, const HChar *function, const HChar *file, UInt line, const HChar *module, Addr at)
{
	HChar number[32], where[32];
	UInt len = t->len;

	VG_(snprintf)(number, sizeof(number), "%u", line);
	VG_(snprintf)(where, sizeof(where), "%lx", at);
	if (t->frames < HVT_FRAMES_MAX && add(t, function) && add(t, file) && add(t, number) && add(t, module) && add(t, where)) {
		t->frames++;
		return True;
	}
	t->len = len;
	return False;
}

/* "0x40118A: name (file:line)" or "0x40118A: name (in /file)": cut into its parts, in place. */
static Bool split(HChar *text, HChar **function, HChar **file, UInt *line)
{
	HChar *at = VG_(strchr)(text, ':'), *open = NULL, *colon, *p;

	if (!at || at[1] != ' ')
		return False;
	*function = at + 2;
	for (p = *function; *p; p++)
		if (p[0] == ' ' && p[1] == '(')
			open = p;
	if (!open || p[-1] != ')')
		return False;
	p[-1] = '\0';
	*open = '\0';
	colon = VG_(strrchr)(open + 2, ':');
	if (!colon || !VG_(strncmp)(open + 2, "in /", 4) || !VG_(strncmp)(open + 2, "within /", 8))
		return False;
	*colon = '\0';
	*file = open + 2;
	*line = (UInt)VG_(strtoll10)(colon + 1, NULL);
	return True;
}

static Bool add_inlined(struct text *t, DiEpoch ep, Addr ip, const HChar *module, Addr at)
{
	InlIPCursor *c = VG_(new_IIPC)(ep, ip);
	Bool any = False;

	if (!c)
		return False;
	do {
		static HChar text[2 * NAME_MAX];
		HChar *function, *file;
		UInt line;

		VG_(strncpy)(text, VG_(describe_IP)(ep, ip, c), sizeof(text) - 1);
		if (split(text, &function, &file, &line))
			any = add_frame(t, function, file, line, module, at) || any;
	} while (VG_(next_IIPC)(c));
	VG_(delete_IIPC)(c);
	return any;
}

/* False: what called it is the system's, which leads to main(). */
static Bool add_place(struct text *t, DiEpoch ep, Addr ip)
{
	const HChar *name, *path, *file, *folder;
	static HChar function[NAME_MAX], module[NAME_MAX];
	DebugInfo *di = VG_(find_DebugInfo)(ep, ip);
	Addr at = di ? ip - (Addr)VG_(DebugInfo_get_text_bias)(di) : ip;
	Vg_FnNameKind kind = VG_(get_fnname_kind_from_IP)(ep, ip);
	UInt line = 0;

	if (kind == Vg_FnNameBelowMain && t->frames)
		return False;
	module[0] = function[0] = '\0';
	if (VG_(get_objname)(ep, ip, &path))
		VG_(strncpy)(module, path, sizeof(module) - 1);
	if (add_inlined(t, ep, ip, module, at))
		return kind != Vg_FnNameMain;
	if (VG_(get_fnname)(ep, ip, &name))
		VG_(strncpy)(function, name, sizeof(function) - 1);
	if (!VG_(get_filename_linenum)(ep, ip, &file, &folder, &line))
		file = "";
	add_frame(t, function, file, line, module, at);
	return kind != Vg_FnNameMain;
}

static void tell(UInt n)
{
	static struct text t;
	DiEpoch ep = VG_(current_DiEpoch)();
	struct hvt_message m;
	UInt i;

	t.len = t.frames = 0;
	for (i = 0; i < stacks[n].n && add_place(&t, ep, stacks[n].ip[i]); i++)
		;
	VG_(memset)(&m, 0, sizeof(m));
	m.type = HVT_SITE;
	m.flags = stacks[n].maps ? HVT_ANON : 0;
	m.start = n;
	hvt_link_send(&m, t.v, t.len);
}

/* ---- numbers ---- */

static ULong hash_of(const Addr *ip, UInt n)
{
	ULong h = n;
	UInt i;

	for (i = 0; i < n; i++) {
		h = (h ^ ip[i]) * 0x9e3779b97f4a7c15ULL;
		h ^= h >> 29;
	}
	return h;
}

static Bool same(const Addr *a, const Addr *b, UInt n)
{
	UInt i;

	for (i = 0; i < n && a[i] == b[i]; i++)
		;
	return i == n;
}

static void note_code(const Addr *ip, UInt n)
{
	UInt i, k;

	for (i = 0; i < n; i++) {
		for (k = 0; k < n_code_pages && code_pages[k] != ip[i] >> 12; k++)
			;
		if (k == n_code_pages && k < CODE_PAGES)
			code_pages[n_code_pages++] = ip[i] >> 12;
	}
}

/* Is @ip in the dynamic linker's code? */
static Bool is_linker(Addr ip)
{
	const HChar *path, *name;

	if (!VG_(get_objname)(VG_(current_DiEpoch)(), ip, &path))
		return False;
	name = VG_(strrchr)(path, '/');
	name = name ? name + 1 : path;
	return !VG_(strncmp)(name, "ld-", 3) || !VG_(strncmp)(name, "ld.so", 5);
}

static UInt make(const Addr *ip, UInt n, ULong hash, Bool maps)
{
	struct stack *s;

	if (n_stacks == cap_stacks) {
		cap_stacks = cap_stacks ? 2 * cap_stacks : 256;
		stacks = VG_(realloc)("hotvar.stacks", stacks, cap_stacks * sizeof(*stacks));
	}
	if (!n_stacks) { /* none, and the rest */
		VG_(memset)(stacks, 0, 2 * sizeof(*stacks));
		n_stacks = 2;
		tell(OTHER);
	}
	s = &stacks[n_stacks];
	s->hash = hash;
	s->n = n;
	s->retired = False;
	s->maps = maps;
	VG_(memcpy)(s->ip, ip, n * sizeof(*ip));
	note_code(ip, n);
	tell(n_stacks);
	return n_stacks++;
}

UInt hvt_sites_here(ThreadId tid, Bool maps)
{
	Addr all[FRAMES + 1], *ip = all + 1; /* the first one is the function that stands in for the program's, or mmap() */
	UInt n = VG_(get_StackTrace)(tid, all, FRAMES + 1, NULL, NULL, 0), i, k;
	ULong hash;

	if (maps && n && is_linker(all[0]))
		return 0;
	n = n ? n - 1 : 0;
	hash = hash_of(ip, n) + maps;
	for (i = (UInt)hash % SLOTS; (k = slots[i]) != 0; i = (i + 1) % SLOTS)
		if (stacks[k].hash == hash && stacks[k].n == n && stacks[k].maps == maps && !stacks[k].retired && same(stacks[k].ip, ip, n))
			return k;
	if (n_stacks >= HVT_SITES_MAX)
		return OTHER;
	k = make(ip, n, hash, maps);
	slots[i] = k;
	return k;
}

void hvt_sites_unmapped(Addr start, Addr end)
{
	UInt i, k;

	for (k = 0; k < n_code_pages && !(code_pages[k] >= start >> 12 && code_pages[k] < end >> 12); k++)
		;
	if (k == n_code_pages && k < CODE_PAGES)
		return;
	for (i = 2; i < n_stacks; i++)
		for (k = 0; k < stacks[i].n; k++)
			if (stacks[i].ip[k] >= start && stacks[i].ip[k] < end)
				stacks[i].retired = True;
}

/* ---- counting ---- */

void hvt_sites_room(struct hvt_site *site, ULong size)
{
	UInt want = size > HVT_OFFSETS_EXACT ? HVT_OFFSETS_SITE : (UInt)size;
	const struct hvt_offset *was;

	if (want <= site->n_offsets)
		return;
	if (site->n_offsets && want < 2 * site->n_offsets) /* sizes that vary do not come one by one */
		want = 2 * site->n_offsets > HVT_OFFSETS_EXACT ? HVT_OFFSETS_SITE : 2 * site->n_offsets;
	if (n_offsets + want > HVT_OFFSETS_MAX)
		return;
	was = offsets_of(site);
	site->offsets = n_offsets;
	n_offsets += want;
	VG_(memcpy)(offsets_of(site), was, site->n_offsets * sizeof(*was));
	site->n_offsets = want;
}

static UInt index_of(ULong offset)
{
	if (offset < HVT_OFFSETS_EXACT)
		return (UInt)offset;
	return HVT_OFFSETS_EXACT + (UInt)(63 - __builtin_clzll(offset));
}

void hvt_sites_count(struct hvt_site *site, UInt slot, ULong offset, UInt reads, UInt writes)
{
	UInt i = index_of(offset);

	site->reads += reads;
	site->writes += writes;
	site->slots |= 1ULL << slot;
	site->last_ns = hvt_tick_now();
	if (!site->first_ns)
		site->first_ns = site->last_ns;
	if (i < site->n_offsets) {
		struct hvt_offset *v = offsets_of(site) + i;

		v->reads += reads;
		v->writes += writes;
	}
}

/* ---- threads, processes ---- */

void hvt_sites_thread_gone(UInt slot)
{
	static UInt v[HVT_STACK_MAX / sizeof(UInt)];
	struct hvt_message m;
	UInt i, n = 0;

	VG_(memset)(&m, 0, sizeof(m));
	for (i = 1; i < n_stacks; i++) {
		struct hvt_site *site = hvt_sites_get(i);

		if (!(site->slots & 1ULL << slot))
			continue;
		site->slots &= ~(1ULL << slot);
		v[n++] = i;
		if (n < sizeof(v) / sizeof(v[0]))
			continue;
		m.type = HVT_SITES_OF;
		m.slot = slot;
		hvt_link_send(&m, v, n * sizeof(v[0]));
		VG_(memset)(&m, 0, sizeof(m));
		n = 0;
	}
	m.type = HVT_SITES_OF;
	m.slot = slot;
	if (n)
		hvt_link_send(&m, v, n * sizeof(v[0]));
}

/* Nothing was counted here yet; what there is is the parent's. */
void hvt_sites_forked(Int from)
{
	UInt i;

	n_offsets = 0;
	for (i = 1; i < n_stacks; i++) {
		struct hvt_site was, *site = hvt_sites_get(i);

		if (hvt_sys(__NR_pread64, from, (long)&was, sizeof(was), (long)(HVT_SITES + i * sizeof(was)), 0, 0) != sizeof(was))
			continue;
		hvt_sites_room(site, was.n_offsets);
	}
}
