/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rust_v0.h - reading one name of Rust's v0 mangling: what rust_v0.c and rust_const.c share.
 */
#ifndef RUST_V0_H
#define RUST_V0_H

#include "rust_text.h"

struct v0 {
	const char *start, *p;
	struct rust_text out;
	unsigned depth, steps, quiet;
	uint64_t bound; /* lifetimes that "for<'a, 'b>" around have named */
	bool bad;
};

struct ident {
	const char *s;
	size_t n;
	bool puny;
};

/* Is @c next?  Then it is read. */
bool rust_v0_eat(struct v0 *d, char c);
/* Down a level, and up again; false: it is too deep, too long, or bad before. */
bool rust_v0_enter(struct v0 *d);
void rust_v0_leave(struct v0 *d);
/* A number behind @tag, plus 1; 0: no such tag. */
uint64_t rust_v0_tagged(struct v0 *d, char tag);
/* Behind "B": go on where it points to.  *@back is to be @p afterwards; false: nothing is to be read there. */
bool rust_v0_go_back(struct v0 *d, const char **back);
struct ident rust_v0_ident(struct v0 *d);

void rust_v0_put(struct v0 *d, const char *s);
void rust_v0_put_number(struct v0 *d, uint64_t n);
void rust_v0_put_ident(struct v0 *d, const struct ident *i);

/* A path in a value; a constant (rust_const.c). */
void rust_v0_value_path(struct v0 *d);
void rust_v0_constant(struct v0 *d);

#endif /* RUST_V0_H */
