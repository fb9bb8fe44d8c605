/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stap_targets.h - the programs that a script will look at, and images for them and their libraries.
 *
 * An image is made as soon as its file is found.  What is wrong with a file ends nothing: it
 * becomes a note.  A script that names programs without -c or -x gets every process that runs
 * one, so those are remembered, to be known when they run.
 */
#ifndef STAP_TARGETS_H
#define STAP_TARGETS_H

#include <stdbool.h>
#include <stdint.h>
#include <stddef.h>
#include <sys/types.h>

#include "stap_images.h"
#include "stap_libs.h"
#include "stap_notes.h"
#include "stap_options.h"

struct stap_targets {
	struct stap_images *images; /* borrowed */
	struct stap_notes *notes;   /* borrowed */
	int until;		    /* as for stap_images_put() */
	struct stap_libs libs;
	char **queue; /* files found, not looked at yet */
	size_t n_queue;
	char *missing; /* the first file whose image is not ours to make */
	pid_t *pids;   /* processes to follow */
	size_t n_pids;
	struct stap_program {
		dev_t dev;
		ino_t ino;
	} *programs; /* that scripts name */
	size_t n_programs;
	bool any; /* something was named */
};

void stap_targets_init(struct stap_targets *t, struct stap_images *images, struct stap_notes *notes);
void stap_targets_fini(struct stap_targets *t);

/* Program or library @name, along PATH if it has no slash; @who named it, for notes: "--also". */
void stap_targets_file(struct stap_targets *t, const char *name, const char *who);
/* The program that `-c @command` runs. */
void stap_targets_command(struct stap_targets *t, const char *command);
/* Everything that process @pid maps, and what it will map. */
void stap_targets_pid(struct stap_targets *t, const char *pid);
/* What the script @text names. */
void stap_targets_script(struct stap_targets *t, const char *text, const struct stap_words *args);
/* When all are named: the note on what could not be made. */
void stap_targets_end(struct stap_targets *t);

/* A mapped file: device and inode as a map has them, which stat(2) may not agree with. */
struct stap_mapped {
	uint32_t dev_major, dev_minor;
	uint64_t ino;
};
/* Those that were looked at.  All zero at first. */
struct stap_mapped_set {
	struct stap_mapped *v;
	size_t n, cap;
};
/*
 * Images for what @pid maps now and @known has not; adds to that.  Notes go nowhere if @quiet.
 * Returns 0, -ESRCH if the process is gone, -ECANCELED as stap_images_put(), or -errno.
 */
int stap_targets_maps(struct stap_targets *t, pid_t pid, struct stap_mapped_set *known, bool quiet);

#endif /* STAP_TARGETS_H */
