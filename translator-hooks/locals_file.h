/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * locals_file.h - what of a stack frame code accesses: local variables and parameters by DWARF, saved registers by call frame information.
 *
 * A place is known by the instruction, and a distance: from a register's value when the instruction begins, or from
 * the frame's CFA (the stack pointer before the call).  Only what the debug information says of that very instruction is
 * believed; or, where the instruction is not known, of the whole function, and then
 * all variables that may be there are named.
 */
#ifndef LOCALS_FILE_H
#define LOCALS_FILE_H

#include <stdbool.h>
#include <stdint.h>

struct locals_file;

/* The ELF file open as @fd (borrowed), called @path, with its debug file if it has one.  NULL: no memory, no ELF file. */
struct locals_file *locals_file_open(int fd, const char *path);
void locals_file_close(struct locals_file *f);

enum locals_base { LOCALS_SP, LOCALS_FP, LOCALS_CFA };

struct locals_at {
	uint64_t vaddr;	 /* of the instruction */
	uint32_t len;	 /* of it; 0, with LOCALS_CFA: which it is is not known, it is somewhere in the function */
	enum locals_base base;
	int64_t offset;
	bool is_return;	 /* it is the address to return to */
};

enum locals_kind {
	LOCALS_VARIABLE,  /* or a parameter: name, and more */
	LOCALS_RETURN,	  /* the address to return to */
	LOCALS_SAVED,	  /* a register of the caller's */
	LOCALS_SPILL,	  /* in the frame, no variable of the source: the compiler's own, as the debug information has it */
	LOCALS_TEMPORARY, /* the same, reached through a pointer: or alloca() and arrays of variable length */
	LOCALS_ARGUMENT,  /* passed on the stack, no parameter is known there */
	LOCALS_FRAME,	  /* in the frame: there is no debug information of the function, or none says where */
	LOCALS_STACK,	  /* whether it is in the frame cannot be told */
	LOCALS_KINDS
};

struct locals_found {
	enum locals_kind kind;
	const char *function; /* it is a variable of, maybe an inlined one; else of the frame; NULL: not known */
	char name[512];	      /* "buf"; "a|b" where two may be there; "" without a variable */
	char member[512];     /* "[].key": the part of it, of all elements of an array together; "" */
	char type[256];	      /* of that part; "" not known */
	uint64_t size;	      /* of the variable, 0: not known */
	bool parameter;
};

/* Strings live as long as @f. */
void locals_file_find(struct locals_file *f, const struct locals_at *at, struct locals_found *out);

#endif /* LOCALS_FILE_H */
