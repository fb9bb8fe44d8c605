/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stap_libs.h - the libraries that a program will be linked with at run time, found without running it.
 *
 * ldd(1) runs the program, which root must not do to any file.  Here the dynamic section is
 * read, and every place is looked at that the dynamic linker might take a library from
 * (ld.so(8)); where there are several of one name, all are told: an image too many harms nobody.
 */
#ifndef STAP_LIBS_H
#define STAP_LIBS_H

#include "stap_ldcache.h"
#include "stap_options.h"

/* Where to look.  All zero at first; one for all programs of a run. */
struct stap_libs {
	struct stap_ldcache cache;
	bool ready;
	char **dirs; /* LD_LIBRARY_PATH's, RPATHs and RUNPATHs seen, and the linker's own */
	size_t n_dirs;
};

/*
 * Call @found with the path of each library that the ELF file at @fd, called @path, names
 * (DT_NEEDED, and its interpreter), and of each that the environment preloads if @program; and
 * @absent with the name of each that is nowhere.  Both get @ctx.  A file that is not linked
 * dynamically, or damaged, has none.  Returns 0 or -ENOMEM.
 */
int stap_libs_each(struct stap_libs *l, int fd, const char *path, bool program,
		   void (*found)(void *ctx, const char *path),
		   void (*absent)(void *ctx, const char *name), void *ctx);
void stap_libs_fini(struct stap_libs *l);

#endif /* STAP_LIBS_H */
