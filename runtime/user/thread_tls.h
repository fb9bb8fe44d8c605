/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * thread_tls.h - the thread-local memory of a process: which file's block, of which thread, an address is in.
 *
 * x86-64, "variant II" of the TLS ABI: at the thread pointer lies a word that holds its own address; the
 * blocks of what was loaded at the start lie below it, those of what came later anywhere; the thread's table (the word behind)
 * has the address of each by number (tls_of_thread.h).  Nothing is stopped: thread pointers are found by what lies at
 * them, where threads' memory can be.  So far only glibc's threads are found.
 */
#ifndef THREAD_TLS_H
#define THREAD_TLS_H

#include <sys/types.h>

#include "runtime/core/hvar_resolve.h"
#include "tls_of_thread.h"

struct thread_tls;

struct thread_tls *thread_tls_new(pid_t pid); /* NULL: no memory */
void thread_tls_free(struct thread_tls *t);

/* Find all threads and blocks anew, in the map @vmas; @module, @ctx: tls_of_thread.h. */
void thread_tls_look(struct thread_tls *t, const struct hvar_vmas *vmas, tls_module_fn module, void *ctx);
/* The same by symbol images.  @exe: the module that the process runs, 0: not known. */
void thread_tls_look_images(struct thread_tls *t, const struct hvar_vmas *vmas, hvar_image_of_fn image_of,
			    void *ctx, uint32_t exe);
/* What was found; good until the next look. */
const struct tls_of_thread *thread_tls_blocks(const struct thread_tls *t);

/*
 * Is @addr in a block?  Then @p, what it was found to be without, becomes the variable there, or what has
 * no name in the block; and *@thread the thread pointer.  @ctx as for thread_tls_look_images().
 */
bool thread_tls_find(const struct thread_tls *t, uint64_t addr, hvar_image_of_fn image_of, void *ctx,
		     struct hvar_place *p, uint64_t *thread);

#endif /* THREAD_TLS_H */
