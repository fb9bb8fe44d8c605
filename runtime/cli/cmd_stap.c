// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * cmd_stap.c - "hotvar stap": become stap, with the tapset, a runtime that fits, and symbol images.
 *
 * Everything is stap's from then on: its output, its signals, its exit status.  What is wrong
 * beforehand is said and stops nothing, since stap may know better.
 */
#include "config.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <wordexp.h>

#include "runtime/cli/cli.h"
#include "runtime/user/launch.h"
#include "translator-hooks/stap_companion.h"
#include "translator-hooks/stap_images.h"
#include "translator-hooks/stap_notes.h"
#include "translator-hooks/stap_options.h"
#include "translator-hooks/stap_ready.h"
#include "translator-hooks/stap_runtime.h"
#include "translator-hooks/stap_script.h"
#include "translator-hooks/stap_targets.h"
#include "translator-hooks/stap_text.h"

struct run {
	struct stap_options o;
	struct stap_notes notes;
	char stap[PATH_MAX];	/* the command */
	char tapset[PATH_MAX];	/* its folder, which scripts get */
	bool include;		/* it has to be named to stap */
	char mended[PATH_MAX];	/* runtime, "" for stap's own */
	wordexp_t rc;		/* stap's own file of options */
	char *script;		/* the text, if it can be known; borrowed or in @text */
	char *text;
};

static const char help[] =
	"Usage: hotvar stap [OPTION...] [STAP-OPTION...]\n"
	"       hotvar stap --also FILE...\n\n"
	"Run SystemTap's stap with the vma tapset, with a runtime that fits this kernel, and with\n"
	"symbol images of the programs that the script looks at and of what they load.  All of\n"
	"stap's options and its exit status are its own.  The second form only makes images.\n\n"
	"      --all           make images of everything that runs, not only of the targets\n"
	"      --also FILE     make images of this program or library, too\n"
	"  -h, --help          this, then stap's own help\n"
	"      --images-only   make the images that this command would need, and do not run it\n"
	"      --no-images     make none: addresses are named by the images that are there\n\n"
	"Targets are the command of -c, the process of -x, and what process(\"...\") names.\n";

/* ---- what stap will do ---- */

/* $SYSTEMTAP_DIR/rc, as stap reads it: each line in words. */
static void read_rc(struct run *r, struct err *e)
{
	const char *dir = getenv("SYSTEMTAP_DIR"), *home = getenv("HOME");
	char path[PATH_MAX], *text, *line, *save;
	int flags = WRDE_NOCMD | WRDE_UNDEF | WRDE_DOOFFS;

	if (dir)
		snprintf(path, sizeof(path), "%s/rc", dir);
	else
		snprintf(path, sizeof(path), "%s/.systemtap/rc", home ? home : "");
	text = stap_text_read(path, NULL);
	if (!text)
		return;
	r->rc.we_offs = 1; /* for a name before them */
	for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		if (wordexp(line, &r->rc, flags))
			break; /* stap will say so */
		flags |= WRDE_APPEND;
	}
	free(text);
	if (r->rc.we_wordc)
		stap_options_read(&r->o, (int)r->rc.we_wordc + 1, r->rc.we_wordv, false, e);
}

/* Is there anything for stap to do? */
static bool has_work(const struct stap_options *o)
{
	return o->script || o->file || o->lists || o->asks || o->interactive || o->command || o->pid;
}

/* Will a module be loaded here?  stap itself turns -p5 for another kernel into -p4. */
static bool runs_here(const struct stap_options *o)
{
	return o->pass == 5 && !o->asks && !o->lists && !o->interactive && !o->no_module &&
	       !o->remote && stap_is_native(o->arch) && !o->sysroot && (o->script || o->file) &&
	       stap_is_running(o->release);
}

/* Does a script get as far as C? */
static bool compiles(const struct stap_options *o)
{
	return o->pass >= 3 && !o->asks && !o->lists && !o->no_module && !o->server &&
	       (o->script || o->file || o->interactive);
}

/* ---- the tapset ---- */

static bool same_file(const char *a, const char *b)
{
	struct stat x, y;

	return !stat(a, &x) && !stat(b, &y) && x.st_ino == y.st_ino && x.st_dev == y.st_dev;
}

/* Is there one in the folder @dir, where stap looks anyway? */
static bool has_own(struct run *r, const char *dir)
{
	char path[PATH_MAX + 32];

	snprintf(path, sizeof(path), "%s/vma_runtime.stp", dir);
	if (access(path, R_OK))
		return false;
	if (!same_file(dir, r->tapset))
		stap_notes_add(&r->notes, STAP_NOTE_CHANGE, "the tapset in '%s' is used, not that in '%s': stap takes no two of them; to use the other, set SYSTEMTAP_TAPSET to a folder without it",
			       dir, r->tapset);
	snprintf(r->tapset, sizeof(r->tapset), "%s", dir);
	r->include = false;
	return true;
}

static int find_tapset(struct run *r, struct err *e)
{
	const char *env = getenv("SYSTEMTAP_TAPSET"), *xdg = getenv("XDG_DATA_DIRS");
	char dir[PATH_MAX + 64], data[PATH_MAX];
	bool there = stap_tapset_dir(r->tapset, sizeof(r->tapset));

	r->include = true;
	stap_data_dir(r->stap, data, sizeof(data));
	snprintf(dir, sizeof(dir), "%s/tapset", data);
	if (has_own(r, env ? env : dir))
		return 0;
	while (xdg && *xdg) {
		size_t n = strcspn(xdg, ":");

		snprintf(dir, sizeof(dir), "%.*s/systemtap/tapset", (int)n, xdg);
		if (n && has_own(r, dir))
			return 0;
		xdg += n + (xdg[n] == ':');
	}
	for (size_t i = 0; i < r->o.include.n; i++)
		if (has_own(r, r->o.include.v[i]))
			return 0;
	if (!there)
		return err_set(e, ENOENT, "cannot find the vma tapset: it is not in '%s': run 'make', or 'make install', where hotvar was built",
			       r->tapset);
	return 0;
}

/* ---- stap's runtime ---- */

static void mend(struct run *r)
{
	char own[PATH_MAX], build[PATH_MAX], what[256];
	struct err e = { 0, "" };

	if (r->o.runtime || !compiles(&r->o))
		return;
	stap_runtime_dir(r->stap, own, sizeof(own));
	stap_build_tree(r->o.release, r->o.sysroot, build, sizeof(build));
	if (!stap_runtime_faults(own, build, what, sizeof(what)))
		return;
	if (stap_runtime_mend(own, build, r->mended, sizeof(r->mended), &e)) {
		r->mended[0] = '\0';
		stap_notes_add(&r->notes, STAP_NOTE_FAULT, "stap's runtime is at fault here (%s), and: %s", what, e.text);
	} else {
		stap_notes_add(&r->notes, STAP_NOTE_CHANGE, "stap's runtime is at fault here: using a copy with %s mended, %s",
			       what, r->mended);
	}
}

/* ---- will it run? ---- */

static void check(struct run *r, const struct stap_check *c, bool *fine)
{
	if (c->ok || !*fine)
		return;
	*fine = false;
	stap_notes_add(&r->notes, STAP_NOTE_FAULT, "stap will not run this: %s: %s", c->what, c->fix);
}

/* Say the first reason that stands against it.  Can it be that a module is loaded? */
static bool check_ready(struct run *r)
{
	bool fine = true, loads = runs_here(&r->o);
	char build[PATH_MAX];
	struct stap_check c;

	if (loads) {
		stap_check_modules(&c);
		check(r, &c, &fine);
		stap_check_rights(&c);
		check(r, &c, &fine);
		loads = fine;
	}
	/* from the second pass on stap reads what the kernel was built with */
	if (!r->o.asks && r->o.pass > 1 && !r->o.server && has_work(&r->o)) {
		stap_build_tree(r->o.release, r->o.sysroot, build, sizeof(build));
		stap_check_headers(&c, r->o.release, build);
		check(r, &c, &fine);
	}
	if (loads && !r->o.server) {
		stap_check_signing(&c);
		check(r, &c, &fine);
	}
	return loads;
}

/* ---- the script's text ---- */

/* Standard input as a string; stap gets it again. */
static char *read_stdin(void)
{
	int fd = memfd_create("script", MFD_CLOEXEC);
	char buf[65536], *text = NULL;
	size_t size = 0;
	ssize_t n;

	if (fd < 0)
		return NULL;
	while ((n = read(STDIN_FILENO, buf, sizeof(buf))) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 || write(fd, buf, (size_t)n) != n)
			break;
		size += (size_t)n;
	}
	text = malloc(size + 1);
	if (text && pread(fd, text, size, 0) != (ssize_t)size)
		size = 0;
	if (text)
		text[size] = '\0';
	if (!lseek(fd, 0, SEEK_SET))
		dup2(fd, STDIN_FILENO);
	close(fd);
	return text;
}

static void read_script(struct run *r)
{
	if (r->o.script)
		r->script = (char *)r->o.script;
	else if (!strcmp(r->o.file, "-"))
		r->script = r->text = read_stdin();
	else
		r->script = r->text = stap_text_read(r->o.file, NULL);
}

/* Does anything here want names?  What cannot be read may. */
static bool wants_names(const struct run *r)
{
	if (!r->script || r->o.include.n || stap_script_uses_vma(r->script))
		return true;
	for (size_t i = 0; i < r->o.more.n; i++)
		if (stap_script_uses_vma(r->o.more.v[i]))
			return true;
	return false;
}

/* ---- images ---- */

static void name_targets(struct run *r, struct stap_targets *t)
{
	const struct stap_options *o = &r->o;

	for (size_t i = 0; i < o->also.n; i++)
		stap_targets_file(t, o->also.v[i], "--also");
	if (o->command)
		stap_targets_command(t, o->command);
	if (o->pid)
		stap_targets_pid(t, o->pid);
	if (r->script)
		stap_targets_script(t, r->script, &o->args);
	for (size_t i = 0; i < o->more.n; i++)
		stap_targets_script(t, o->more.v[i], &o->args);
	/* -d may name a module of the kernel */
	for (size_t i = 0; i < o->objects.n; i++)
		if (strchr(o->objects.v[i], '/'))
			stap_targets_file(t, o->objects.v[i], "-d");
	stap_targets_end(t);
}

static void print_notes(const struct run *r)
{
	for (size_t i = 0; i < r->notes.n; i++) {
		const struct stap_note *n = &r->notes.v[i];

		if ((n->kind == STAP_NOTE_DETAIL && !r->o.verbose) ||
		    (n->kind == STAP_NOTE_CHANGE && r->o.quiet))
			continue;
		cli_say(n->text);
	}
}

/* Images for all targets, and a companion for what they load later. */
static void prepare_images(struct run *r)
{
	char dir[PATH_MAX];
	struct stap_targets t;
	struct stap_images im;
	struct err e = { 0, "" };

	stap_image_dir(r->tapset, dir, sizeof(dir));
	if (stap_images_open(&im, dir, &e)) {
		stap_notes_add(&r->notes, STAP_NOTE_FAULT, "%s", e.text);
		print_notes(r);
		return;
	}
	stap_targets_init(&t, &im, &r->notes);
	name_targets(r, &t);
	stap_notes_add(&r->notes, STAP_NOTE_DETAIL, "symbol images in %s: %u made, %u there already, %u missing", dir,
		       im.made, im.kept, im.missing);
	if (!t.any && !r->o.all && r->script && strstr(r->script, "vma_sym"))
		stap_notes_add(&r->notes, STAP_NOTE_CHANGE, "names come from symbol images, and this script names no program to make some of: give -c, -x, --also FILE, or --all");
	print_notes(r);
	if (im.writable && (r->o.command || r->o.all || t.n_pids || t.n_programs) &&
	    stap_companion_start(&t, r->o.all, &e))
		cli_say(e.text);
	stap_targets_fini(&t);
	stap_images_close(&im);
}

/* "hotvar stap --also FILE", "hotvar stap --images-only ...": images, and no stap. */
static int only_images(struct run *r, struct err *e)
{
	unsigned faults = 0;
	struct stap_targets t;
	struct stap_images im;
	char dir[PATH_MAX];

	stap_tapset_dir(r->tapset, sizeof(r->tapset));
	stap_image_dir(r->tapset, dir, sizeof(dir));
	if (stap_images_open(&im, dir, e))
		return CLI_FAILED;
	if (r->o.script || r->o.file)
		read_script(r);
	stap_targets_init(&t, &im, &r->notes);
	name_targets(r, &t);
	print_notes(r);
	for (size_t i = 0; i < r->notes.n; i++)
		faults += r->notes.v[i].kind == STAP_NOTE_FAULT;
	if (!faults)
		printf("symbol images in %s: %u made, %u there already\n", dir, im.made, im.kept);
	stap_targets_fini(&t);
	stap_images_close(&im);
	return faults ? CLI_FAILED : CLI_OK;
}

/* ---- becoming stap ---- */

static int become(struct run *r, struct err *e)
{
	const char **argv = calloc(r->o.rest.n + 6, sizeof(*argv));
	size_t n = 0;

	if (!argv)
		return err_set(e, ENOMEM, "cannot run stap: no memory: free some");
	argv[n++] = "stap";
	if (r->include) {
		argv[n++] = "-I";
		argv[n++] = r->tapset;
	}
	if (r->mended[0]) {
		argv[n++] = "-R";
		argv[n++] = r->mended;
	}
	if (r->o.rest.n)
		memcpy(argv + n, r->o.rest.v, r->o.rest.n * sizeof(*argv));
	fflush(stdout);
	launch_restore_signals();
	execv(r->stap, (char *const *)argv);
	n = (size_t)errno;
	free(argv);
	return err_exit(e, (int)n, CLI_CANNOT_RUN, "cannot run '%s': %s: install systemtap again: apt-get install --reinstall systemtap",
			r->stap, strerror((int)n));
}

static int find_stap(struct run *r, struct err *e)
{
	char *argv[] = { "stap", NULL };
	struct launch l;

	if (launch_find(&l, argv, NULL))
		return err_exit(e, ENOENT, CLI_NOT_FOUND, "cannot run stap: it is not installed, or not in PATH: apt-get install systemtap; without it: hotvar -- CMD");
	snprintf(r->stap, sizeof(r->stap), "%s", l.path);
	return 0;
}

static int run(struct run *r, struct err *e)
{
	bool images;

	if (r->o.help)
		fputs(help, stdout);
	if (find_stap(r, e)) {
		if (!r->o.help)
			return e->status;
		*e = (struct err){ 0, "" };
		fputs("\nstap is not installed here, so there is no help of its own: apt-get install systemtap\n", stdout);
		return CLI_OK;
	}
	if (r->o.help)
		fputs("\nstap's own options:\n\n", stdout);
	if (!r->o.asks) {
		if (find_tapset(r, e))
			return CLI_FAILED;
		mend(r);
	}
	if (r->o.remote && !r->o.no_images)
		stap_notes_add(&r->notes, STAP_NOTE_CHANGE, "no symbol images for --remote: make them there: hotvar stap --also PROGRAM");
	images = check_ready(r) && !r->o.no_images;
	if (images)
		read_script(r);
	if (images && wants_names(r))
		prepare_images(r);
	else
		print_notes(r);
	become(r, e);
	return e->status;
}

int cmd_stap(int argc, char **argv, struct err *e)
{
	struct run r = { .include = false };
	int status;

	stap_options_init(&r.o);
	read_rc(&r, e);
	if (stap_options_read(&r.o, argc, argv, true, e))
		status = e->status ? e->status : CLI_FAILED;
	else if (r.o.images_only || (r.o.also.n && !has_work(&r.o)))
		status = only_images(&r, e);
	else
		status = run(&r, e);
	stap_options_fini(&r.o);
	stap_notes_fini(&r.notes);
	free(r.text);
	if (r.rc.we_wordv)
		wordfree(&r.rc);
	return status;
}
