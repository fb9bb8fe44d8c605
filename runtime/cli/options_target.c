// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "options_target.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/cli/cli.h"
#include "runtime/user/launch.h"
#include "runtime/user/target.h"

/* A sample costs about 20 us: beyond this the program does little else. */
enum { DEFAULT_HZ = 1000, MOST_HZ = 20000 };

enum { KEY_SOURCE = 0x5000, KEY_BUDGET = 0x5080, KEY_EXACT, KEY_MALLOC, KEY_FROM, KEY_WATCH };

static const struct argp_option options[] = {
	{ "pid", 'p', "PID", 0, "Measure the running process PID, all its threads", 1 },
	{ "duration", 'd', "SECONDS", 0, "End measuring after SECONDS", 1 },
	{ "frequency", 'F', "HZ", 0, "Samples a second of CPU time (1000)", 1 },
	{ "budget", KEY_BUDGET, "PERCENT", 0, "Of the CPU time of what is measured, take at most PERCENT for measuring: fewer samples, breakpoints and walks", 1 },
	{ "source", KEY_SOURCE, "SOURCE", 0, "Where accesses come from: auto, perf, pmu (the processor's own samples), ptrace or exact; or fault: the first touch of each page, with its exact address", 1 },
	{ "watch", KEY_WATCH, "VARIABLE", 0, "Count each read and write of VARIABLE, by thread and line of code, with a watchpoint of the processor; up to four, of 1, 2, 4 or 8 bytes each: 'table[3].hits' for a part of a larger one", 1 },
	{ "exact", KEY_EXACT, NULL, 0, "Count every access, under valgrind; the same as --source exact", 1 },
	{ "exact-malloc", KEY_MALLOC, "WHOSE", 0, "With --exact: program: let it use its own malloc, then objects of the heap have no names; or the soname of a library whose malloc is to be replaced, too (NONE: one inside the program)", 1 },
	{ "exact-from", KEY_FROM, "WHEN", 0, "With --exact: count from begin (the default), or from request, one of the program's (hotvar.h)", 1 },
	{ 0 },
};

static error_t parse_source(struct target_options *o, const char *arg)
{
	if (!strcmp(arg, "auto"))
		o->source = SESSION_AUTO;
	else if (!strcmp(arg, "perf"))
		o->source = SESSION_PERF;
	else if (!strcmp(arg, "ptrace"))
		o->source = SESSION_PTRACE;
	else if (!strcmp(arg, "exact"))
		o->source = SESSION_EXACT;
	else if (!strcmp(arg, "pmu"))
		o->source = SESSION_PMU;
	else if (!strcmp(arg, "fault"))
		o->source = SESSION_FAULT;
	else
		return cli_bad_value("--source", arg, "auto, perf, pmu, ptrace, exact or fault");
	return 0;
}

/* "total,lut": names, more than one.  A comma may also be in the arguments of a template, or before a size. */
static bool is_list(const char *arg)
{
	const char *comma = strchr(arg, ',');

	return comma && !strpbrk(arg, "<(") && (isalpha((unsigned char)comma[1]) || comma[1] == '_');
}

static error_t parse_watch(struct target_options *o, const char *arg)
{
	if (is_list(arg))
		return cli_bad_value("--watch", arg, "one variable: give it again for each other, as in --watch one --watch other");
	switch (watchpoints_ask_add(&o->watch, arg)) {
	case 0:
	case -EEXIST:
		return 0;
	case -ERANGE:
		return cli_bad_value("--watch", arg, "1, 2, 4 or 8 bytes at a multiple of that, as a watchpoint of the processor covers");
	case -ENOSPC:
		return cli_bad_value("--watch", arg, "no more than four variables: the processor has four watchpoints");
	default:
		return cli_bad_value("--watch", arg, "the name of a variable, such as counter, 'table[3].hits', libfoo.so.1:counter or 'buffer+16,4' for 4 bytes in it, or two hexadecimal addresses, START-END");
	}
}

static error_t parse_budget(struct target_options *o, const char *arg)
{
	char *end;
	double percent;

	errno = 0;
	percent = strtod(arg, &end);
	if (end != arg && *end == '%')
		end++;
	if (errno || end == arg || *end || !(percent >= 0.05 && percent <= 100))
		return cli_bad_value("--budget", arg, "percent, from 0.05 to 100");
	o->budget = percent / 100;
	return 0;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct target_options *o = state->input;
	unsigned long long n;

	switch (key) {
	case 'p':
		return cli_pid(arg, &o->pid);
	case 'd':
		return cli_duration("-d", arg, &o->seconds);
	case 'F':
		if (!cli_number(arg, &n) || !n || n > MOST_HZ)
			return cli_bad_value("-F", arg, "a rate from 1 to 20000 Hz");
		o->hz = (unsigned)n;
		o->hz_given = true;
		return 0;
	case KEY_BUDGET:
		return parse_budget(o, arg);
	case KEY_SOURCE:
		o->source_given = true;
		return parse_source(o, arg);
	case KEY_WATCH:
		return parse_watch(o, arg);
	case KEY_EXACT:
		o->exact_given = true;
		return 0;
	case KEY_FROM:
		o->exact_stopped = !strcmp(arg, "request");
		return o->exact_stopped || !strcmp(arg, "begin") ? 0 : cli_bad_value("--exact-from", arg, "begin or request");
	case KEY_MALLOC:
		if (!*arg || strpbrk(arg, ", \t\n="))
			return cli_bad_value("--exact-malloc", arg, "program, NONE, or a soname such as libtcmalloc*");
		o->exact_malloc = arg;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

const struct argp target_argp = {
	.options = options,
	.parser = parse,
};

void target_options_init(struct target_options *o)
{
	memset(o, 0, sizeof(*o));
	o->hz = DEFAULT_HZ;
}

static bool is_callers(const struct target_options *o)
{
	return !strcmp(o->needs_exact, "--callers");
}

/* Page faults have their code and their pages, too. */
static bool is_told_by_faults(const struct target_options *o)
{
	return is_callers(o) || !strcmp(o->needs_exact, "--by page") || !strcmp(o->needs_exact, "--by region");
}

/* And what is watched has its code. */
static bool is_told(const struct target_options *o)
{
	return o->watch.n ? is_callers(o) : o->source == SESSION_FAULT && is_told_by_faults(o);
}

static void say_needs_exact(const struct target_options *o, const char *command, struct err *e)
{
	if (!is_told_by_faults(o))
		err_exit(e, EINVAL, CLI_USAGE,
			 "%s needs each access to be counted: give --exact, too, as in \"%s --exact %s -- CMD\"",
			 o->needs_exact, command, o->needs_exact);
	else
		err_exit(e, EINVAL, CLI_USAGE,
			 "%s needs each access to be counted: give --exact, too, as in \"%s --exact %s -- CMD\"; at far less cost --source fault tells it of the first touch of each page%s",
			 o->needs_exact, command, o->needs_exact,
			 is_callers(o) ? ", and --watch VARIABLE of one variable" : "");
}

/* An option about samples where none are taken, or none that it bounds; NULL: there is none. */
static const char *no_use(const struct target_options *o)
{
	bool samples = o->source != SESSION_EXACT && o->source != SESSION_FAULT && !o->watch.n;

	if (o->hz_given && !samples)
		return "-F";
	return o->budget > 0 && (!samples || o->source == SESSION_PMU || o->source == SESSION_PTRACE) ? "--budget" : NULL;
}

int target_options_check(struct target_options *o, char **rest, const char *command, struct err *e)
{
	o->argv = *rest ? rest : NULL;
	if (o->exact_given && o->source_given && o->source != SESSION_EXACT) {
		err_exit(e, EINVAL, CLI_USAGE,
			 "--exact and another --source contradict each other: --exact is a source of its own, which counts every access: leave out one of the two");
		return CLI_USAGE;
	}
	if (o->exact_given)
		o->source = SESSION_EXACT;
	if (!o->needs_exact)
		o->needs_exact = o->exact_stopped ? "--exact-from=request" : o->exact_malloc ? "--exact-malloc=WHOSE" : NULL;
	if (o->watch.n && (o->source_given || o->exact_given)) {
		err_exit(e, EINVAL, CLI_USAGE,
			 "--watch and %s contradict each other: accesses to what is watched are counted by the processor: leave out one of the two",
			 o->exact_given ? "--exact" : "--source");
		return CLI_USAGE;
	}
	if (o->needs_exact && is_told(o))
		o->needs_exact = NULL;
	if (o->watch.n && o->needs_accesses)
		o->needs_exact = o->needs_accesses;
	if (o->source == SESSION_FAULT && o->needs_accesses) {
		err_exit(e, EINVAL, CLI_USAGE,
			 "--source fault and %s do not go together: page faults are the first touches of pages, not accesses: leave out one of the two",
			 o->needs_accesses);
		return CLI_USAGE;
	}
	if (o->watch.n && o->needs_exact) {
		err_exit(e, EINVAL, CLI_USAGE,
			 "--watch and %s do not go together: what is watched is told by process, thread and line of code: leave out %s",
			 o->needs_exact, o->needs_exact);
		return CLI_USAGE;
	}
	if (o->needs_exact && o->source != SESSION_EXACT) {
		say_needs_exact(o, command, e);
		return CLI_USAGE;
	}
	if (o->pid && o->source == SESSION_EXACT) {
		err_exit(e, EINVAL, CLI_USAGE,
			 "cannot count every access of a process that runs already: it must run under valgrind from its start: give its command, as in \"%s --exact -- CMD\"",
			 command);
		return CLI_USAGE;
	}
	if (no_use(o)) {
		err_exit(e, EINVAL, CLI_USAGE, "%s does nothing with %s: %s: leave it out", no_use(o),
			 o->watch.n ? "--watch" : o->source == SESSION_EXACT ? "--exact" : o->source == SESSION_FAULT ? "--source fault" :
			 o->source == SESSION_PMU ? "--source pmu" : "--source ptrace",
			 o->watch.n || o->source == SESSION_EXACT ? "every access is counted" : o->source == SESSION_FAULT ? "every page fault is taken" :
			 "it is for timer samples with breakpoints");
		return CLI_USAGE;
	}
	if (o->argv && o->pid)
		err_exit(e, EINVAL, CLI_USAGE,
			 "both -p %d and the command '%s' were given: give one of them; see '%s --help'",
			 (int)o->pid, o->argv[0], command);
	else if (!o->argv && !o->pid)
		err_exit(e, EINVAL, CLI_USAGE,
			 "nothing to measure: give a command ('%s -- ./program') or a process ('%s -p PID'); see '%s --help'",
			 command, command, command);
	else
		return 0;
	return CLI_USAGE;
}

int target_ready(char **argv, pid_t pid, struct err *e)
{
	struct launch l;

	if (argv ? launch_find(&l, argv, e) : target_check(pid, e))
		return e->status ? e->status : CLI_FAILED;
	return 0;
}
