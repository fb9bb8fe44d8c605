/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tls_of_thread.h - thread pointers and a map of files -> each file's thread-local block of each thread.
 *
 * x86-64, "variant II" of the TLS ABI.  At the thread pointer lies a word that holds its own address, behind it that of the
 * thread's table of blocks (glibc):
 *
 *	library's block          program's block      thread pointer
 *	[....................]...[................]--|self|table|...
 *	|<------------- distance ---------------->|          |
 *	                                                     +--> number -> block, wherever it is
 *
 * Of what was loaded at the start the blocks lie below the thread pointer: the program's own as the ABI says, a library's
 * as far as the dynamic linker wrote into the library's memory (tls_slots.h).  What was loaded later has a number, and the
 * block is where the thread's table says, if the thread has one yet.  Nothing is stopped; the memory is read as it is
 * now, so a thread that ends in between gives a block that no area holds, which is left out.
 */
#ifndef TLS_OF_THREAD_H
#define TLS_OF_THREAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "runtime/core/hvar_image_format.h"
#include "runtime/core/hvar_resolve.h"

/* One file's block in one thread. */
struct tls_block {
	uint64_t start, end;
	uint64_t thread;  /* the thread pointer */
	uint32_t module;  /* as the map has it */
	uint32_t number;  /* in the thread's table, if it was found there; 0: below the thread pointer */
	bool doubtful;	  /* overlaps another's: one of the two is not where it was thought to be */
	/*
	 * As far as who notes blocks asks for it: the thread's number, where its stack begins, 0: not known or the first thread's; how
	 * many bytes the C library has left without access there, 0: none, or the stack is the program's; whether it has ended.
	 */
	uint64_t stack, guard;
	uint32_t tid;
	bool ended;
};

/* Zeroed by who owns it; tls_of_thread_fini() when done. */
struct tls_of_thread {
	struct tls_block *v; /* by start */
	size_t n, cap;
};

/* A file with thread-local memory, as it is loaded. */
struct tls_module {
	uint64_t memsz, bias;
	uint64_t distance; /* a program's, by the ABI (tls_layout_distance()); 0: it is in one of the slots, if at all */
	const struct hvar_image_tls_slot *slots;
	uint32_t n_slots;
};

/* That which @area maps into *@out; false: it has none, or another area will tell. */
typedef bool (*tls_module_fn)(void *ctx, const struct hvar_vmas *vmas, const struct hvar_vma *area, struct tls_module *out);

/* Whose memory is read. */
struct tls_process {
	pid_t pid;
	const struct hvar_vmas *vmas;
	tls_module_fn module;
	void *ctx; /* for module */
};

/* More than any number of a file with thread-local memory, or of blocks. */
enum { TLS_NUMBERS_MAX = 65536, TLS_BLOCKS_MAX = 1 << 20 };

/* The blocks of the @n threads whose pointers @threads are, in place of what @t held.  What finds no memory is left out. */
void tls_of_thread_look(struct tls_of_thread *t, const struct tls_process *p, const uint64_t *threads, size_t n);
void tls_of_thread_fini(struct tls_of_thread *t);

/* The one block that @addr is in; NULL: in none, or nobody can say. */
const struct tls_block *tls_of_thread_find(const struct tls_of_thread *t, uint64_t addr);

/* Make @p, what @addr in @b was found to be without, the variable of @img there, or what has no name in the block. */
void tls_of_thread_place(const struct tls_block *b, uint64_t addr, const struct hvar_image *img, struct hvar_place *p);

/*
 * Does the thread pointer of @b in process @pid still have a thread's words, and its table the block?  True too if the
 * process is gone: then that is how it was last seen.
 */
bool tls_of_thread_holds(pid_t pid, const struct tls_block *b);

/*
 * What the C library of process @pid says of @b's thread: its number into *@tid, 0: it has ended; where its stack is, into @b.
 * False: it cannot be asked.
 */
bool tls_of_thread_ask(pid_t pid, struct tls_block *b, uint32_t *tid);

/* Entry @i of the table at @table of process @pid into *@out: the block of file number @i; false: has no such entry. */
bool tls_of_thread_entry(pid_t pid, uint64_t table, uint64_t i, uint64_t *out);

#endif /* TLS_OF_THREAD_H */
