// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * import_line.c - one line of what "perf script" prints, and what it says.
 *
 * The formats are those of perf's tools/perf/builtin-script.c (print_sample_start(), process_event()) and util/event.c (perf_event__fprintf_*()).  The order
 * is always comm, pid/tid, cpu, time, period, event, addr, data_src, weight, ins_lat, retire_lat, ip, and numbers after the event are 16
 * columns wide with a blank before them, which is how the instruction is found behind an address that has a symbol of its own.
 */
#include "config.h"

#include "import_line.h"
#include "import_scan.h"

#include <string.h>

enum { COMM_COLUMNS = 16, COMM_MOST = 64, NUMBERS = 8 };

/* A latency, not an address: no process has memory below, and hardly an access takes longer. */
#define LATENCY_MOST 65535u

/* ---- PERF_RECORD_... ---- */

/* "pid/tid": a process has no thread 0; the kernel (0, -1) has. */
static bool pid_tid(struct scan *s, char between, int32_t *pid, int32_t *tid)
{
	return scan_pid(s, pid) && scan_char(s, between) && scan_pid(s, tid) && (*pid <= 0 || *tid > 0);
}

/* " <ab12...>" or " fe:00 1234 567", then "]" */
static bool identity(struct scan *s, struct import_line *out)
{
	uint64_t major, minor, generation;

	scan_blanks(s);
	if (scan_char(s, '<')) {
		out->u.map.build_id_len = (uint8_t)scan_bytes(s, out->u.map.build_id, sizeof(out->u.map.build_id));
		return scan_char(s, '>') && scan_char(s, ']');
	}
	if (scan_char(s, ']')) /* PERF_RECORD_MMAP has nothing there */
		return true;
	if (!scan_hex(s, &major) || !scan_char(s, ':') || !scan_hex(s, &minor) || !scan_blanks(s) ||
	    !scan_decimal(s, &out->u.map.ino) || !scan_blanks(s) || !scan_decimal(s, &generation) || !scan_char(s, ']'))
		return false;
	out->u.map.has_ino = out->u.map.ino != 0;
	out->u.map.dev_major = (uint32_t)major;
	out->u.map.dev_minor = (uint32_t)minor;
	return true;
}

/* "2 700/700: [0x555500003000(0x1000) @ 0x2000 fe:00 42 0]: rw-p /usr/bin/a b" */
static bool map(struct scan *s, struct import_line *out)
{
	uint64_t len;
	size_t n;

	out->what = IMPORT_MAP;
	scan_char(s, '2');
	scan_blanks(s);
	if (!pid_tid(s, '/', &out->u.map.pid, &out->u.map.tid) || !scan_char(s, ':'))
		return scan_fail(s, "pid/tid");
	scan_blanks(s);
	if (!scan_char(s, '[') || !scan_hex(s, &out->u.map.start) || !scan_char(s, '(') || !scan_hex(s, &len) ||
	    !scan_char(s, ')') || !scan_blanks(s) || !scan_char(s, '@') || !scan_blanks(s) || !scan_hex(s, &out->u.map.pgoff) || !identity(s, out))
		return scan_fail(s, "[START(SIZE) @ OFFSET ...]");
	if (!len || out->u.map.start + len <= out->u.map.start)
		return scan_fail(s, "a range that is not empty");
	out->u.map.end = out->u.map.start + len;
	if (!scan_char(s, ':') || !scan_blanks(s))
		return scan_fail(s, "a protection");
	for (n = 0; s->p < s->end && *s->p != ' ' && n < sizeof(out->u.map.prot) - 1; n++)
		out->u.map.prot[n] = *s->p++;
	scan_char(s, ' ');
	out->u.map.path = (struct import_text){ s->p, (size_t)(s->end - s->p) };
	return true;
}

/* " exec: NAME:700/700": the name may hold anything, so that the numbers are looked for from the end. */
static bool comm(struct scan *s, struct import_line *out)
{
	const char *colon;
	struct scan tail;

	out->what = IMPORT_COMM;
	out->u.comm.exec = scan_word(s, " exec");
	if (!scan_char(s, ':'))
		return scan_fail(s, ":");
	scan_char(s, ' ');
	colon = s->p < s->end ? memrchr(s->p, ':', (size_t)(s->end - s->p)) : NULL;
	if (!colon)
		return scan_fail(s, "NAME:PID/TID");
	out->u.comm.name = (struct import_text){ s->p, (size_t)(colon - s->p) };
	tail = (struct scan){ .p = colon + 1, .end = s->end };
	return pid_tid(&tail, '/', &out->u.comm.pid, &out->u.comm.tid) ? true : scan_fail(s, "NAME:PID/TID");
}

/* "(pid:tid):(ppid:ptid)" */
static bool task(struct scan *s, enum import_what what, struct import_line *out)
{
	out->what = what;
	return scan_char(s, '(') && pid_tid(s, ':', &out->u.task.pid, &out->u.task.tid) && scan_char(s, ')') && scan_char(s, ':') &&
	       scan_char(s, '(') && pid_tid(s, ':', &out->u.task.ppid, &out->u.task.ptid) && scan_char(s, ')') ?
		       true : scan_fail(s, "(PID:TID):(PPID:PTID)");
}

/* " lost 12", whatever stands between */
static bool lost(struct scan *s, struct import_line *out)
{
	const char *at = memmem(s->p, (size_t)(s->end - s->p), "lost ", 5);

	out->what = IMPORT_LOST;
	if (at)
		s->p = at + 5;
	return at && scan_decimal(s, &out->u.lost) ? true : scan_fail(s, "lost NUMBER");
}

static bool record(struct scan *s, struct import_line *out)
{
	if (scan_word(s, "MMAP"))
		return map(s, out);
	if (scan_word(s, "COMM"))
		return comm(s, out);
	if (scan_word(s, "FORK"))
		return task(s, IMPORT_FORK, out);
	if (scan_word(s, "EXIT"))
		return task(s, IMPORT_EXIT, out);
	if (scan_word(s, "LOST"))
		return lost(s, out);
	out->what = IMPORT_NOTHING;
	return true;
}

/* ---- behind the event ---- */

struct number {
	uint64_t hex;
	uint64_t decimal; /* UINT64_MAX: it is none */
};

static bool is_latency(const struct number *n)
{
	return n->decimal <= LATENCY_MOST;
}

/* Numbers up to what is none; how many. */
static size_t numbers(struct scan *s, struct number v[NUMBERS])
{
	size_t n = 0;

	while (n < NUMBERS) {
		struct scan was = *s, again;

		scan_blanks(s);
		again = *s;
		if (!scan_digits(s, 16, &v[n].hex) || !scan_ends_word(s)) {
			s->p = was.p;
			break;
		}
		if (!scan_digits(&again, 10, &v[n].decimal) || again.p != s->p)
			v[n].decimal = UINT64_MAX;
		n++;
	}
	scan_blanks(s);
	return n;
}

/* "|OP LOAD|LVL L3 or L3 hit|...|BLK  N/A": to the first number behind the last of them */
static void skip_described(struct scan *s)
{
	while (s->p < s->end && *s->p == '|') {
		s->p++;
		while (s->p < s->end && *s->p != '|') {
			struct scan at = *s;
			struct number v[NUMBERS];

			/* Words of it are no numbers: it has "L3", "N/A", "(1", never "a" or "3" alone. */
			if (*s->p == ' ' && s->p[-1] != ' ' && numbers(&at, v))
				return;
			s->p++;
		}
	}
}

/* "name+0x10 (/a b (x))": the part in the last parentheses, which may hold others, is the file. */
static void split_symbol(const char *p, const char *end, struct import_text *symbol, struct import_text *file)
{
	const char *open, *plus;
	int depth = 0;

	while (p < end && *p == ' ')
		p++;
	while (end > p && end[-1] == ' ')
		end--;
	if (end > p && end[-1] == ')') {
		for (open = end - 1; open > p; open--) {
			depth += *open == ')' ? 1 : *open == '(' ? -1 : 0;
			if (!depth)
				break;
		}
		if (*open == '(' && (open == p || open[-1] == ' ')) {
			*file = (struct import_text){ open + 1, (size_t)(end - open) - 2 };
			end = open;
		}
	}
	while (end > p && end[-1] == ' ')
		end--;
	plus = p < end ? memrchr(p, '+', (size_t)(end - p)) : NULL;
	if (plus && plus > p && end - plus > 3 && plus[1] == '0' && plus[2] == 'x') {
		struct scan offset = { .p = plus + 3, .end = end };
		uint64_t ignored;

		if (scan_digits(&offset, 16, &ignored) && offset.p == end)
			end = plus;
	}
	*symbol = (struct import_text){ p, (size_t)(end - p) };
	if (symbol->len == 9 && !memcmp(p, "[unknown]", 9))
		symbol->len = 0;
	if (file->len == 9 && !memcmp(file->p, "[unknown]", 9))
		file->len = 0;
}

/*
 * Where another number with its symbol stands behind the symbol of the first one: 17 columns of blanks and digits, as perf
 * prints a number.  *@value is it; NULL: there is none.
 */
static const char *second_number(const char *p, const char *end, uint64_t *value)
{
	const char *at;

	for (at = p + 1; at < end; at++) {
		struct scan s = { .p = at, .end = end };

		if (*at != ' ' || at[-1] == ' ')
			continue;
		scan_blanks(&s);
		if (!scan_digits(&s, 16, value) || s.p - at != 17 || !scan_ends_word(&s))
			continue;
		scan_blanks(&s);
		/* A symbol; behind a physical address there may be the size of its page, "4K". */
		if (s.p < end && (*s.p < '0' || *s.p > '9') && !scan_word(&s, "N/A"))
			return at;
	}
	return NULL;
}

static uint32_t latency(const struct number *n)
{
	return n->decimal == UINT64_MAX ? 0 : n->decimal > UINT32_MAX ? UINT32_MAX : (uint32_t)n->decimal;
}

static void set_addr(struct import_line *out, uint64_t addr)
{
	out->u.sample.addr = addr;
	out->u.sample.has_addr = IMPORT_ADDR_YES;
}

static void behind_source(struct scan *s, struct import_line *out, const struct number *v, size_t n)
{
	struct number m[NUMBERS];
	size_t k;

	out->u.sample.source = v[n - 1].hex;
	if (n == 2)
		set_addr(out, v[0].hex);
	skip_described(s);
	k = numbers(s, m);
	if (s->p < s->end && k) { /* the last one has a symbol: the instruction */
		out->u.sample.ip = m[k - 1].hex;
		k--;
	} else if (k && !is_latency(&m[0])) {
		k = 0;
	}
	if (k)
		out->u.sample.latency = latency(&m[0]);
}

static void tail(struct scan *s, struct import_line *out, const char *line)
{
	struct number v[NUMBERS];
	size_t n = numbers(s, v);
	const char *second;

	out->u.sample.addr_column = (size_t)(s->p - line) + 1;
	if (s->p < s->end && *s->p == '|' && n) {
		behind_source(s, out, v, n);
	} else if (s->p < s->end && n == 1) {
		/* a symbol: that of an address, if there is an instruction behind it */
		second = second_number(s->p, s->end, &out->u.sample.ip);
		split_symbol(s->p, second ? second : s->end, &out->u.sample.symbol, &out->u.sample.file);
		set_addr(out, v[0].hex);
		if (!second) {
			out->u.sample.has_addr = IMPORT_ADDR_MAYBE;
			out->u.sample.ip = 0;
		}
	} else if (n == 1) {
		set_addr(out, v[0].hex);
		out->u.sample.has_addr = IMPORT_ADDR_MAYBE;
	} else if (n && v[0].hex && is_latency(&v[0])) {
		out->u.sample.has_addr = IMPORT_ADDR_NONE; /* the weight, and no address before it */
	} else if (n >= 2 && (s->p < s->end || is_latency(&v[1]))) {
		set_addr(out, v[0].hex);
		if (s->p < s->end)
			out->u.sample.ip = v[n - 1].hex;
		if (n > 2 || s->p == s->end)
			out->u.sample.latency = latency(&v[1]);
	} else if (n >= 2) {
		out->u.sample.has_addr = IMPORT_ADDR_UNSURE;
	}
}

/* ---- up to the event ---- */

/* "47521.157813:" */
static bool seconds(struct scan *s, struct import_line *out)
{
	struct scan was = *s;
	uint64_t whole, part, unit = 1000000000;
	bool minus = scan_char(s, '-');
	const char *digits;

	if (!scan_digits(s, 10, &whole) || s->p == s->end || (*s->p != '.' && *s->p != ',')) {
		*s = was;
		return false;
	}
	digits = ++s->p;
	if (!scan_digits(s, 10, &part) || s->p - digits > 9 || !scan_char(s, ':') || whole > UINT64_MAX / 1000000000 - 1) {
		*s = was;
		return false;
	}
	for (; digits < s->p - 1; digits++)
		unit /= 10;
	out->timed = !minus;
	out->time_ns = minus ? 0 : whole * 1000000000 + part * unit;
	return true;
}

/* "1000 cpu/mem-loads,ldlat=30/P:": a name without blanks, but for "raw 0x1cd" where perf has none. */
static bool event(struct scan *s, struct import_line *out)
{
	struct scan was = *s;
	const char *name, *colon;

	if (!scan_digits(s, 10, &out->u.sample.period) || !scan_ends_word(s) || !scan_blanks(s)) {
		*s = was;
		out->u.sample.period = 0;
	}
	name = s->p;
	scan_word(s, "raw 0x");
	while (s->p < s->end && *s->p != ' ')
		s->p++;
	colon = s->p - 1;
	if (s->p - name < 2 || *colon != ':')
		return scan_fail(s, "an event, as in \"page-faults:\"");
	out->u.sample.event = (struct import_text){ name, (size_t)(colon - name) };
	return true;
}

/* From the process on. */
static bool from_pid(struct scan *s, const char *line, struct import_line *out)
{
	struct scan was;
	uint64_t cpu;

	if (!scan_pid(s, &out->pid))
		return scan_fail(s, "a process");
	out->tid = out->pid;
	if (scan_char(s, '/')) {
		out->has_pid = true;
		if (!scan_pid(s, &out->tid) || (out->pid > 0 && out->tid <= 0))
			return scan_fail(s, "a thread");
	}
	if (!scan_blanks(s))
		return scan_fail(s, "a process");
	was = *s;
	if (!scan_char(s, '[') || !scan_digits(s, 10, &cpu) || !scan_char(s, ']') || !scan_blanks(s))
		*s = was;
	if (seconds(s, out))
		scan_blanks(s);
	if (scan_word(s, "PERF_RECORD_"))
		return record(s, out);
	out->what = IMPORT_SAMPLE;
	if (!event(s, out))
		return false;
	tail(s, out, line);
	return true;
}

/* With the process's number at @at, and its name before that. */
static bool try_at(const char *line, const char *at, const char *end, struct import_line *out)
{
	struct scan s = { .p = at, .end = end, .why = "a process" };
	size_t bad = out->bad_column;
	const char *why = out->bad_why, *p = line;

	memset(out, 0, sizeof(*out));
	scan_blanks(&s);
	if (from_pid(&s, line, out)) {
		while (at > p && at[-1] == ' ')
			at--;
		while (p < at && *p == ' ')
			p++;
		out->comm = (struct import_text){ p, (size_t)(at - p) };
		return true;
	}
	/* Of all ways to read the line the one that came furthest, and first, tells what is wrong with it. */
	out->what = IMPORT_BAD;
	out->bad_column = (size_t)(s.p - line) + 1;
	out->bad_why = s.why;
	if (bad >= out->bad_column) {
		out->bad_column = bad;
		out->bad_why = why;
	}
	return false;
}

void import_line(const char *line, size_t len, struct import_line *out)
{
	const char *end, *first, *p;

	while (len && (line[len - 1] == '\r' || line[len - 1] == ' '))
		len--;
	end = line + len;
	memset(out, 0, sizeof(*out));
	for (first = line; first < end && *first == ' '; first++)
		;
	if (first == end || *line == '#')
		return;
	if (*line == '\t') {
		out->what = IMPORT_FRAME;
		return;
	}
	/* A name that ends in the 16th column. */
	if (len > COMM_COLUMNS + 1 && line[0] == ' ' && line[COMM_COLUMNS] == ' ' && line[COMM_COLUMNS - 1] != ' ' &&
	    try_at(line, line + COMM_COLUMNS + 1, end, out))
		return;
	/* No name. */
	if (((*first >= '0' && *first <= '9') || *first == '-') && try_at(line, first, end, out))
		return;
	/* A name as long as it is, which may have blanks and digits. */
	for (p = first + 1; p < end && p - line <= COMM_MOST; p++)
		if (p[-1] == ' ' && ((*p >= '0' && *p <= '9') || *p == '-') && try_at(line, p, end, out))
			return;
	out->what = IMPORT_BAD;
	if (!out->bad_why) {
		out->bad_column = (size_t)(first - line) + 1;
		out->bad_why = "a process";
	}
}
