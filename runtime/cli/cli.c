// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * cli.c - option parsing and output that all subcommands share.
 *
 * argp parses; what it cannot say well is checked before it runs: cli_parse()
 * walks the arguments once by the same option tables, so that an unknown option
 * can name its nearest neighbour and the end of the options is known exactly.
 */
#include "config.h"

#include "runtime/cli/cli.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char *argp_program_version = "hotvar " PACKAGE_VERSION;

enum { MAX_OPTIONS = 128, MAX_WORD = 64 };

/* Every option of one argp and its children. */
struct options {
	const struct argp_option *v[MAX_OPTIONS];
	size_t n;
};

static const struct argp_option builtin_options[] = {
	{ "help", '?', NULL, 0, NULL, 0 },
	{ "usage", -3, NULL, 0, NULL, 0 },
	{ "version", 'V', NULL, 0, NULL, 0 },
	{ 0 },
};

/* ---- the nearest word ---- */

/* Edit distance with swapped neighbours counted once; long words are never near. */
static unsigned distance(const char *a, const char *b)
{
	size_t la = strlen(a), lb = strlen(b), i, j;
	unsigned d[3][MAX_WORD + 1];

	if (la > MAX_WORD || lb > MAX_WORD)
		return MAX_WORD;
	for (j = 0; j <= lb; j++)
		d[0][j] = (unsigned)j;
	for (i = 1; i <= la; i++) {
		unsigned *row = d[i % 3], *up = d[(i + 2) % 3], *up2 = d[(i + 1) % 3];

		row[0] = (unsigned)i;
		for (j = 1; j <= lb; j++) {
			unsigned best = up[j - 1] + (a[i - 1] != b[j - 1]);

			if (up[j] + 1 < best)
				best = up[j] + 1;
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] &&
			    a[i - 2] == b[j - 1] && up2[j - 2] + 1 < best)
				best = up2[j - 2] + 1;
			row[j] = best;
		}
	}
	return d[la % 3][lb];
}

const char *cli_nearest(const char *word, const char *const *known)
{
	size_t len = strlen(word);
	unsigned limit = len < 4 ? 1 : len < 8 ? 2 : 3, best = limit + 1;
	const char *near = NULL;

	for (; *known; known++) {
		unsigned d = distance(word, *known);

		/* A word typed short ("sym" for "symbols") is near too. */
		if (len >= 3 && !strncmp(word, *known, len))
			d = 1;
		if (d < best) {
			best = d;
			near = *known;
		}
	}
	return near;
}

/* ---- options ---- */

static void collect(struct options *o, const struct argp *argp)
{
	const struct argp_option *opt;
	const struct argp_child *child;

	for (opt = argp->options; opt && (opt->name || opt->key || opt->doc); opt++)
		if ((opt->name || opt->key) && o->n < MAX_OPTIONS)
			o->v[o->n++] = opt;
	for (child = argp->children; child && child->argp; child++)
		collect(o, child->argp);
}

/* An alias takes its argument from the option before it. */
static bool takes_arg(const struct options *o, size_t i)
{
	while (i && (o->v[i]->flags & OPTION_ALIAS))
		i--;
	return o->v[i]->arg && !(o->v[i]->flags & OPTION_ARG_OPTIONAL);
}

static bool may_take_arg(const struct options *o, size_t i)
{
	while (i && (o->v[i]->flags & OPTION_ALIAS))
		i--;
	return o->v[i]->arg;
}

static int usage(struct err *e, const char *prog, const char *what, const char *near)
{
	if (near)
		err_exit(e, EINVAL, CLI_USAGE, "%s; did you mean '--%s'? See '%s --help'",
			 what, near, prog);
	else
		err_exit(e, EINVAL, CLI_USAGE, "%s; see '%s --help'", what, prog);
	return CLI_USAGE;
}

/* Check the long option @arg; *@skip says that the next argument is its value. */
static int check_long(const struct options *o, const char *prog, const char *arg,
		      bool *skip, struct err *e)
{
	const char *name = arg + 2, *eq = strchr(name, '=');
	size_t len = eq ? (size_t)(eq - name) : strlen(name), i, hit = 0;
	const char *known[MAX_OPTIONS + 1];
	unsigned hits = 0, n = 0;
	char what[256];

	for (i = 0; i < o->n; i++) {
		if (!o->v[i]->name)
			continue;
		known[n++] = o->v[i]->name;
		if (strncmp(o->v[i]->name, name, len))
			continue;
		hit = i;
		if (!o->v[i]->name[len]) {
			hits = 1;
			break;
		}
		hits++;
	}
	known[n] = NULL;
	if (hits == 1) {
		if (eq && !may_take_arg(o, hit)) {
			snprintf(what, sizeof(what), "option '--%.*s' takes no value",
				 (int)len, name);
			return usage(e, prog, what, NULL);
		}
		*skip = !eq && takes_arg(o, hit);
		return 0;
	}
	snprintf(what, sizeof(what), "%s option '--%.*s'",
		 hits ? "ambiguous" : "unknown", (int)(len < 100 ? len : 100), name);
	if (!hits && len < MAX_WORD) {
		char word[MAX_WORD];

		memcpy(word, name, len);
		word[len] = '\0';
		return usage(e, prog, what, cli_nearest(word, known));
	}
	return usage(e, prog, what, NULL);
}

static int check_short(const struct options *o, const char *prog, const char *arg,
		       bool *skip, struct err *e)
{
	const char *p;

	for (p = arg + 1; *p; p++) {
		char what[64];
		size_t i;

		for (i = 0; i < o->n && o->v[i]->key != *p; i++)
			;
		if (i == o->n) {
			snprintf(what, sizeof(what), "unknown option '-%c'", *p);
			return usage(e, prog, what, NULL);
		}
		if (may_take_arg(o, i)) {
			*skip = takes_arg(o, i) && !p[1];
			return 0;
		}
	}
	return 0;
}

static struct err value_err;

error_t cli_bad_value(const char *option, const char *value, const char *want)
{
	err_exit(&value_err, EINVAL, CLI_USAGE, "bad value '%s' for %s: it takes %s",
		 value ? value : "", option, want);
	return EINVAL;
}

error_t cli_not_yet(const char *what, const char *instead)
{
	err_exit(&value_err, ENOSYS, CLI_USAGE, "%s is not in version %s: %s", what, PACKAGE_VERSION,
		 instead);
	return EINVAL;
}

/* argp itself exits after --help and --version, whether they could be written or not. */
static bool helping;

static void check_help(void)
{
	struct cli_common none = { .output = NULL };
	struct err e;

	if (!helping || !cli_close(stdout, &none, &e))
		return;
	cli_say(e.text);
	_exit(CLI_FAILED);
}

static void watch_help(bool begin)
{
	static bool watched;

	if (!watched)
		atexit(check_help);
	watched = true;
	helping = begin;
}

int cli_parse(const struct argp *argp, int argc, char **argv, bool stop_at_arg,
	      int *rest, void *input, struct err *e)
{
	struct options o = { .n = 0 };
	char prog[64], **copy;
	const struct argp_option *b;
	int end, err;

	if (!strcmp(argv[0], "hotvar") || strchr(argv[0], '/'))
		snprintf(prog, sizeof(prog), "hotvar");
	else
		snprintf(prog, sizeof(prog), "hotvar %s", argv[0]);
	collect(&o, argp);
	for (b = builtin_options; b->name; b++)
		if (o.n < MAX_OPTIONS)
			o.v[o.n++] = b;

	for (end = 1; end < argc; end++) {
		bool skip = false;

		if (!strcmp(argv[end], "--"))
			break;
		if (argv[end][0] != '-' || !argv[end][1]) {
			if (stop_at_arg)
				break;
			continue;
		}
		err = argv[end][1] == '-' ? check_long(&o, prog, argv[end], &skip, e) :
					    check_short(&o, prog, argv[end], &skip, e);
		if (err)
			return err;
		if (skip && ++end == argc) {
			err_exit(e, EINVAL, CLI_USAGE,
				 "option '%s' needs a value; see '%s --help'",
				 argv[argc - 1], prog);
			return CLI_USAGE;
		}
	}

	copy = calloc((size_t)end + 1, sizeof(*copy));
	if (!copy) {
		err_set(e, ENOMEM, "no memory for the arguments");
		return CLI_FAILED;
	}
	memcpy(copy, argv, (size_t)end * sizeof(*copy));
	copy[0] = prog;
	argp_err_exit_status = CLI_USAGE;
	value_err.text[0] = '\0';
	watch_help(true);
	err = argp_parse(argp, end, copy, stop_at_arg ? ARGP_IN_ORDER : 0, NULL, input);
	watch_help(false);
	free(copy);
	if (err) {
		if (value_err.text[0])
			err_exit(e, EINVAL, CLI_USAGE, "%s", value_err.text);
		else
			err_exit(e, EINVAL, CLI_USAGE, "bad arguments: %s; see '%s --help'",
				 strerror(err), prog);
		return CLI_USAGE;
	}
	*rest = end < argc && !strcmp(argv[end], "--") ? end + 1 : end;
	return 0;
}

enum { KEY_JSON = 0x4000, KEY_COLOR };

static const struct argp_option common_options[] = {
	{ "json", KEY_JSON, NULL, 0, "Write JSON Lines instead of text", 10 },
	{ "output", 'o', "FILE", 0, "Write to FILE ('-' is stdout)", 10 },
	{ "color", KEY_COLOR, "WHEN", 0, "Color text: auto, always or never", 10 },
	{ "quiet", 'q', NULL, 0, "Say only what was asked for", 10 },
	{ "verbose", 'v', NULL, 0, "Say more: which files have no names, why, and what to do", 10 },
	{ 0 },
};

static error_t parse_common(int key, char *arg, struct argp_state *state)
{
	struct cli_common *c = state->input;

	switch (key) {
	case KEY_JSON:
		c->json = true;
		return 0;
	case 'o':
		c->output = arg;
		return 0;
	case KEY_COLOR:
		if (!strcmp(arg, "auto"))
			c->color = CLI_COLOR_AUTO;
		else if (!strcmp(arg, "always"))
			c->color = CLI_COLOR_ALWAYS;
		else if (!strcmp(arg, "never"))
			c->color = CLI_COLOR_NEVER;
		else
			return cli_bad_value("--color", arg, "auto, always or never");
		return 0;
	case 'q':
		c->quiet = true;
		return 0;
	case 'v':
		c->verbose++;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

const struct argp cli_common_argp = {
	.options = common_options,
	.parser = parse_common,
};

bool cli_number(const char *s, unsigned long long *out)
{
	int base = s[0] == '0' && (s[1] == 'x' || s[1] == 'X') ? 16 : 10;
	const char *digits = base == 16 ? s + 2 : s;
	char *end;

	/* strtoull() itself would take blanks, a sign, and a second 0x. */
	if (!strchr("0123456789", digits[0]) &&
	    !(base == 16 && strchr("abcdefABCDEF", digits[0])))
		return false;
	if (!digits[0] || (base == 16 && (digits[1] == 'x' || digits[1] == 'X')))
		return false;
	errno = 0;
	*out = strtoull(digits, &end, base);
	return !errno && !*end;
}

error_t cli_pid(const char *arg, pid_t *out)
{
	unsigned long long n;

	if (!cli_number(arg, &n) || !n || n > INT_MAX)
		return cli_bad_value("-p", arg, "the number of a process");
	if (*out && *out != (pid_t)n)
		return cli_bad_value("-p", arg, "one process here, and another was given before");
	*out = (pid_t)n;
	return 0;
}

error_t cli_duration(const char *option, const char *arg, double *out)
{
	char *end;

	errno = 0;
	*out = strtod(arg, &end);
	if (errno || end == arg || *end || !(*out > 0) || *out > 1e9)
		return cli_bad_value(option, arg, "a number of seconds above 0");
	return 0;
}

/* ---- output ---- */

FILE *cli_open(const struct cli_common *c, FILE *otherwise, struct err *e)
{
	FILE *f;

	if (!c->output)
		return otherwise;
	if (!strcmp(c->output, "-"))
		return stdout;
	f = fopen(c->output, "we");
	if (!f)
		err_set(e, errno, "cannot write '%s': %s; name a file in a folder you may write to with -o",
			c->output, strerror(errno));
	return f;
}

int cli_spares(const struct cli_common *c, char *const argv[], const char *input, struct err *e)
{
	const char *path = argv && strchr(argv[0], '/') ? argv[0] : input;
	struct stat in, out;

	if (!c->output || !path || !strcmp(c->output, "-") || stat(path, &in) || stat(c->output, &out) ||
	    !S_ISREG(in.st_mode) || in.st_dev != out.st_dev || in.st_ino != out.st_ino)
		return 0;
	return err_set(e, EEXIST, "will not write over '%s', which is what is looked at: give another file with -o", path);
}

int cli_unwritten(const char *name, const struct cli_common *c, int code, struct err *e)
{
	if (c->output && strcmp(c->output, "-"))
		name = c->output;
	return err_set(e, code, "cannot write all of the output to %s: %s", name ? name : "stdout",
		       strerror(code));
}

/* A stream that failed before does not keep why: its file says it again. */
static int why_failed(FILE *f)
{
	return write(fileno(f), "\n", 1) < 0 ? errno : EIO;
}

int cli_close(FILE *f, const struct cli_common *c, struct err *e)
{
	const char *name = f == stderr ? "stderr" : "stdout";
	int err = 0;

	errno = 0;
	if (fflush(f) || ferror(f))
		err = errno ? errno : why_failed(f);
	if (f != stdout && f != stderr && fclose(f) && !err)
		err = errno;
	return err && err != EPIPE ? cli_unwritten(name, c, err, e) : 0;
}

bool cli_colored(const struct cli_common *c, FILE *f)
{
	const char *term;

	if (c->color != CLI_COLOR_AUTO)
		return c->color == CLI_COLOR_ALWAYS;
	term = getenv("TERM");
	/* https://no-color.org: set and not empty means no. */
	if (getenv("NO_COLOR") && *getenv("NO_COLOR"))
		return false;
	return isatty(fileno(f)) && term && strcmp(term, "dumb");
}

void cli_say(const char *text)
{
	const unsigned char *s = (const unsigned char *)text;

	fputs("hotvar: ", stderr);
	for (; *s; s++) {
		bool c1 = s[0] == 0xc2 && s[1] >= 0x80 && s[1] < 0xa0; /* U+0080..U+009F */

		if (*s == '\n')
			fputs("\\n", stderr);
		else if (*s < ' ' || *s == 0x7f || c1)
			fprintf(stderr, "\\x%02x", *s);
		else
			putc(*s, stderr);
		if (c1)
			fprintf(stderr, "\\x%02x", *++s);
	}
	putc('\n', stderr);
}
