// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Areas are the planes of all slots, one after the other as they lie in the memfd, then the two of marks.  For each the
 * last gap that the kernel told of is kept: in most planes that is all of it.
 */
#include "hvt_pages.h"

#include "pub_tool_libcbase.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_vki.h"
#include "pub_tool_vkiscnums.h"

#include "hvt_shadow.h"
#include "hvt_sys.h"

#define PAGE_SHIFT 12
#define LEAF_SHIFT 9
#define LEAF	   (1u << LEAF_SHIFT)

enum { COUNTED = HVT_SLOTS * HVT_PLANES, AREAS = COUNTED + 2, SEEK_DATA_ = 3 };

/* Pages [from, to) of an area have no memory, as of an epoch. */
struct gap {
	UWord from, to;
	ULong epoch;
};

/* Pages of marks that have memory. */
enum { KNOWN = 256 };
static struct known {
	UWord page;
	ULong generation;
} marks[2][KNOWN];

static struct gap gaps[AREAS];
static struct hvt_page *leaves[HVT_PLANE_SIZE >> PAGE_SHIFT >> LEAF_SHIFT];
static ULong epoch = 1;	     /* while it is the same no page has come */
static ULong generation = 1; /* while it is the same none has gone */
static ULong blocks = ~0ULL; /* of the memfd */

void hvt_pages_refresh(void)
{
	struct vki_stat st;

	if (hvt_sys(__NR_fstat, hvt_shadow_fd(), (long)&st, 0, 0, 0, 0) || (ULong)st.st_blocks != blocks) {
		blocks = (ULong)st.st_blocks;
		epoch++;
	}
}

void hvt_pages_punched(void)
{
	generation++;
	epoch++;
	blocks = ~0ULL;
}

static ULong area_start(UInt area)
{
	if (area < COUNTED)
		return area * HVT_PLANE_SIZE;
	return area == COUNTED ? HVT_MARKS_READ : HVT_MARKS_WRITE;
}

static UWord area_pages(UInt area)
{
	return (area < COUNTED ? HVT_PLANE_SIZE : HVT_PLANE_SIZE / 8) >> PAGE_SHIFT;
}

/* Has page @page of @area memory? */
static Bool ask(UInt area, UWord page)
{
	struct gap *g = &gaps[area];
	UWord end = area_pages(area);
	long at;

	if (g->epoch == epoch && page >= g->from && page < g->to)
		return False;
	at = hvt_sys(__NR_lseek, hvt_shadow_fd(), (long)(area_start(area) + (page << PAGE_SHIFT)), SEEK_DATA_, 0, 0, 0);
	if (at >= 0) {
		at -= (long)area_start(area);
		if ((UWord)at >> PAGE_SHIFT == page)
			return True;
		if ((UWord)at >> PAGE_SHIFT < end)
			end = (UWord)at >> PAGE_SHIFT;
	}
	*g = (struct gap){ page, end, epoch };
	return False;
}

static struct hvt_page *record(UWord page, Bool make)
{
	struct hvt_page **leaf = &leaves[page >> LEAF_SHIFT], *p;

	if (!*leaf) {
		if (!make)
			return NULL;
		*leaf = VG_(calloc)("hotvar.pages", LEAF, sizeof(**leaf));
	}
	p = &(*leaf)[page & (LEAF - 1)];
	if (p->generation != generation) {
		VG_(memset)(p, 0, sizeof(*p));
		p->generation = generation;
	}
	return p;
}

const struct hvt_page *hvt_pages_of(UWord page, UWord *next)
{
	struct hvt_page *p = record(page, False);
	UWord to = ~0UL;
	Bool any = False;
	ULong used = hvt_shadow_used();
	UInt slot, plane;

	if (p && p->checked == epoch)
		return p;
	for (slot = 0; used; slot++, used >>= 1) {
		if (!(used & 1))
			continue;
		for (plane = 0; plane < HVT_PLANES; plane++) {
			UInt area = slot * HVT_PLANES + plane;

			if (p && p->planes[slot] & (1u << plane)) {
				any = True;
			} else if (ask(area, page)) {
				if (!p)
					p = record(page, True);
				p->planes[slot] |= (UChar)(1u << plane);
				any = True;
			} else if (gaps[area].to < to) {
				to = gaps[area].to;
			}
		}
	}
	if (p)
		p->checked = epoch;
	if (any)
		return p;
	if (next)
		*next = to;
	return NULL;
}

Bool hvt_pages_mark(Bool write, Addr addr, Addr *next)
{
	UWord page = addr >> 3 >> PAGE_SHIFT;
	struct known *k = &marks[write ? 1 : 0][page % KNOWN];
	UInt area = COUNTED + (write ? 1 : 0);

	if (k->generation == generation && k->page == page)
		return True;
	if (ask(area, page)) {
		*k = (struct known){ page, generation };
		return True;
	}
	if (next)
		*next = gaps[area].to << PAGE_SHIFT << 3;
	return False;
}
