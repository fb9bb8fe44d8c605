// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * stap_targets.c - from a command, a pid, or a script to the files that are mapped.
 */
#include "config.h"

#include "stap_targets.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include <wordexp.h>

#include "runtime/user/launch.h"
#include "runtime/user/modules_open.h"
#include "stap_script.h"
#include "stap_text.h"

enum { MOST_MATCHES = 1000, MOST_SCRIPTS = 4 };

void stap_targets_init(struct stap_targets *t, struct stap_images *images, struct stap_notes *notes)
{
	*t = (struct stap_targets){ .images = images, .notes = notes, .until = -1 };
}

void stap_targets_fini(struct stap_targets *t)
{
	stap_libs_fini(&t->libs);
	while (t->n_queue)
		free(t->queue[--t->n_queue]);
	free(t->queue);
	free(t->missing);
	free(t->pids);
	free(t->programs);
	*t = (struct stap_targets){ .until = -1 };
}

/* ---- files ---- */

static void found_lib(void *ctx, const char *path)
{
	struct stap_targets *t = ctx;
	struct stat st;
	char **v, *copy;

	if (stat(path, &st) || stap_images_asked(t->images, st.st_dev, st.st_ino))
		return;
	v = reallocarray(t->queue, t->n_queue + 1, sizeof(*v));
	if (!v)
		return;
	t->queue = v;
	copy = strdup(path);
	if (copy)
		v[t->n_queue++] = copy;
}

static void absent_lib(void *ctx, const char *name)
{
	struct stap_targets *t = ctx;

	stap_notes_add(t->notes, STAP_NOTE_DETAIL, "library '%s' was not found: its names come when it is mapped",
		       name);
}

/* Ask for the image of the file at @fd; @kind of note for what is wrong with it; @any: it may be no ELF file. */
static int image(struct stap_targets *t, int fd, const char *name, enum stap_note_kind kind, bool any)
{
	struct err e = { 0, "" };
	unsigned made = t->images->made;
	int r = stap_images_put(t->images, fd, name, t->until, &e);

	if (r == -EACCES && t->images->missing) {
		if (!t->missing)
			t->missing = strdup(name);
	} else if (r == -ENOEXEC && any) {
		return r;
	} else if (r < 0 && e.text[0]) {
		stap_notes_add(t->notes, kind, "%s", e.text);
	} else if (t->images->made > made) {
		stap_notes_add(t->notes, STAP_NOTE_DETAIL, "made the symbol image of %s", name);
	}
	return r;
}

/* What the process without rights could not read, or died of, is not read here either, for the names of its libraries. */
static bool was_read(int r)
{
	return r != -ETIMEDOUT && r != -EFAULT && r != -ENOEXEC && r != -ECANCELED;
}

static int open_regular(const char *path, struct stat *st)
{
	int fd;

	if (stat(path, st))
		return -errno;
	if (!S_ISREG(st->st_mode))
		return S_ISDIR(st->st_mode) ? -EISDIR : -EINVAL;
	fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* The libraries waiting in the queue, and theirs. */
static void drain(struct stap_targets *t)
{
	while (t->n_queue) {
		char *path = t->queue[--t->n_queue];
		struct stat st;
		int fd = open_regular(path, &st);

		if (fd >= 0 && !stap_images_asked(t->images, st.st_dev, st.st_ino)) {
			if (was_read(image(t, fd, path, STAP_NOTE_DETAIL, false)))
				stap_libs_each(&t->libs, fd, path, false, found_lib, absent_lib, t);
		}
		if (fd >= 0)
			close(fd);
		free(path);
	}
}

/* "#!/usr/bin/env -S python3 -u": what runs a script, and what env runs for it. */
static bool interpreters(int fd, char *buf, size_t n, char **first, char **second)
{
	ssize_t got = pread(fd, buf, n - 1, 0);
	char *save, *word;

	buf[got > 0 ? got : 0] = '\0';
	if (strncmp(buf, "#!", 2))
		return false;
	buf[2 + strcspn(buf + 2, "\n")] = '\0';
	*first = strtok_r(buf + 2, " \t\r", &save);
	*second = NULL;
	if (!*first)
		return false;
	word = strrchr(*first, '/');
	if (strcmp(word ? word + 1 : *first, "env"))
		return true;
	do {
		*second = strtok_r(NULL, " \t\r", &save);
	} while (*second && (**second == '-' || strchr(*second, '=')));
	return true;
}

static void remember_program(struct stap_targets *t, const struct stat *st)
{
	struct stap_program *v = reallocarray(t->programs, t->n_programs + 1, sizeof(*v));

	if (!v)
		return;
	v[t->n_programs++] = (struct stap_program){ st->st_dev, st->st_ino };
	t->programs = v;
}

static void file(struct stap_targets *t, const char *path, const char *who, enum stap_note_kind kind,
		 bool program, int depth)
{
	char line[512], *first, *second;
	struct stat st;
	int fd = open_regular(path, &st);

	if (fd < 0) {
		stap_notes_add(t->notes, kind, "no names of '%s' (%s): cannot open it: %s: check the path", path, who,
			       fd == -EINVAL ? "it is no regular file" : strerror(-fd));
		return;
	}
	if (interpreters(fd, line, sizeof(line), &first, &second)) {
		struct launch l;
		char *argv[] = { second, NULL };

		close(fd);
		if (depth < MOST_SCRIPTS)
			file(t, first, who, kind, program, depth + 1);
		if (depth < MOST_SCRIPTS && second && !launch_find(&l, argv, NULL))
			file(t, l.path, who, kind, program, depth + 1);
		return;
	}
	if (program)
		remember_program(t, &st);
	if (!stap_images_asked(t->images, st.st_dev, st.st_ino)) {
		if (was_read(image(t, fd, path, kind, false)))
			stap_libs_each(&t->libs, fd, path, true, found_lib, absent_lib, t);
		drain(t);
	}
	close(fd);
}

/* @name along PATH; false and @e if it is nowhere. */
static bool find(const char *name, struct launch *l, struct err *e)
{
	char *argv[] = { (char *)name, NULL };
	int r = launch_find(l, argv, e);

	/* A library may be one that cannot be executed. */
	return !r || (strchr(name, '/') && r == -EACCES);
}

void stap_targets_file(struct stap_targets *t, const char *name, const char *who)
{
	struct err e = { 0, "" };
	struct launch l;

	t->any = true;
	if (strchr(name, '/') || !access(name, F_OK))
		file(t, name, who, STAP_NOTE_FAULT, false, 0);
	else if (find(name, &l, &e))
		file(t, l.path, who, STAP_NOTE_FAULT, false, 0);
	else
		stap_notes_add(t->notes, STAP_NOTE_FAULT, "no names of '%s' (%s): there is no such file here or in PATH: give its path",
			       name, who);
}

/* ---- a command ---- */

/* The words of a command that a shell will run: those that are programs. */
static void shell_words(struct stap_targets *t, const char *command)
{
	char *copy = strdup(command), *save, *word;

	for (word = copy ? strtok_r(copy, " \t\n|&;()<>`\"'", &save) : NULL; word;
	     word = strtok_r(NULL, " \t\n|&;()<>`\"'", &save)) {
		struct launch l;

		if (isalpha((unsigned char)*word) || strchr(word, '/'))
			if (find(word, &l, NULL))
				file(t, l.path, "-c", STAP_NOTE_DETAIL, false, 0);
	}
	free(copy);
}

void stap_targets_command(struct stap_targets *t, const char *command)
{
	struct err e = { 0, "" };
	struct launch l;
	wordexp_t w = { 0 };
	int r = wordexp(command, &w, WRDE_NOCMD | WRDE_UNDEF);

	t->any = true;
	if (r) {
		/* staprun gives it to a shell, or says what is wrong with it */
		if (r == WRDE_BADCHAR && find("sh", &l, NULL)) {
			file(t, l.path, "-c", STAP_NOTE_DETAIL, false, 0);
			shell_words(t, command);
		}
		return;
	}
	if (!w.we_wordc) {
		stap_notes_add(t->notes, STAP_NOTE_FAULT, "the command of -c is empty: write -c 'PROGRAM ARG...'");
	} else if (!find(w.we_wordv[0], &l, &e)) {
		stap_notes_add(t->notes, STAP_NOTE_FAULT, "%s (the command of -c)", e.text);
	} else {
		file(t, l.path, "-c", STAP_NOTE_FAULT, false, 0);
		/* env, timeout and their like run another */
		for (size_t i = 1; i < w.we_wordc; i++)
			if (strchr(w.we_wordv[i], '/') && !launch_find(&l, &w.we_wordv[i], NULL))
				file(t, l.path, "-c", STAP_NOTE_DETAIL, false, 0);
	}
	wordfree(&w);
}

/* ---- a process ---- */

static bool add_mapped(struct stap_mapped_set *s, const struct mapstext *m)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->v[i].ino == m->ino && s->v[i].dev_major == m->dev_major &&
		    s->v[i].dev_minor == m->dev_minor)
			return false;
	if (s->n == s->cap) {
		size_t cap = s->cap ? 2 * s->cap : 64;
		struct stap_mapped *v = reallocarray(s->v, cap, sizeof(*v));

		if (!v)
			return true;
		s->v = v;
		s->cap = cap;
	}
	s->v[s->n++] = (struct stap_mapped){ m->dev_major, m->dev_minor, m->ino };
	return true;
}

/* Programs and libraries; what is only data is not opened, wherever it may be. */
static bool may_be_elf(const struct mapstext *m)
{
	return m->ino && m->path_len && m->path[0] == '/' && !m->pseudo &&
	       !(m->v.prot & HVAR_PROT_SHARED) &&
	       ((m->v.prot & HVAR_PROT_EXEC) || strstr(m->path, ".so"));
}

int stap_targets_maps(struct stap_targets *t, pid_t pid, struct stap_mapped_set *known, bool quiet)
{
	struct look_areas a = { 0 };
	struct look l;
	int r = look_open(&l, pid);

	if (r)
		return r;
	r = look_at(&l, 0, ~(uint64_t)0, &a);
	for (size_t i = 0; i < a.n && !r; i++) {
		const struct mapstext *m = &a.v[i];
		struct modules_file f = {
			.dev_major = m->dev_major, .dev_minor = m->dev_minor, .ino = m->ino,
			.path = m->path, .deleted = m->v.flags & HVAR_VMA_DELETED, .pid = pid,
			.look = &l, .start = m->v.start, .end = m->v.end,
			.unread = true, /* here: it is the process's file, not one that we were asked for */
		};
		int fd;

		if (!may_be_elf(m) || !add_mapped(known, m))
			continue;
		fd = modules_open(&f);
		if (fd < 0) {
			if (!quiet)
				stap_notes_add(t->notes, STAP_NOTE_DETAIL, "no names of '%s': cannot open it: %s: run as root",
					       m->path, strerror(-fd));
			continue;
		}
		if (image(t, fd, m->path, quiet ? STAP_NOTE_DETAIL : STAP_NOTE_FAULT, true) == -ECANCELED)
			r = -ECANCELED;
		close(fd);
	}
	look_areas_fini(&a);
	look_close(&l);
	return r;
}

void stap_targets_pid(struct stap_targets *t, const char *text)
{
	struct stap_mapped_set known = { 0 };
	char *end;
	long pid = strtol(text, &end, 10);
	pid_t *v;
	int r;

	t->any = true;
	if (*end || end == text || pid <= 0 || pid > INT32_MAX)
		return; /* stap says so */
	v = reallocarray(t->pids, t->n_pids + 1, sizeof(*v));
	if (v) {
		v[t->n_pids++] = (pid_t)pid;
		t->pids = v;
	}
	r = stap_targets_maps(t, (pid_t)pid, &known, false);
	free(known.v);
	if (r == -ESRCH)
		stap_notes_add(t->notes, STAP_NOTE_FAULT, "there is no process %ld to look at: it has ended, or never was: see 'ps -e'", pid);
	else if (r)
		stap_notes_add(t->notes, STAP_NOTE_FAULT, "no names of process %ld: cannot read its memory map: %s: run as root", pid,
			       strerror(-r));
}

/* ---- a script ---- */

static void pattern(struct stap_targets *t, const char *name)
{
	glob_t g = { 0 };

	if (!glob(name, GLOB_BRACE | GLOB_NOSORT, NULL, &g))
		for (size_t i = 0; i < g.gl_pathc && i < MOST_MATCHES; i++)
			file(t, g.gl_pathv[i], "process", STAP_NOTE_DETAIL, true, 0);
	globfree(&g);
}

static int named(void *ctx, enum stap_names what, const char *name)
{
	struct stap_targets *t = ctx;
	unsigned char magic[4];
	struct launch l;
	struct stat st;
	int fd;

	switch (what) {
	case STAP_NAMES_PID:
		stap_targets_pid(t, name);
		break;
	case STAP_NAMES_PROGRAM:
		t->any = true;
		if (name[strcspn(name, "*?[{")] && strchr(name, '/'))
			pattern(t, name);
		else if (find(name, &l, NULL))
			file(t, l.path, "process", STAP_NOTE_FAULT, true, 0);
		else
			stap_notes_add(t->notes, STAP_NOTE_FAULT, "no names of process(\"%s\"): there is no such program: check the path", name);
		break;
	case STAP_NAMES_LIBRARY:
		if (strchr(name, '/'))
			file(t, name, "library", STAP_NOTE_DETAIL, false, 0);
		break;
	case STAP_NAMES_FILE:
		fd = open_regular(name, &st);
		if (fd < 0)
			break;
		if (pread(fd, magic, 4, 0) == 4 && !memcmp(magic, "\177ELF", 4))
			file(t, name, "script", STAP_NOTE_DETAIL, true, 0);
		close(fd);
		break;
	}
	return 0;
}

void stap_targets_script(struct stap_targets *t, const char *text, const struct stap_words *args)
{
	stap_script_names(text, args, named, t);
}

void stap_targets_end(struct stap_targets *t)
{
	unsigned n = t->images->missing;
	char more[32] = "", *todo, *word = t->missing ? stap_text_word(t->missing) : NULL;

	if (!t->missing)
		return;
	if (n > 1)
		snprintf(more, sizeof(more), " and %u more", n - 1);
	if (!geteuid())
		todo = strdup("make it writable (a read-only file system?)");
	else if (asprintf(&todo, "as root, once: hotvar stap --also %s", word ? word : "FILE") < 0)
		todo = NULL;
	stap_notes_add(t->notes, STAP_NOTE_FAULT, "no names of '%s'%s: no symbol image in '%s', where this user cannot write: %s",
		       t->missing, more, t->images->path, todo ? todo : "run as root");
	free(todo);
	free(word);
}
