/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * estimate_bounds.c - bounds of functions by where control does not go on.
 *
 * Instructions are read one after the other from well before the place: begun amid one, they are soon
 * told rightly.  Where control ends and nothing before jumps on, the next one begins, behind padding:
 *
 *	... jne A   ret   nop   | B: push ... A': ... jle C   ret   C: ... jmp A'   | nop ...
 *	                        start             ^ sample                         end
 *
 * A jump back to before the start shows that what was there belongs to it, too.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "decode.h"
#include "estimate_bounds.h"

enum {
	BACK = 4096,  /* bytes looked at before the place */
	AHEAD = 2048, /* and from it on */
	PAGE = 4096,
	IN_STEP = 48, /* so many bytes on, instructions are told rightly */
	LOWERINGS = 8,
	TRIES = 8, /* beginnings, a byte apart */
};

struct scan {
	const uint8_t *code;
	uint32_t n, at; /* bytes; the place */
	bool is32;
	uint32_t *
		begin_of; /* by offset: where the instruction's function begins; NONE: no instruction */
	bool *begins; /* by offset: control ends before */
};

#define NONE ((uint32_t)-1)

static bool goes_on(const struct decode_insn *in)
{
	return in->flow != DECODE_JUMP && in->flow != DECODE_RET &&
	       in->flow != DECODE_INDIRECT && in->flow != DECODE_STOP;
}

/* The place that the jump at @off may lead to inside of its function: a far one that is always taken is a tail call, as a rule. */
static bool near_target(const struct scan *s, const struct decode_insn *in,
			uint32_t off, uint32_t *to)
{
	int64_t t = (int64_t)off + (int64_t)in->target;

	if ((in->flow != DECODE_COND &&
	     !(in->flow == DECODE_JUMP && in->len == 2)) ||
	    t < 0 || t >= (int64_t)s->n)
		return false;
	*to = (uint32_t)t;
	return true;
}

/* NOP of one byte or with operands, with prefixes; INT3. */
static bool is_padding(const uint8_t *p, uint32_t len)
{
	while (len > 1 && (*p == 0x66 || *p == 0x2e)) {
		p++;
		len--;
	}
	return (len == 1 && (*p == 0x90 || *p == 0xcc)) ||
	       (len > 2 && p[0] == 0x0f && p[1] == 0x1f);
}

static uint32_t skip_padding(const struct scan *s, uint32_t off)
{
	struct decode_insn in;

	while (off < s->at &&
	       !decode(s->code + off, s->n - off, s->is32, &in) &&
	       is_padding(s->code + off, in.len))
		off += in.len;
	return off;
}

/* Read from @first up to the place; false if no instruction starts there.  @edge: someone else's code, or none, is before @first. */
static bool scan_before(struct scan *s, uint32_t first, bool edge)
{
	uint32_t off = first, begin = first, reach = 0,
		 sure = edge ? 0 : first + IN_STEP, to;
	struct decode_insn in;

	memset(s->begin_of, 0xff, s->n * sizeof(*s->begin_of));
	memset(s->begins, 0, s->n * sizeof(*s->begins));
	s->begins[first] = edge;
	while (off < s->at) {
		if (decode(s->code + off, s->n - off, s->is32, &in)) {
			begin = reach = ++off;
			sure = off + IN_STEP;
			continue;
		}
		if (begin < sure && off >= sure && !s->begins[begin])
			begin = off;
		if (off >= sure)
			s->begin_of[off] = begin;
		if (near_target(s, &in, off, &to) && to > reach)
			reach = to;
		off += in.len;
		if (goes_on(&in) || off <= reach)
			continue;
		off = skip_padding(s, off);
		if (off <= s->at) {
			begin = off;
			s->begins[off] = off >= sure;
		}
	}
	if (off != s->at)
		return false;
	s->begin_of[off] = off < sure && !s->begins[begin] ? off : begin;
	return true;
}

/* Read on from @start until control *@ends behind the place; *@lowest: what is jumped back to. */
static uint32_t scan_on(const struct scan *s, uint32_t start, uint32_t *lowest, bool *ends)
{
	uint32_t off = start, reach = 0, to;
	struct decode_insn in;

	*lowest = start;
	*ends = false;
	while (off < s->n) {
		if (decode(s->code + off, s->n - off, s->is32, &in)) {
			if (off > s->at)
				break;
			off++;
			continue;
		}
		if (near_target(s, &in, off, &to)) {
			reach = to > reach ? to : reach;
			*lowest = to < *lowest ? to : *lowest;
		}
		off += in.len;
		if (!goes_on(&in) && off > reach && off > s->at) {
			*ends = true;
			break;
		}
	}
	return off < s->n ? off : s->n;
}

static bool look(struct scan *s, bool edge, uint32_t *start, uint32_t *end, bool *ends)
{
	uint32_t lowest, first = 0;

	/* Code that repeats may be read amiss for long. */
	while (!scan_before(s, first, edge))
		if (edge || first == s->at || ++first == TRIES)
			return false;
	*start = s->begin_of[s->at];
	*end = scan_on(s, *start, &lowest, ends);
	for (int k = 0;
	     k < LOWERINGS && lowest < *start && s->begin_of[lowest] != NONE;
	     k++) {
		*start = s->begin_of[lowest];
		*end = scan_on(s, *start, &lowest, ends);
	}
	return *end > s->at;
}

/* As much code before @at as there is, at most BACK bytes; how many bytes into @buf, and how many of them before @at. */
static size_t read_around(const struct estimate_env *env,
			  const struct code_site *at, uint64_t lowest,
			  uint64_t highest, uint8_t *buf, uint64_t *before)
{
	uint64_t far = at->where - lowest < BACK ? at->where - lowest : BACK,
		 page = at->where % PAGE;
	uint64_t after =
		highest - at->where < AHEAD ? highest - at->where : AHEAD;
	struct code_site from = *at;
	size_t got;

	*before = far;
	from.where = at->where - far;
	got = env->code(env->ctx, &from, buf, (size_t)(far + after));
	if (got > far || page >= far)
		return got;
	*before = page;
	from.where = at->where - page;
	return env->code(env->ctx, &from, buf, (size_t)(page + after));
}

bool bounds_find(const struct estimate_env *env, const struct code_site *at,
		 bool is32, uint64_t lowest, uint64_t highest, bool edge,
		 struct bounds *out)
{
	uint8_t *buf = malloc(BACK + AHEAD);
	struct scan s = {.code = buf, .is32 = is32};
	uint64_t before = 0;
	uint32_t start = 0, end = 0;
	bool ok = false, ends = false;
	size_t n = 0;

	if (buf && lowest <= at->where && at->where < highest)
		n = read_around(env, at, lowest, highest, buf, &before);
	if (n > before && n <= BACK + AHEAD) {
		s.n = (uint32_t)n;
		s.at = (uint32_t)before;
		s.begin_of = malloc(n * sizeof(*s.begin_of));
		s.begins = malloc(n * sizeof(*s.begins));
		if (s.begin_of && s.begins)
			ok = look(&s, edge && at->where - before == lowest, &start,
				  &end, &ends);
	}
	if (ok)
		*out = (struct bounds){at->where - before + start,
				       at->where - before + end,
				       s.begins[start], ends};
	free(s.begin_of);
	free(s.begins);
	free(buf);
	return ok;
}
