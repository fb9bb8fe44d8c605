// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_follow - what a report's thread makes of a queue, and of the recording it wrote meanwhile, is the same.
 *
 * The stream tells of this very program: its mappings as /proc/self/maps has them, accesses
 * to a variable of its own and samples in a function of its own.  Symbols and code
 * come from its file, which the recording must carry from then on.
 */
#include "config.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cmocka.h>

#include "runtime/core/hvar_vmas.h"
#include "runtime/report/analysis.h"
#include "runtime/report/follow.h"
#include "runtime/report/rows.h"
#include "runtime/user/stream.h"

enum { SAMPLES = 300 };

long follow_watched[64];

/* long follow_sum(const long *from, long n), with a name for the loop: samples there prove where it reads. */
__asm__(".text\n"
	".type follow_sum, @function\n"
	"follow_sum:\n"
	"	xorl %eax, %eax\n"
	".hidden follow_loop\n"
	".globl follow_loop\n"
	"follow_loop:\n"
	"	addq (%rdi), %rax\n"
	"	addq $8, %rdi\n"
	"	decq %rsi\n"
	"	jnz follow_loop\n"
	"	ret\n"
	".size follow_sum, . - follow_sum\n");
extern const char follow_loop[];

static char dir[] = "/tmp/test_follow.XXXXXX";

static const char *path_of(const char *name)
{
	static char path[256];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

/* The module record of @path, and MAP events of its mappings in this process, to @s. */
static void put_program(struct stream *s, const char *path)
{
	struct stream_module m = { .id = 1, .path_len = (uint32_t)strlen(path) };
	char line[4096];
	struct stat st;
	FILE *f = fopen("/proc/self/maps", "r");
	unsigned maps = 0;

	assert_non_null(f);
	assert_int_equal(stat("/proc/self/exe", &st), 0);
	m.m.dev_major = major(st.st_dev);
	m.m.dev_minor = minor(st.st_dev);
	m.m.ino = st.st_ino;
	m.m.size = (uint64_t)st.st_size;
	m.m.mtime_ns = (uint64_t)st.st_mtim.tv_sec * 1000000000u + (uint64_t)st.st_mtim.tv_nsec;
	m.m.flags = HVAR_MODULE_ELF;
	assert_int_equal(stream_put(s, STREAM_MODULE, &m, sizeof(m), path, m.path_len), 0);
	/* 55d0c0ffe000-55d0c0fff000 r-xp 00001000 08:01 1234    /usr/bin/app */
	while (fgets(line, sizeof(line), f)) {
		struct hvar_event ev = { .time_ns = 1, .type = HVAR_EVENT_INITIAL, .mm = 1, .pid = 7, .tid = 7 };
		uint64_t ino;
		char prot[8];

		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*x:%*x %" SCNu64,
			   &ev.u.map.start, &ev.u.map.end, prot, &ev.u.map.pgoff, &ino) != 5)
			continue;
		if (ino && ino != st.st_ino)
			continue;
		ev.module = ino ? 1 : 0;
		ev.u.map.region = ino ? HVAR_REGION_FILE : HVAR_REGION_ANON;
		ev.u.map.prot = (uint8_t)((prot[0] == 'r' ? HVAR_PROT_READ : 0) |
					  (prot[1] == 'w' ? HVAR_PROT_WRITE : 0) |
					  (prot[2] == 'x' ? HVAR_PROT_EXEC : 0));
		assert_int_equal(stream_put_event(s, &ev), 0);
		maps++;
	}
	fclose(f);
	assert_true(maps >= 2);
}

static void put_samples(struct stream *s)
{
	struct stream_end end = { .elapsed_ns = 1000000000, .wait_status = 0 };
	unsigned i;

	for (i = 0; i < SAMPLES; i++) {
		struct stream_sample sam = { .ev = { .time_ns = 1000 + i, .type = HVAR_EVENT_SAMPLE,
						     .mm = 1, .pid = 7, .tid = 7 } };

		sam.ev.u.sample.ip = (uintptr_t)follow_loop;
		sam.ev.u.sample.period_ns = 1000000;
		sam.regs[STREAM_RIP] = sam.ev.u.sample.ip;
		sam.regs[STREAM_RDI] = (uintptr_t)follow_watched;
		sam.regs[STREAM_RSI] = 64;
		sam.regs[STREAM_RSP] = (uintptr_t)&sam;
		assert_int_equal(stream_put(s, STREAM_SAMPLE, &sam, sizeof(sam), NULL, 0), 0);
		if (i % 10 == 0)
			stream_flush(s);
	}
	assert_int_equal(stream_put(s, STREAM_END, &end, sizeof(end), NULL, 0), 0);
}

static void put_accesses(struct stream *s)
{
	struct stream_end end = { .elapsed_ns = 1000000000, .wait_status = 0 };
	unsigned i;

	for (i = 0; i < SAMPLES; i++) {
		struct hvar_event ev = { .time_ns = 1000 + i, .type = HVAR_EVENT_ACCESS, .mm = 1, .pid = 7, .tid = 7 };

		ev.u.access.addr = (uintptr_t)&follow_watched[i % 64];
		ev.u.access.weight = 65536;
		ev.u.access.flags = HVAR_ACCESS_READ;
		assert_int_equal(stream_put_event(s, &ev), 0);
	}
	assert_int_equal(stream_put(s, STREAM_END, &end, sizeof(end), NULL, 0), 0);
}

static const struct row *find(const struct rows *r, const char *name)
{
	size_t i;

	for (i = 0; i < r->n; i++)
		if (!strcmp(r->v[i].var.name, name))
			return &r->v[i];
	return NULL;
}

static void same_rows(struct rows *a, struct rows *b)
{
	size_t i;

	assert_int_equal(a->n, b->n);
	assert_int_equal(a->samples, b->samples);
	assert_int_equal(a->attributed, b->attributed);
	for (i = 0; i < a->n; i++) {
		assert_string_equal(a->v[i].var.name, b->v[i].var.name);
		assert_int_equal(a->v[i].var.size, b->v[i].var.size);
		assert_true(a->v[i].share == b->v[i].share);
		assert_true(a->v[i].samples == b->v[i].samples);
		assert_true(a->v[i].accesses == b->v[i].accesses);
	}
}

static unsigned count_records(const char *path, enum stream_type type)
{
	struct stream_record rec;
	struct err e;
	struct stream_reader *r = stream_reader_of_file(path, &e);
	unsigned n = 0;

	assert_non_null(r);
	while (stream_next(r, &rec) > 0)
		n += rec.type == type;
	stream_reader_free(r);
	return n;
}

static void queue_and_recording(void (*put)(struct stream *s), const char *name)
{
	struct analysis_options live = { .live = true }, later = { .live = false };
	struct rows_options o = { 0 };
	struct rows first, second;
	struct err e;
	struct analysis *a = analysis_new(&live, &e), *b = analysis_new(&later, &e);
	struct stream *queue = stream_to_queue(&e), *file;
	struct stream_reader *reader;
	char program[256];
	struct follow *f;
	const struct row *row;

	snprintf(program, sizeof(program), "%s", path_of("program"));
	unlink(program);
	assert_int_equal(symlink("/proc/self/exe", program), 0);
	file = stream_to_file(path_of(name), &e);
	assert_non_null(a);
	assert_non_null(b);
	assert_non_null(queue);
	assert_non_null(file);
	f = follow_start(queue, a, file, &e);
	assert_non_null(f);
	put_program(queue, program);
	put(queue);
	assert_int_equal(stream_close(queue, &e), 0);
	follow_join(f);
	assert_int_equal(stream_close(file, &e), 0);
	assert_int_equal(rows_make(&first, a, &o, &e), 0);
	row = find(&first, "follow_watched");
	assert_non_null(row);
	assert_int_equal(row->var.size, sizeof(follow_watched));
	assert_true(row->share > 0.5);

	/* With the program gone. */
	unlink(program);
	reader = stream_reader_of_file(path_of(name), &e);
	assert_non_null(reader);
	analysis_read(b, reader);
	stream_reader_free(reader);
	assert_null(analysis_why(b));
	assert_int_equal(rows_make(&second, b, &o, &e), 0);
	same_rows(&first, &second);
	assert_int_equal(count_records(path_of(name), STREAM_IMAGE), 1);
	rows_fini(&first);
	rows_fini(&second);
	analysis_free(a);
	analysis_free(b);
}

static void sampled(void **state)
{
	(void)state;
	queue_and_recording(put_samples, "sampled.rec");
	assert_true(count_records(path_of("sampled.rec"), STREAM_CODE) >= 1);
}

static void counted(void **state)
{
	(void)state;
	queue_and_recording(put_accesses, "counted.rec");
}

static int make_dir(void **state)
{
	(void)state;
	/* The images' cache is not what is tested here. */
	if (!mkdtemp(dir) || setenv("XDG_CACHE_HOME", dir, 1))
		return -1;
	return 0;
}

static int remove_dir(void **state)
{
	char command[300];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf '%s'", dir);
	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sampled),
		cmocka_unit_test(counted),
	};

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
