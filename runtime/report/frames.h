/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * frames.h - what exact accesses to stacks are called: function and local variable.
 *
 *	main:buf		a variable or parameter of main's, or of a function inlined there, which is named then
 *	main:[saved]		registers that main keeps for its caller
 *	main:[return address]	what calls in main put on the stack, and its return takes
 *
 * Names are found where the module's file is (translator-hooks/locals_file.h); a recording carries them from there.
 */
#ifndef FRAMES_H
#define FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "images.h"
#include "runtime/core/hvar_vmas.h"
#include "runtime/user/stream.h"

struct frames;
struct variable;

/* @images is borrowed.  @by_member: members of a variable are told apart.  NULL: no memory. */
struct frames *frames_new(struct images *images, bool by_member);
void frames_free(struct frames *f);

struct frame_name {
	uint32_t module;      /* 0: the code is in none */
	const char *name;     /* all of it */
	const char *function; /* "": not known */
	const char *local;    /* the variable; "": it is none */
	const char *member;   /* "[].key", with by_member; "" */
	const char *type;     /* of that; "": not known */
	uint64_t size;	      /* of the variable, 0: not known */
	bool unknown;	      /* where in the frame it is is not known */
};

/* The number of what @c has accessed, in the process whose areas @vmas are (NULL: not known); UINT32_MAX: no memory. */
uint32_t frames_at(struct frames *f, const struct hvar_vmas *vmas, const struct stream_stack_count *c);

/* Number @n; good until frames_free(). */
const struct frame_name *frames_get(const struct frames *f, uint32_t n);

/* What a report says of it: all but the name. */
void frames_describe(const struct frames *f, uint32_t n, struct variable *out);

/* One that was found since the last call, as a recording carries it, "local.KEY=VALUE": good until the next call; NULL: none. */
#define FRAMES_KEY "local."
const char *frames_fresh(struct frames *f);
/* A recording has it: KEY and VALUE. */
void frames_told(struct frames *f, const char *key, const char *value);

#endif /* FRAMES_H */
