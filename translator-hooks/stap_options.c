// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * stap_options.c - read stap's command line as stap itself does.
 *
 * The tables hold the options of stap 4.8 to 5.6, of stap(1) and `stap --help` and those that
 * neither names; an option's argument must be known, or it would be taken for the script.
 */
#include "config.h"

#include "stap_options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* As for getopt(3). */
static const char shorts[] = "hVvtp:I:e:E:o:R:r:a:m:kgPc:x:D:bs:uqiwl:d:L:FS:B:J:jWG:T:";

/* Long options that tell us something answer to a character: a short one's where there is one. */
enum {
	L_NOTHING = 1,
	L_ASKS,
	L_LISTS,
	L_NO_MODULE,
	L_RUNTIME,
	L_REMOTE,
	L_SERVER,
	L_SYSROOT,
	/* ours, to be written in full */
	L_ALSO,
	L_ALL,
	L_NO_IMAGES,
	L_IMAGES_ONLY,
};

static const struct long_option {
	const char *name;
	int takes; /* 0, 1: an argument, 2: one after "=" */
	int is;
} longs[] = {
	{ "skip-badvars", 0, L_NOTHING },
	{ "vp", 1, L_NOTHING },
	{ "unprivileged", 0, L_NOTHING },
	{ "build-as", 2, L_NOTHING },
	{ "client-options", 0, L_NOTHING },
	{ "help", 0, 'h' },
	{ "disable-cache", 0, L_NOTHING },
	{ "poison-cache", 0, L_NOTHING },
	{ "clean-cache", 0, L_ASKS },
	{ "compatible", 1, L_NOTHING },
	{ "ldd", 0, L_NOTHING },
	{ "use-server", 2, L_SERVER },
	{ "list-servers", 2, L_ASKS },
	{ "trust-servers", 2, L_ASKS },
	{ "use-server-on-error", 2, L_NOTHING },
	{ "use-http-server", 1, L_SERVER },
	{ "all-modules", 0, L_NOTHING },
	{ "sign-module", 2, L_NOTHING },
	{ "remote", 1, L_REMOTE },
	{ "remote-prefix", 0, L_NOTHING },
	{ "check-version", 0, L_NOTHING },
	{ "version", 0, 'V' },
	{ "tmpdir", 1, L_NOTHING },
	{ "download-debuginfo", 2, L_NOTHING },
	{ "dump-probe-types", 0, L_LISTS },
	{ "dump-probe-aliases", 0, L_LISTS },
	{ "dump-functions", 0, L_LISTS },
	{ "privilege", 1, L_NOTHING },
	{ "suppress-handler-errors", 0, L_NOTHING },
	{ "modinfo", 1, L_NOTHING },
	{ "rlimit-as", 1, L_NOTHING },
	{ "rlimit-cpu", 1, L_NOTHING },
	{ "rlimit-nproc", 1, L_NOTHING },
	{ "rlimit-stack", 1, L_NOTHING },
	{ "rlimit-fsize", 1, L_NOTHING },
	{ "sysroot", 1, L_SYSROOT },
	{ "sysenv", 1, L_NOTHING },
	{ "suppress-time-limits", 0, L_NOTHING },
	{ "runtime", 1, L_RUNTIME },
	{ "dyninst", 0, L_NO_MODULE },
	{ "bpf", 0, L_NO_MODULE },
	{ "benchmark-sdt", 0, L_ASKS },
	{ "benchmark-sdt-loops", 1, L_ASKS },
	{ "benchmark-sdt-threads", 1, L_ASKS },
	{ "color", 2, L_NOTHING },
	{ "colour", 2, L_NOTHING },
	{ "prologue-searching", 2, L_NOTHING },
	{ "save-uprobes", 0, L_NOTHING },
	{ "target-namespaces", 1, L_NOTHING },
	{ "monitor", 2, L_NOTHING },
	{ "interactive", 0, 'i' },
	{ "example", 0, L_NOTHING },
	{ "no-global-var-display", 0, L_NOTHING },
	{ "language-server", 0, 'i' },
	{ "debug", 0, L_NOTHING },
	{ "semantic-keep-going", 0, L_NOTHING },
};
#define N_LONGS (sizeof(longs) / sizeof(longs[0]))

static const struct long_option own[] = {
	{ "also", 1, L_ALSO },
	{ "all", 0, L_ALL },
	{ "no-images", 0, L_NO_IMAGES },
	{ "images-only", 0, L_IMAGES_ONLY },
};
#define N_OWN (sizeof(own) / sizeof(own[0]))

int stap_words_add(struct stap_words *w, const char *s)
{
	if (w->n == w->cap) {
		size_t cap = w->cap ? 2 * w->cap : 16;
		const char **v = reallocarray(w->v, cap, sizeof(*v));

		if (!v)
			return -ENOMEM;
		w->v = v;
		w->cap = cap;
	}
	w->v[w->n++] = s;
	return 0;
}

void stap_words_fini(struct stap_words *w)
{
	free(w->v);
	*w = (struct stap_words){ 0 };
}

void stap_options_init(struct stap_options *o)
{
	*o = (struct stap_options){ .pass = 5 };
}

void stap_options_fini(struct stap_options *o)
{
	stap_words_fini(&o->more);
	stap_words_fini(&o->objects);
	stap_words_fini(&o->include);
	stap_words_fini(&o->args);
	stap_words_fini(&o->also);
	stap_words_fini(&o->rest);
}

/* The long option that the @len bytes at @name mean: the whole name, or the beginning of one alone. */
static const struct long_option *find_long(const char *name, size_t len)
{
	const struct long_option *found = NULL;

	for (size_t i = 0; i < N_LONGS; i++) {
		const struct long_option *l = &longs[i];

		if (strncmp(l->name, name, len))
			continue;
		if (!l->name[len])
			return l;
		if (found && (found->is != l->is || found->takes != l->takes))
			return NULL;
		found = l;
	}
	return found;
}

static const struct long_option *find_own(const char *name, size_t len)
{
	for (size_t i = 0; i < N_OWN; i++)
		if (!strncmp(own[i].name, name, len) && !own[i].name[len])
			return &own[i];
	return NULL;
}

static int short_takes(char c)
{
	const char *at = c && c != ':' ? strchr(shorts, c) : NULL;

	return at ? at[1] == ':' : -1;
}

int stap_options_takes(const char *name)
{
	const struct long_option *l;

	if (name[0] != '-')
		return -1;
	if (name[1] != '-')
		return name[1] && !name[2] ? short_takes(name[1]) : -1;
	l = find_long(name + 2, strlen(name + 2));
	return l ? l->takes : -1;
}

/* Option @is with argument @arg. */
static int take(struct stap_options *o, int is, const char *arg)
{
	char *end;

	switch (is) {
	case 'h':
		o->help = true;
		o->asks = true;
		break;
	case 'V':
	case L_ASKS:
		o->asks = true;
		break;
	case 'v':
		o->verbose = true;
		break;
	case 'w':
		o->quiet = true;
		break;
	case 'p':
		o->pass = (int)strtoul(arg, &end, 10);
		if (*end)
			o->pass = 0; /* stap will say so */
		break;
	case 'l':
	case 'L':
	case L_LISTS:
		o->lists = true;
		break;
	case 'i':
		o->interactive = true;
		break;
	case L_NO_MODULE:
		o->no_module = true;
		break;
	case L_RUNTIME:
		o->no_module = strcmp(arg, "kernel") != 0;
		break;
	case L_SERVER:
		o->server = true;
		break;
	case L_REMOTE:
		if (!o->remote)
			o->remote = arg;
		break;
	case L_SYSROOT:
		o->sysroot = arg;
		break;
	case 'r':
		o->release = arg;
		break;
	case 'a':
		o->arch = arg;
		break;
	case 'R':
		o->runtime = arg;
		break;
	case 'c':
		o->command = arg;
		break;
	case 'x':
		o->pid = arg;
		break;
	case 'e':
		o->script = arg;
		break;
	case 'E':
		return stap_words_add(&o->more, arg);
	case 'd':
		return stap_words_add(&o->objects, arg);
	case 'I':
		return stap_words_add(&o->include, arg);
	case L_ALSO:
		return stap_words_add(&o->also, arg);
	case L_ALL:
		o->all = true;
		break;
	case L_NO_IMAGES:
		o->no_images = true;
		break;
	case L_IMAGES_ONLY:
		o->images_only = true;
		break;
	}
	return 0;
}

/* One word "-abcARG"; *@next: whether the next word, @after, was its argument. */
static int read_shorts(struct stap_options *o, const char *word, const char *after, bool *next)
{
	const char *p;

	for (p = word + 1; *p; p++) {
		int takes = short_takes(*p), r;
		const char *arg = NULL;

		if (takes < 0)
			continue;
		if (takes) {
			arg = p[1] ? p + 1 : after;
			*next = !p[1];
			if (!arg)
				return 0;
		}
		r = take(o, *p, arg);
		if (r || takes)
			return r;
	}
	return 0;
}

/* A word "--name" or "--name=arg". */
static int read_long(struct stap_options *o, const char *word, const char *after, bool *next)
{
	const char *eq = strchr(word, '=');
	size_t len = eq ? (size_t)(eq - word - 2) : strlen(word + 2);
	const struct long_option *l = find_long(word + 2, len);

	if (!l || (eq && !l->takes))
		return 0;
	if (l->takes != 1)
		return take(o, l->is, eq ? eq + 1 : NULL);
	*next = !eq;
	return eq || after ? take(o, l->is, eq ? eq + 1 : after) : 0;
}

/* The same for one of our own. */
static int read_own(struct stap_options *o, const struct long_option *l, const char *word,
		    const char *after, bool *next, struct err *e)
{
	const char *eq = strchr(word, '=');

	if (eq && !l->takes)
		return err_exit(e, EINVAL, 2, "option '--%s' takes no argument: write it without '%s'",
				l->name, eq);
	*next = l->takes && !eq;
	if (l->takes && !(eq ? eq[1] : after && *after))
		return err_exit(e, EINVAL, 2,
				"option '--%s' needs a program or library: write --%s=FILE",
				l->name, l->name);
	return take(o, l->is, eq ? eq + 1 : after);
}

/* A word that is no option. */
static int read_plain(struct stap_options *o, const char *word)
{
	if (!o->file)
		o->file = word;
	else
		return stap_words_add(&o->args, word);
	return 0;
}

/* -e and -l, wherever they stand, leave no place for a file: all other words are arguments. */
static int settle(struct stap_options *o)
{
	int r = 0;

	if (!o->file || (!o->script && !o->lists))
		return 0;
	r = stap_words_add(&o->args, o->file);
	if (r)
		return r;
	memmove(o->args.v + 1, o->args.v, (o->args.n - 1) * sizeof(*o->args.v));
	o->args.v[0] = o->file;
	o->file = NULL;
	return 0;
}

int stap_options_read(struct stap_options *o, int argc, char *const *argv, bool ours,
		      struct err *e)
{
	bool plain = false, first_ends = getenv("POSIXLY_CORRECT") != NULL;
	int r = 0;

	for (int i = 1; i < argc && !r; i++) {
		const char *word = argv[i], *after = i + 1 < argc ? argv[i + 1] : NULL;
		const struct long_option *l = NULL;
		bool next = false;

		if (!plain && ours && !strncmp(word, "--", 2))
			l = find_own(word + 2, strcspn(word + 2, "="));
		if (l) {
			r = read_own(o, l, word, after, &next, e);
			if (r == -EINVAL)
				return r;
			i += next;
			continue;
		}
		if (plain || word[0] != '-' || !word[1]) {
			plain |= first_ends;
			r = read_plain(o, word);
		} else if (!strcmp(word, "--")) {
			plain = true;
		} else if (word[1] == '-') {
			r = read_long(o, word, after, &next);
		} else {
			r = read_shorts(o, word, after, &next);
		}
		if (!r && ours)
			r = stap_words_add(&o->rest, word);
		if (!r && next && after && ours)
			r = stap_words_add(&o->rest, after);
		i += next;
	}
	if (!r)
		r = settle(o);
	if (r)
		return err_set(e, ENOMEM, "cannot read stap's options: no memory: free some");
	return 0;
}
