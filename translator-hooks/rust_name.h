/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rust_name.h - a Rust symbol's name as the source has it, of both manglings.
 *
 *	_ZN3app5COUNT17h0123456789abcdefE	app::COUNT	legacy
 *	_RNvCs6GmmlP4bgsG_3app5COUNT		app::COUNT	v0 (RFC 2603)
 *
 * Hashes and the numbers of crates are left out.  ".llvm.N", which link-time optimization puts behind, is too; what
 * else follows a dot stays.  Any bytes may come: depth, steps and length are bounded.
 */
#ifndef RUST_NAME_H
#define RUST_NAME_H

/* The plain form of @name, malloc'd; NULL: it is none of Rust's, too long, or no memory. */
char *rust_name(const char *name);

/* Of v0 alone: @name is what follows "_R". */
char *rust_v0_name(const char *name);

#endif /* RUST_NAME_H */
