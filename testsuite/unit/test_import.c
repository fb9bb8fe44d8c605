// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_import - lines of perf script's, and what they say.
 *
 * The lines are what perf 6.1 printed of files with samples of known values, or follow its source where it prints more.
 */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "runtime/core/hvar_vmas.h"
#include "runtime/user/import.h"
#include "runtime/user/import_line.h"

#define WORDS "|OP LOAD|LVL L1 or L1 hit|SNP None|TLB L1 hit|LCK N/A|BLK  N/A"

/* ---- one line ---- */

static struct import_line read_line(const char *line)
{
	/* Exactly as long as it is: what reads past it is found. */
	static char *copy;
	struct import_line l;

	free(copy);
	copy = malloc(strlen(line) + 1);
	memcpy(copy, line, strlen(line));
	copy[strlen(line)] = 'x';
	copy = realloc(copy, strlen(line) ? strlen(line) : 1);
	import_line(copy, strlen(line), &l);
	return l;
}

static void is_text(struct import_text got, const char *want)
{
	char text[256];

	snprintf(text, sizeof(text), "%.*s", (int)got.len, got.p ? got.p : "");
	assert_string_equal(text, want);
}

struct sample_case {
	const char *line, *comm, *event;
	int pid, tid;
	uint64_t time_ns, period;
	enum import_addr has;
	uint64_t addr, ip, source;
	uint32_t latency;
	const char *symbol, *file;
};

static const struct sample_case samples[] = {
	/* perf mem record, with what plain perf script prints of it */
	{ "            :701   701 [001]     2.000000:       1000 raw 0x1cd:HG:     555500003010       229100142 " WORDS
	  "              37               5     555500001234 [unknown] ([unknown])        12345010",
	  ":701", "raw 0x1cd:HG", 701, 701, 2000000000, 1000, IMPORT_ADDR_YES, 0x555500003010, 0x555500001234, 0x229100142, 37, "", "" },
	{ "           redis   700/701    12.000123456:       1000 cpu/mem-loads,ldlat=30/P:     555500003010       229100142 " WORDS
	  "              37     555500001234 main+0x10 (/usr/bin/app)",
	  "redis", "cpu/mem-loads,ldlat=30/P", 700, 701, 12000123456, 1000, IMPORT_ADDR_YES, 0x555500003010, 0x555500001234, 0x229100142, 37, "", "" },
	/* no weight, no instruction, nothing but the source */
	{ "  701 cpu/mem-loads/P:     555500003010       229100142 " WORDS, "", "cpu/mem-loads/P", 701, 701, 0, 0, IMPORT_ADDR_YES,
	  0x555500003010, 0, 0x229100142, 0, "", "" },
	{ "  701 cpu/mem-loads/P:        229100142 " WORDS "              37", "", "cpu/mem-loads/P", 701, 701, 0, 0, IMPORT_ADDR_NONE,
	  0, 0, 0x229100142, 37, "", "" },
	/* an instruction without a symbol is no latency */
	{ "  701 cpu/mem-loads/P:     555500003010       229100142 " WORDS "           401136", "", "cpu/mem-loads/P", 701, 701, 0, 0, IMPORT_ADDR_YES,
	  0x555500003010, 0, 0x229100142, 0, "", "" },
	{ "            :701   701 raw 0x1cd:HG:     555500003010              37     555500001234 [unknown]", ":701", "raw 0x1cd:HG", 701, 701,
	  0, 0, IMPORT_ADDR_YES, 0x555500003010, 0x555500001234, 0, 37, "", "" },
	{ "  701 raw 0x1cd:HG:     555500003010              37", "", "raw 0x1cd:HG", 701, 701, 0, 0, IMPORT_ADDR_YES, 0x555500003010, 0, 0, 37, "", "" },
	{ "  701 raw 0x1cd:HG:     555500003010     555500001234 [unknown] ([unknown])        12345010", "", "raw 0x1cd:HG", 701, 701, 0, 0,
	  IMPORT_ADDR_YES, 0x555500003010, 0x555500001234, 0, 0, "", "" },
	/* weight and instruction, no address: a latency is none */
	{ "  701 cpu/mem-loads/P:               37     555500001234 main (/a)", "", "cpu/mem-loads/P", 701, 701, 0, 0, IMPORT_ADDR_NONE, 0, 0, 0, 0, "", "" },
	/* two addresses: which is which? */
	{ "  701 page-faults:     55bd64b84020     55bd64b81234", "", "page-faults", 701, 701, 0, 0, IMPORT_ADDR_UNSURE, 0, 0, 0, 0, "", "" },
	/* page faults: the address has a symbol of its own */
	{ "               t 17611/17611 47521.157937: page-faults:     7f098510ae06 _rtld_global+0xde6 (/usr/lib/ld-linux.so.2)     7f09850f27ad _dl_start (/usr/lib/ld-linux.so.2)",
	  "t", "page-faults", 17611, 17611, 47521157937000, 0, IMPORT_ADDR_YES, 0x7f098510ae06, 0x7f09850f27ad, 0, 0, "_rtld_global", "/usr/lib/ld-linux.so.2" },
	{ "               t 17611/17611 47521.157866:          1 page-faults:u:     55bd64b84020 __TMC_END__ (/tmp/a (x)/t) ffffffff8175336a elf_load ([kernel.kallsyms])",
	  "t", "page-faults:u", 17611, 17611, 47521157866000, 1, IMPORT_ADDR_YES, 0x55bd64b84020, 0xffffffff8175336a, 0, 0, "__TMC_END__", "/tmp/a (x)/t" },
	{ "               t 17611/17611 47521.157917: page-faults:     7fff896d6c19 [unknown] ([stack])           401136 f(int, char*) (/a b)",
	  "t", "page-faults", 17611, 17611, 47521157917000, 0, IMPORT_ADDR_YES, 0x7fff896d6c19, 0x401136, 0, 0, "", "[stack]" },
	{ "               t 17611/17611 47521.157917: page-faults:     7fff896d6c19 ns::v<int (*)(char)>+0x8 (/a)           401136 f",
	  "t", "page-faults", 17611, 17611, 47521157917000, 0, IMPORT_ADDR_YES, 0x7fff896d6c19, 0x401136, 0, 0, "ns::v<int (*)(char)>", "/a" },
	/* the instruction alone: whose symbol it is cannot be seen */
	{ "               t 17611 47521.157933:          1 page-faults:      7f09850f1b70 _start+0x0 (/usr/lib/ld.so.2)", "t", "page-faults",
	  17611, 17611, 47521157933000, 1, IMPORT_ADDR_MAYBE, 0x7f09850f1b70, 0, 0, 0, "_start", "/usr/lib/ld.so.2" },
	/* and its physical address with the size of a page behind it */
	{ "               t 17611 page-faults:      7f09850f1b70 _start+0x0 (/usr/lib/ld.so.2)         12345010 4K", "t", "page-faults",
	  17611, 17611, 0, 0, IMPORT_ADDR_MAYBE, 0x7f09850f1b70, 0, 0, 0, "_start+0x0 (/usr/lib/ld.so.2)         12345010 4K", "" },
	/* call chains: the name is as long as it is */
	{ "Web Content  2589/2589  48359.651449:          1 page-faults:     5568a2a3a020 __TMC_END__+0x0 (/tmp/t)", "Web Content", "page-faults",
	  2589, 2589, 48359651449000, 1, IMPORT_ADDR_MAYBE, 0x5568a2a3a020, 0, 0, 0, "__TMC_END__", "/tmp/t" },
	{ "a 12/3 b 77/78  5.000000: ev: ", "a 12/3 b", "ev", 77, 78, 5000000000, 0, IMPORT_ADDR_NONE, 0, 0, 0, 0, "", "" },
	/* names with blanks, brackets and numbers in 16 columns */
	{ " Web Con 1/2 [0]   700/701   [001]     2.000000:       1000 ev:     555500003010     555500001234 m (/a)", "Web Con 1/2 [0]", "ev", 700, 701,
	  2000000000, 1000, IMPORT_ADDR_YES, 0x555500003010, 0x555500001234, 0, 0, "", "" },
	{ "        3 4 [5]:   700/701 ev:     555500003010     555500001234 m (/a)", "3 4 [5]:", "ev", 700, 701, 0, 0, IMPORT_ADDR_YES,
	  0x555500003010, 0x555500001234, 0, 0, "", "" },
	/* a number of period in the columns of a name */
	{ "  17611          1 page-faults:     555500003010     555500001234 m (/a)", "", "page-faults", 17611, 17611, 0, 1, IMPORT_ADDR_YES,
	  0x555500003010, 0x555500001234, 0, 0, "", "" },
	/* no address at all, as of a tracepoint; a time that goes back; the end of a line of Windows' */
	{ "               t 17611 [000] 47521.157933: sched:sched_switch: prev_comm=t prev_pid=1 ==> next_comm=x", "t", "sched:sched_switch",
	  17611, 17611, 47521157933000, 0, IMPORT_ADDR_NONE, 0, 0, 0, 0, "", "" },
	{ "               t 17611 -1.500000: ev:     555500003010     555500001234 m (/a)\r", "t", "ev", 17611, 17611, 0, 0, IMPORT_ADDR_YES,
	  0x555500003010, 0x555500001234, 0, 0, "", "" },
	{ "               t    -1/-1    18446744072.999999: ev:                0       229100142 " WORDS "              37     555500001234 m (/a)",
	  "t", "ev", -1, -1, 18446744072999999000u, 0, IMPORT_ADDR_YES, 0, 0x555500001234, 0x229100142, 37, "", "" },
};

static void test_samples(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(samples) / sizeof(samples[0]); i++) {
		const struct sample_case *c = &samples[i];
		struct import_line l = read_line(c->line);

		if (l.what != IMPORT_SAMPLE)
			fail_msg("%s\nis bad at %zu: %s", c->line, l.bad_column, l.bad_why ? l.bad_why : "-");
		is_text(l.comm, c->comm);
		is_text(l.u.sample.event, c->event);
		assert_int_equal(l.pid, c->pid);
		assert_int_equal(l.tid, c->tid);
		assert_int_equal(l.time_ns, c->time_ns);
		assert_int_equal(l.u.sample.period, c->period);
		if ((int)l.u.sample.has_addr != (int)c->has)
			fail_msg("%s\nhas an address: %d, not %d", c->line, l.u.sample.has_addr, c->has);
		assert_int_equal(l.u.sample.addr, c->addr);
		assert_int_equal(l.u.sample.ip, c->ip);
		assert_int_equal(l.u.sample.source, c->source);
		assert_int_equal(l.u.sample.latency, c->latency);
		is_text(l.u.sample.symbol, c->symbol);
		is_text(l.u.sample.file, c->file);
	}
}

#define HEAD "               t 17611/17611 47521.157813: PERF_RECORD_"

static void test_maps(void **state)
{
	struct import_line l = read_line(HEAD "MMAP2 17611/17612: [0x55bd64b81000(0x1000) @ 0x2000 fe:10 11003784 1234233940]: r-xp /tmp/a b (x)");

	(void)state;
	assert_int_equal(l.what, IMPORT_MAP);
	assert_int_equal(l.u.map.pid, 17611);
	assert_int_equal(l.u.map.tid, 17612);
	assert_int_equal(l.u.map.start, 0x55bd64b81000);
	assert_int_equal(l.u.map.end, 0x55bd64b82000);
	assert_int_equal(l.u.map.pgoff, 0x2000);
	assert_true(l.u.map.has_ino);
	assert_int_equal(l.u.map.dev_major, 0xfe);
	assert_int_equal(l.u.map.dev_minor, 0x10);
	assert_int_equal(l.u.map.ino, 11003784);
	assert_string_equal(l.u.map.prot, "r-xp");
	is_text(l.u.map.path, "/tmp/a b (x)");
	l = read_line(HEAD "MMAP2 17611/17611: [0x7fff896b7000(0x21000) @ 0 <00ff10>]: rw-p //anon");
	assert_int_equal(l.what, IMPORT_MAP);
	assert_int_equal(l.u.map.build_id_len, 3);
	assert_memory_equal(l.u.map.build_id, "\x00\xff\x10", 3);
	assert_false(l.u.map.has_ino);
	is_text(l.u.map.path, "//anon");
	l = read_line("         swapper     0/0         0.000000: PERF_RECORD_MMAP -1/0: [0xffffffff81000000(0x1209988) @ 0xffffffff81000000]: x [kernel.kallsyms]_text");
	assert_int_equal(l.what, IMPORT_MAP);
	assert_int_equal(l.u.map.pid, -1);
	assert_string_equal(l.u.map.prot, "x");
	l = read_line(HEAD "MMAP2 17611/17611: [0x7fff896b7000(0) @ 0 00:00 0 0]: rw-p //anon");
	assert_int_equal(l.what, IMPORT_BAD);
	l = read_line(HEAD "MMAP2 17611/17611: [0xfffffffffffff000(0x2000) @ 0 00:00 0 0]: rw-p //anon");
	assert_int_equal(l.what, IMPORT_BAD);
}

static void test_tasks(void **state)
{
	struct import_line l = read_line(HEAD "COMM exec: a:b 1/2:17611/17612");

	(void)state;
	assert_int_equal(l.what, IMPORT_COMM);
	assert_true(l.u.comm.exec);
	is_text(l.u.comm.name, "a:b 1/2");
	assert_int_equal(l.u.comm.tid, 17612);
	l = read_line(HEAD "COMM: x:5/6");
	assert_int_equal(l.what, IMPORT_COMM);
	assert_false(l.u.comm.exec);
	/* no process has a thread 0 */
	assert_int_equal(read_line(HEAD "COMM exec: prog:707/000").what, IMPORT_BAD);
	assert_int_equal(read_line(HEAD "FORK(9:0):(7:8)").what, IMPORT_BAD);
	assert_int_equal(read_line(HEAD "MMAP2 7/-1: [0x1000(0x1000) @ 0 00:00 0 0]: rw-p //anon").what, IMPORT_BAD);
	assert_int_equal(read_line("a 7/0 1.0: PERF_RECORD_LOST lost 3").what, IMPORT_BAD);
	l = read_line(HEAD "FORK(17613:17614):(17611:17612)");
	assert_int_equal(l.what, IMPORT_FORK);
	assert_int_equal(l.u.task.pid, 17613);
	assert_int_equal(l.u.task.tid, 17614);
	assert_int_equal(l.u.task.ppid, 17611);
	assert_int_equal(l.u.task.ptid, 17612);
	assert_int_equal(read_line(HEAD "EXIT(17613:17614):(17611:17612)").what, IMPORT_EXIT);
	l = read_line(HEAD "LOST_SAMPLES lost 12");
	assert_int_equal(l.what, IMPORT_LOST);
	assert_int_equal(l.u.lost, 12);
	assert_int_equal(read_line(HEAD "SWITCH OUT").what, IMPORT_NOTHING);
}

static void test_nothing_and_bad(void **state)
{
	struct import_line l;

	(void)state;
	assert_int_equal(read_line("").what, IMPORT_NOTHING);
	assert_int_equal(read_line("   \r").what, IMPORT_NOTHING);
	assert_int_equal(read_line("# cmdline : perf record").what, IMPORT_NOTHING);
	assert_int_equal(read_line("\t    7f815fcf2ad7 [unknown] ([unknown])").what, IMPORT_FRAME);
	l = read_line("hello world");
	assert_int_equal(l.what, IMPORT_BAD);
	assert_int_equal(l.bad_column, 1);
	/* of all ways to read it the furthest is told: behind the time */
	l = read_line("               t 17611/17611 47521.157813: 5555");
	assert_int_equal(l.what, IMPORT_BAD);
	assert_int_equal(l.bad_column, 48);
	assert_non_null(strstr(l.bad_why, "event"));
	l = read_line(HEAD "FORK(17613:17614)");
	assert_int_equal(l.what, IMPORT_BAD);
	assert_int_equal(l.bad_column, 73);
}

/* ---- whole texts ---- */

enum { MOST = 64 };

static struct {
	struct hvar_event ev[MOST];
	struct stream_access access[MOST];
	char text[MOST][64];
	size_t n_ev, n_access, n_text;
	char note[2048], comm[16];
	uint64_t lost;
	struct hvar_module module;
	uint32_t module_id;
	char path[256];
} got;

static void collect(void *ctx, const struct stream_record *r)
{
	(void)ctx;
	switch (r->type) {
	case STREAM_EVENT:
		assert_true(got.n_ev < MOST);
		memcpy(&got.ev[got.n_ev++], r->data, sizeof(got.ev[0]));
		break;
	case STREAM_ACCESS:
		assert_true(got.n_access < MOST);
		memcpy(&got.access[got.n_access], r->data, sizeof(got.access[0]));
		snprintf(got.text[got.n_access++], sizeof(got.text[0]), "%s", ((const struct stream_access *)r->data)->text);
		break;
	case STREAM_META:
		if (r->len > 5 && !memcmp(r->data, "note=", 5))
			snprintf(got.note, sizeof(got.note), "%.*s", (int)r->len - 5, (const char *)r->data + 5);
		break;
	case STREAM_COMM:
		memcpy(got.comm, ((const struct stream_comm *)r->data)->comm, sizeof(got.comm));
		break;
	case STREAM_LOSS:
		got.lost += ((const struct stream_loss *)r->data)->count;
		break;
	case STREAM_MODULE: {
		const struct stream_module *m = r->data;

		got.module = m->m;
		got.module_id = m->id;
		snprintf(got.path, sizeof(got.path), "%.*s", (int)m->path_len, m->path);
		break;
	}
	default:
		break;
	}
}

static int import(const char *text, size_t len, struct err *e)
{
	char path[] = "/tmp/hotvar-import.XXXXXX";
	int fd = mkstemp(path), err;
	struct import_file f;
	struct stream *s;

	memset(&got, 0, sizeof(got));
	memset(e, 0, sizeof(*e));
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, len), len);
	close(fd);
	assert_int_equal(import_file_open(&f, path, e), 0);
	unlink(path);
	assert_int_equal(f.kind, IMPORT_FILE_TEXT);
	s = stream_to_call(collect, NULL, e);
	assert_non_null(s);
	err = import_text(&f, s, e);
	assert_int_equal(stream_close(s, err ? NULL : e), 0);
	import_file_close(&f);
	return err;
}

static void test_whole(void **state)
{
	static const char text[] =
		"# ========\n"
		"               t   700/700       0.001000: PERF_RECORD_COMM exec: my app:700/700\r\n"
		"          my app   700/700       0.001001: PERF_RECORD_MMAP2 700/700: [0x555500003000(0x1000) @ 0x2000 fe:00 42 0]: rw-p /no/such file\n"
		"          my app   700/700       0.001002: PERF_RECORD_MMAP2 700/700: [0x7f0000000000(0x2000) @ 0 00:00 0 0]: rw-p //anon\n"
		"          my app   700/700       0.001500: PERF_RECORD_FORK(700:701):(700:700)\n"
		"          my app   700/700       0.001600: PERF_RECORD_FORK(800:800):(700:701)\n"
		"          my app   701     2.000000:       1000 cpu/mem-loads/P:     555500003010       229100142 " WORDS "              37     555500001234 [unknown] ([unknown])\n"
		"          my app   800     2.000000:       1000 cpu/mem-stores/P:                0               1 |OP N/A              37     555500001234 x (/a)\n"
		"\n"
		"          my app   800     2.100000:          2 page-faults:     7f0000000010 [unknown] (//anon)     555500001234 x (/a)\n"
		"          my app   800     1.000000:       2000 cpu/mem-stores/P:     7f0000000010     555500001234 x (/a)\n"
		"           other   900     2.200000:         10 page-faults:     7f0000000010 v+0x8 (/lib)     555500001234 x (/a)\n"
		"           other   900     2.300000: PERF_RECORD_LOST lost 5\n"
		"what is this?\n"
		"           other   900     2.400000:         10 branches:     7f0000000010     555500001234 x (/a)\n"
		"           other   900     2.400000:         10 cycles:     555500001234 x (/a)\n"
		"other   900     2.500000:         10 page-faults:     7f0000000020 w (/lib)\n"
		"\t    555500001234 x (/a)\n"
		"\n"
		"          my app   800/800     3.000000: PERF_RECORD_EXIT(800:800):(700:700)";
	struct err e;

	(void)state;
	assert_int_equal(import(text, sizeof(text) - 1, &e), 0);
	/* exec, two maps, a thread, a process, its end */
	assert_int_equal(got.n_ev, 6);
	assert_int_equal(got.ev[0].type, HVAR_EVENT_EXEC);
	assert_int_equal(got.ev[1].type, HVAR_EVENT_MAP);
	assert_int_equal(got.ev[1].u.map.region, HVAR_REGION_FILE);
	assert_int_equal(got.ev[1].module, got.module_id);
	assert_string_equal(got.path, "/no/such file");
	assert_int_equal(got.module.ino, 42);
	assert_int_equal(got.module.build_id_len, 0);
	assert_true(got.module.flags & HVAR_MODULE_UNREAD);
	assert_int_equal(got.ev[2].u.map.region, HVAR_REGION_ANON);
	assert_int_equal(got.ev[2].module, 0);
	assert_int_equal(got.ev[3].u.task.child, 701);
	assert_int_equal(got.ev[3].u.task.child_mm, got.ev[0].mm);
	assert_int_equal(got.ev[4].u.task.child, 800);
	assert_true(got.ev[4].u.task.child_mm != got.ev[0].mm);
	assert_int_equal(got.ev[5].type, HVAR_EVENT_EXIT);
	assert_int_equal(got.ev[5].mm, got.ev[4].u.task.child_mm);

	assert_int_equal(got.n_access, 5);
	/* a thread by its number alone is known to be its process's */
	assert_int_equal(got.access[0].ev.mm, got.ev[0].mm);
	assert_int_equal(got.access[0].ev.pid, 700);
	assert_int_equal(got.access[0].ev.tid, 701);
	assert_int_equal(got.access[0].ev.u.access.addr, 0x555500003010);
	assert_int_equal(got.access[0].ev.u.access.weight, 1000ull << 16);
	assert_int_equal(got.access[0].ev.u.access.flags, HVAR_ACCESS_READ);
	assert_int_equal(got.access[0].latency, 37);
	assert_int_equal(got.access[0].source, 0x229100142);
	assert_int_equal(got.access[0].flags, 0);
	/* page faults say neither read nor write */
	assert_int_equal(got.access[1].ev.mm, got.ev[4].u.task.child_mm);
	assert_int_equal(got.access[1].ev.u.access.flags, 0);
	assert_int_equal(got.access[1].ev.u.access.weight, 2ull << 16);
	/* a time that goes back does not, and a store is one by its event's name */
	assert_int_equal(got.access[2].ev.time_ns, 2100000000);
	assert_int_equal(got.access[2].ev.u.access.flags, HVAR_ACCESS_WRITE);
	/* no map: perf's name */
	assert_int_equal(got.access[3].flags, STREAM_ACCESS_NO_MAP);
	assert_string_equal(got.text[3], "v");
	/* with call chains the address is one if a frame follows */
	assert_int_equal(got.access[4].ev.u.access.addr, 0x7f0000000020);
	assert_string_equal(got.text[4], "w");
	assert_int_equal(got.lost, 5 + 1);
	assert_non_null(strstr(got.note, "1 line was not understood"));
	assert_non_null(strstr(got.note, ":14:1, where a process should be"));
	assert_non_null(strstr(got.note, "1 sample has no address"));
	assert_non_null(strstr(got.note, "(cycles)"));
	assert_non_null(strstr(got.note, "2 samples are of no access of data"));
}

/*
 * Of one record of Arm's SPE perf prints a line for each thing that happened, then "memory" if it was a load or store, then "instructions"
 * (arm-spe.c, arm_spe_sample()).  The sources are what arm_spe__synth_data_source() makes.
 */
#define SPE(time, event, addr, source, words, weight) \
	"            app   701 [001]     " time ":          1 " event ":     " addr "       " source " " words "              " weight "     555500001234 m (/a)\n"
#define LOAD(time, event) SPE(time, event, "555500003010", "288100142", "|OP LOAD|LVL L1 or L1 hit|SNP None|TLB Walker hit|LCK N/A|BLK  N/A", "37")
#define STORE(time, event) SPE(time, event, "ffffc0001000", "1e88080024", "|OP STORE|LVL N/A|SNP N/A|TLB Walker hit|LCK N/A|BLK  N/A", " 5")
#define ADD(time, event) SPE(time, event, "           0", "        1", "|OP N/A|LVL N/A|SNP N/A|TLB N/A|LCK N/A|BLK  N/A", " 3")
#define ADD_OLD(time, event) SPE(time, event, "           0", "        0", "|OP N/A|LVL N/A|SNP N/A|TLB N/A|LCK N/A|BLK  N/A", " 3")

static void test_spe(void **state)
{
	static const char all[] = /* with the usual --itrace */
		ADD("1.999999", "instructions") LOAD("2.000000", "l1d-access") LOAD("2.000000", "tlb-access") LOAD("2.000000", "memory")
		LOAD("2.000000", "instructions") SPE("2.000001", "branch", "555500001400", "        0", "|OP N/A", " 0") ADD("2.000001", "instructions")
		STORE("2.000002", "memory") STORE("2.000002", "instructions") ADD_OLD("2.000003", "instructions");
	static const char only[] = /* --itrace=i1i */
		ADD("2.000000", "instructions") LOAD("2.000001", "instructions") ADD_OLD("2.000002", "instructions") STORE("2.000003", "instructions");
	static const char sourceless[] =
		"            app   701 [001]     2.000000:          1     memory:     555500003010     555500001234 m (/a)\n";
	static const char neither[] = LOAD("2.000000", "l1d-access") LOAD("2.000000", "tlb-miss");
	struct err e;

	(void)state;
	assert_int_equal(import(all, sizeof(all) - 1, &e), 0);
	assert_int_equal(got.n_access, 2);
	assert_int_equal(got.access[0].latency, 37);
	assert_int_equal(got.access[0].ev.u.access.flags, HVAR_ACCESS_READ);
	assert_int_equal(got.access[0].ev.u.access.addr, 0x555500003010);
	assert_int_equal(got.access[0].ev.u.access.ip, 0x555500001234);
	assert_int_equal(got.access[1].ev.u.access.addr, 0xffffc0001000);
	assert_int_equal(got.access[1].ev.u.access.flags, HVAR_ACCESS_WRITE);
	assert_int_equal(got.access[1].latency, 5);
	assert_non_null(strstr(got.note, "8 samples are of no access of data"));
	assert_int_equal(import(only, sizeof(only) - 1, &e), 0);
	assert_int_equal(got.n_access, 2);
	assert_int_equal(got.access[0].ev.u.access.flags, HVAR_ACCESS_READ);
	assert_int_equal(got.access[1].ev.u.access.flags, HVAR_ACCESS_WRITE);
	assert_int_equal(import(sourceless, sizeof(sourceless) - 1, &e), 0);
	assert_int_equal(got.n_access, 1);
	assert_non_null(strstr(got.note, "+data_src,+weight"));
	assert_int_equal(import(neither, sizeof(neither) - 1, &e), -ENODATA);
	assert_non_null(strstr(e.text, "--itrace=M"));
}

/* Of a program that is about to begin the kernel tells where its stack is before it is put where it stays: that is passed over. */
static void test_first_stack(void **state)
{
	static const char *const at[] = { "0x7fffffffd000(0x2000)", "0xffffffffd000(0x3000)", "0x7fffffd000(0x3000)", "0xffffffffc000(0x3000)" };
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(at) / sizeof(at[0]); i++) {
		char text[512];
		struct err e;

		snprintf(text, sizeof(text),
			 "            app   700/700       0.000900: PERF_RECORD_COMM exec: app:700/700\n"
			 "            app   700/700       0.001000: PERF_RECORD_MMAP2 700/700: [%s @ 0 00:00 0 0]: rw-p //anon\n"
			 "            app   700/700       0.001000: PERF_RECORD_MMAP2 700/700: [0x7000(0x1000) @ 0 00:00 0 0]: rw-p //anon\n"
			 LOAD("2.000000", "memory"), at[i]);
		assert_int_equal(import(text, strlen(text), &e), 0);
		assert_int_equal(got.n_ev, 1 + (i == 3 ? 2 : 1)); /* the last ends elsewhere */
	}
}

static void test_refused(void **state)
{
	static const char ip[] = "               t 17611 47521.157933:          1 page-faults:      7f09850f1b70 _start+0x0 (/ld.so.2)\n";
	static const char two[] = "  701 page-faults:     55bd64b84020     55bd64b81234\n";
	/* perf record -e instructions -d, where there is no SPE: addresses are asked for, and the processor tells none */
	static const char zero[] = "# of x86\n            prog     700/700     [003]  2.000000:          1     instructions:u:                0           210250 w\n"
				   "            prog     700/700     [003]  2.000001:          1     instructions:u:                0           210250 w\n";
	static const char branches[] = "            prog     700/700     [003]  2.000000:          1     branches:u:           210250           210260 w (/a)\n";
	struct err e;

	(void)state;
	assert_int_equal(import(zero, sizeof(zero) - 1, &e), -ENODATA);
	assert_int_equal(got.n_access, 0);
	assert_non_null(strstr(e.text, ":2:"));
	assert_non_null(strstr(e.text, "instructions:u has no address of data"));
	assert_non_null(strstr(e.text, "perf mem record"));
	assert_int_equal(import(branches, sizeof(branches) - 1, &e), -ENODATA);
	assert_non_null(strstr(e.text, "branches:u has no address of data"));
	assert_int_equal(import(ip, sizeof(ip) - 1, &e), -ENODATA);
	assert_non_null(strstr(e.text, ":1:"));
	assert_non_null(strstr(e.text, "perf script -F +pid,+addr"));
	assert_int_equal(got.n_access, 0);
	assert_int_equal(import(two, sizeof(two) - 1, &e), -ENODATA);
	assert_non_null(strstr(e.text, "without the field sym"));
}

/* Of text that is cut off anywhere, what was whole is read as it is in all of it. */
static void test_cut(void **state)
{
	static const char line[] = "          my app   700/701     2.000000:       1000 ev:     555500003010     555500001234 m (/a)\n";
	char text[3 * sizeof(line)];
	struct err e;
	size_t n, at;

	(void)state;
	n = (size_t)snprintf(text, sizeof(text), "%s%s%s", line, line, line);
	for (at = sizeof(line) - 1; at <= n; at++) {
		assert_int_equal(import(text, at, &e), 0);
		assert_true(got.n_access >= at / (sizeof(line) - 1));
		assert_true(got.n_access <= at / (sizeof(line) - 1) + 1);
		assert_int_equal(got.access[0].ev.u.access.addr, 0x555500003010);
	}
}

/* Lines that are longer than any are left out and counted, the next one is read. */
static void test_long(void **state)
{
	static const char line[] = "          my app   700/701     2.000000:       1000 ev:     555500003010     555500001234 m (/a)\n";
	size_t n = sizeof(line) - 1, many = 300000;
	char *text = malloc(2 * n + many + 1);
	struct err e;

	(void)state;
	memcpy(text, line, n);
	memset(text + n, 'a', many);
	text[n + many] = '\n';
	memcpy(text + n + many + 1, line, n);
	assert_int_equal(import(text, 2 * n + many + 1, &e), 0);
	assert_int_equal(got.n_access, 2);
	assert_int_equal(got.lost, 1);
	assert_non_null(strstr(got.note, "1 line is too long"));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_samples), cmocka_unit_test(test_maps), cmocka_unit_test(test_tasks),
		cmocka_unit_test(test_nothing_and_bad), cmocka_unit_test(test_whole), cmocka_unit_test(test_spe), cmocka_unit_test(test_first_stack), cmocka_unit_test(test_refused),
		cmocka_unit_test(test_cut), cmocka_unit_test(test_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
