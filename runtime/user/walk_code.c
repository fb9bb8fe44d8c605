// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "walk_code.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM = 4 << 20 /* bytes of stubs */ };

struct walk_code *walk_code_new(struct walk_memory *mem)
{
	struct walk_code *c = calloc(1, sizeof(*c));
	int err;

	if (!c)
		return NULL;
	c->mem = mem;
	err = walk_room_init(&c->room, ROOM);
	if (!err)
		return c;
	free(c);
	errno = -err;
	return NULL;
}

void walk_code_free(struct walk_code *c)
{
	if (!c)
		return;
	walk_room_fini(&c->room);
	free(c);
}

static void forget_all(struct walk_code *c)
{
	memset(c->slots, 0, sizeof(c->slots));
	c->room.used = 0;
	c->n = 0;
}

void walk_code_begin(struct walk_code *c, uint32_t mm)
{
	if (c->no_room || !++c->walk) {
		forget_all(c);
		c->walk = 1;
	}
	c->no_room = false;
	c->mm = mm;
}

/* As many bytes of code at @ip as there are, up to WALK_CODE; the memory is the process's, as all else. */
static size_t read_code(struct walk_code *c, uint64_t ip, uint8_t *to)
{
	size_t n = 4096 - ip % 4096;

	n = n < WALK_CODE ? n : WALK_CODE;
	if (walk_memory_read(c->mem, ip, to, n) != WALK_MEMORY_KNOWN)
		return 0;
	if (n < WALK_CODE && walk_memory_read(c->mem, ip + n, to + n, WALK_CODE - n) == WALK_MEMORY_KNOWN)
		n = WALK_CODE;
	return n;
}

/* Is what is kept still what stands there? */
static bool is_current(struct walk_code *c, struct walk_insn *in)
{
	uint8_t now[WALK_CODE];

	if (in->checked == c->walk)
		return true;
	if (walk_memory_read(c->mem, in->ip, now, in->len) != WALK_MEMORY_KNOWN || memcmp(now, in->code, in->len))
		return false;
	in->checked = c->walk;
	return true;
}

/* Where the number of the instruction at @ip is, or is to be. */
static uint16_t *slot_of(struct walk_code *c, uint64_t ip)
{
	uint32_t i = (uint32_t)((ip ^ (uint64_t)c->mm << 48) * 0x9e3779b97f4a7c15ull >> 40) & (WALK_SLOTS - 1);

	while (c->slots[i] && (c->v[c->slots[i] - 1].ip != ip || c->v[c->slots[i] - 1].mm != c->mm))
		i = (i + 1) & (WALK_SLOTS - 1);
	return &c->slots[i];
}

struct walk_insn *walk_code_at(struct walk_code *c, uint64_t ip)
{
	struct walk_insn made = { .mm = c->mm }, *in;
	uint16_t *slot = slot_of(c, ip);
	uint8_t code[WALK_CODE];
	size_t n;
	int err;

	if (*slot && is_current(c, &c->v[*slot - 1]))
		return &c->v[*slot - 1];
	if (!*slot && c->n == WALK_INSNS) {
		c->no_room = true;
		return NULL;
	}
	n = read_code(c, ip, code);
	err = n ? walk_insn_make(&made, code, n, ip, &c->room) : -ENODATA;
	if (err) {
		c->no_room |= err == -ENOSPC;
		return NULL;
	}
	if (!*slot)
		*slot = (uint16_t)++c->n;
	in = &c->v[*slot - 1]; /* in place of what stood there before, if anything did */
	*in = made;
	in->checked = c->walk;
	return in;
}

struct walk_insn *walk_code_look(struct walk_code *c, struct walk_insn **kept, uint64_t ip)
{
	if (!*kept || (*kept)->ip != ip || !is_current(c, *kept))
		*kept = walk_code_at(c, ip);
	return *kept;
}
