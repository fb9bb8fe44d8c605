/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stap_ready.h - can stap run a script on this machine, and where does it have its parts?
 *
 * For `hotvar stap`, which says beforehand why it cannot, and for `hotvar doctor`.
 */
#ifndef STAP_READY_H
#define STAP_READY_H

#include <stdbool.h>
#include <stddef.h>

/* What was found: if not @ok, @what is so and @fix is what to do. */
struct stap_check {
	bool ok;
	char what[512];
	char fix[256];
};

void stap_check_modules(struct stap_check *c);	/* does this kernel load modules? */
void stap_check_rights(struct stap_check *c);	/* may this user have stap load one? */
void stap_check_signing(struct stap_check *c);	/* may it be one that nobody has signed? */
/* Are there the headers of kernel @release, whose build tree is @build? */
void stap_check_headers(struct stap_check *c, const char *release, const char *build);

/* For tests: /proc, /sys and /lib/modules are below @root, borrowed. */
void stap_ready_below(const char *root);

/* Where a kernel is built: @release as of -r, NULL for the one that runs; below @sysroot if not NULL. */
void stap_build_tree(const char *release, const char *sysroot, char *out, size_t n);
/* Is @release, NULL or as of -r, the kernel that runs? */
bool stap_is_running(const char *release);
/* Is @arch, NULL or as of -a, this machine's? */
bool stap_is_native(const char *arch);

/* The folder of stap's tapset and runtime, for the command at @stap. */
void stap_data_dir(const char *stap, char *out, size_t n);
/* stap's runtime: the environment's, or that of the command at @stap. */
void stap_runtime_dir(const char *stap, char *out, size_t n);

/*
 * The folder of the vma tapset: beside the hotvar that runs, or where it was installed.  False: neither has
 * one, and @out is where it should be.
 */
bool stap_tapset_dir(char *out, size_t n);
/* Where the tapset in @dir looks for symbol images. */
void stap_image_dir(const char *dir, char *out, size_t n);

#endif /* STAP_READY_H */
