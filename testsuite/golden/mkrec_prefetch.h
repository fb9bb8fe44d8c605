/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mkrec_prefetch.h - the part of mkrec.c that makes records of prefetches.
 *
 *	prefetch pid=7 mm=1 ip=0x1000 function=walk file=app.c line=9 executed=9 unmapped=1 unused=1 used=1 redundant=1 unjudged=1
 *	prefetch pid=7 mm=1 ip=0x1000 function=walk file=app.c line=9 bad=unmapped addr=0x3000 base=0x2fc0 (or unused)
 *	    access=1 (a load or store) object=0x2000 size=0x800 mapped=1 frames=FUNCTION@FILE@LINE@MODULE@ADDRESS,...
 */
#ifndef MKREC_PREFETCH_H
#define MKREC_PREFETCH_H

static void put_prefetch(struct stream *s)
{
	struct hvar_event ev = event(HVAR_EVENT_ACCESS);
	struct stream_prefetch p = { .time_ns = ev.time_ns, .mm = ev.mm, .pid = ev.pid };
	const char *bad = get("bad");
	char text[512];

	p.ip = number("ip", 0);
	p.what = !bad ? STREAM_PREFETCH_COUNTS : !strcmp(bad, "unmapped") ? STREAM_PREFETCH_UNMAPPED : STREAM_PREFETCH_UNUSED;
	p.flags = (uint32_t)(number("mapped", 0) | (number("access", 0) ? STREAM_PREFETCH_ACCESS : 0));
	p.executed = number("executed", 0);
	p.unmapped = number("unmapped", 0);
	p.unused = number("unused", 0);
	p.used = number("used", 0);
	p.redundant = number("redundant", 0);
	p.unjudged = number("unjudged", 0);
	p.addr = number("addr", 0);
	p.base = number("base", 0);
	p.object = number("object", 0);
	p.object_size = number("size", 0);
	p.code_len = (uint32_t)snprintf(text, sizeof(text), "%s%c%s%c%s", need("function"), 0, need("file"), 0, need("line")) + 1;
	heap_len = 0;
	add_to_heap(text, p.code_len);
	each_part("frames", add_frame);
	p.heap_len = (uint32_t)heap_len - p.code_len;
	if (stream_put(s, STREAM_PREFETCH, &p, sizeof(p), heap_body, heap_len))
		die("the format does not allow this");
}

#endif /* MKREC_PREFETCH_H */
