// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "perf_calls.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/core/hvar_call_abi.h"

#define X32_BIT 0x40000000u /* __X32_SYSCALL_BIT */
#define MAX_NUMBERS 64
#define MAX_ALL (3 * MAX_NUMBERS + 6)
#define DONTNEED_LOCKED 24 /* MADV_DONTNEED_LOCKED of Linux 5.18 */
#define DONTUNMAP 4	   /* MREMAP_DONTUNMAP of Linux 5.7 */

static const char *const roots[] = { "/sys/kernel/tracing", "/sys/kernel/debug/tracing" };

/* Of a file of the tracepoint's into @text; 0 or -errno. */
static int read_file(const char *root, const char *name, char *text, size_t size)
{
	char path[128];
	size_t n;
	FILE *f;

	snprintf(path, sizeof(path), "%s/events/raw_syscalls/sys_exit/%s", root, name);
	f = fopen(path, "re");
	if (!f)
		return -errno;
	n = fread(text, 1, size - 1, f);
	text[n] = '\0';
	fclose(f);
	return n ? 0 : -EIO;
}

/* Who may read tracefs may still not have what it tells of. */
static bool is_refused(long id)
{
	struct perf_event_attr a = { .size = sizeof(a), .type = PERF_TYPE_TRACEPOINT, .config = (uint64_t)id, .sample_period = 1,
				     .sample_type = PERF_SAMPLE_RAW, .disabled = 1 };
	int fd = (int)syscall(SYS_perf_event_open, &a, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd >= 0)
		close(fd);
	return fd < 0 && (errno == EACCES || errno == EPERM);
}

long perf_calls_id(struct err *e)
{
	char text[2048];
	int r = -ENOENT, first = 0;

	for (size_t i = 0; i < sizeof(roots) / sizeof(roots[0]); i++) {
		long id = 0;

		r = read_file(roots[i], "format", text, sizeof(text));
		/* The data as perf_record.c takes it apart: "field:long id;	offset:8;	size:8;" */
		if (!r && (!strstr(text, "field:long id;\toffset:8;\tsize:8;") ||
			   !strstr(text, "field:long ret;\toffset:16;\tsize:8;")))
			r = -EPROTO;
		if (!r)
			r = read_file(roots[i], "id", text, sizeof(text));
		if (!r && sscanf(text, "%ld", &id) == 1 && id > 0) {
			if (!geteuid() || !is_refused(id))
				return id;
			r = -EACCES;
		}
		if (r && (!first || r == -EACCES))
			first = r;
	}
	r = first ? first : -EIO;
	if (r == -EACCES || r == -EPERM || (r == -ENOENT && geteuid()))
		return err_set(e, -r, "the tracepoint of system calls: it is for root; run hotvar as root");
	if (r == -ENOENT)
		return err_set(e, -r, "the tracepoint of system calls: tracefs is not mounted, or the kernel has none; run: mount -t tracefs tracefs /sys/kernel/tracing");
	return err_set(e, -r, "the tracepoint of system calls: %s; use --source ptrace", strerror(-r));
}

/*
 * What perf tells of as a mapping (mmap, mprotect, shmat) need not be told twice; a mapping that failed after it had cleared
 * its place is found by looking.
 */
static bool is_news(uint32_t cause)
{
	switch (cause) {
	case HVAR_CAUSE_MUNMAP:
	case HVAR_CAUSE_MREMAP:
	case HVAR_CAUSE_BRK:
	case HVAR_CAUSE_SHMDT:
	case HVAR_CAUSE_VFORK: /* does a child share its maker's memory? */
	case HVAR_CAUSE_CLONE:
	case HVAR_CAUSE_CLONE3:
		return true;
	}
	return false;
}

static int by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

struct text {
	char v[4096];
	size_t n;
};

__attribute__((format(printf, 2, 3))) static void add(struct text *t, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(t->v + t->n, sizeof(t->v) - t->n, fmt, ap);
	va_end(ap);
	if (n > 0)
		t->n += (size_t)n < sizeof(t->v) - t->n ? (size_t)n : sizeof(t->v) - t->n - 1;
}

/*
 * Every system call of the program is asked, and most are none of these: halves of halves, so that a few comparisons
 * decide.  The depth is that of a sorted list of MAX_NUMBERS, halved.
 */
static void halve(struct text *t, const uint32_t *nr, size_t n)
{
	size_t half = n / 2;

	if (n <= 2) {
		add(t, n == 2 ? "(id==%u||id==%u)" : "id==%u", nr[0], nr[n - 1]);
		return;
	}
	add(t, "((id<%u&&", nr[half]);
	halve(t, nr, half);
	add(t, ")||(id>=%u&&", nr[half]);
	halve(t, nr + half, n - half);
	add(t, "))");
}

/* The numbers of all ABIs that are news, sorted, each once; returns how many. */
static size_t numbers(uint32_t out[MAX_ALL], bool pages)
{
	/* madvise and mmap of x86-64, x32 and i386; i386's other mmap, 90, has its arguments in memory */
	static const uint32_t of_pages[] = { 28, 28 | X32_BIT, 219, 9, 9 | X32_BIT, 192 };
	uint32_t nr[MAX_NUMBERS];
	size_t all = 0, n = 0;

	for (size_t i = 0; pages && i < sizeof(of_pages) / sizeof(of_pages[0]); i++)
		out[all++] = of_pages[i];
	for (int abi = HVAR_ABI_X86_64; abi <= HVAR_ABI_X32; abi++) {
		uint32_t some = hvar_call_numbers((enum hvar_abi)abi, nr, MAX_NUMBERS);

		for (uint32_t i = 0; i < some && i < MAX_NUMBERS; i++) {
			uint32_t cause = hvar_call_cause((enum hvar_abi)abi, nr[i]);
			/* recvfrom is what a 64-bit program calls by i386's brk; ipc() of i386 may be shmdt */
			bool busy = abi == HVAR_ABI_I386 && nr[i] == 45;
			bool ipc = abi == HVAR_ABI_I386 && nr[i] == 117;

			if (!busy && (ipc || is_news(cause)))
				out[all++] = nr[i];
		}
	}
	qsort(out, all, sizeof(*out), by_number);
	for (size_t i = 0; i < all; i++)
		if (!n || out[n - 1] != out[i])
			out[n++] = out[i];
	return n;
}

const char *perf_calls_filter(bool pages)
{
	static struct text texts[2];
	struct text *text = &texts[pages];
	uint32_t nr[MAX_ALL];

	if (!text->n)
		halve(text, nr, numbers(nr, pages));
	return text->v;
}

static bool gives_back(const struct hvar_call *c)
{
	if (c->args[0] & HVAR_PAGE_MASK)
		return false;
	switch (c->args[2]) {
	case MADV_DONTNEED:
	case DONTNEED_LOCKED:
	case MADV_REMOVE:
		/* What is not mapped in between keeps nothing else from it. */
		return !c->ret || c->ret == -ENOMEM;
	}
	return false; /* MADV_FREE gives back what the kernel will want, and when it does */
}

/* The place was free, or what was there has made room: whatever was touched in it has gone. */
static bool maps_anew(const struct hvar_call *c)
{
	return c->ret > 0 && !(c->ret & HVAR_PAGE_MASK);
}

static bool moves(const struct hvar_call *c, bool told)
{
	return !HVAR_CALL_FAILED(c->ret) && c->args[0] != (uint64_t)c->ret && c->args[1] && (!told || c->args[3] & DONTUNMAP);
}

bool perf_calls_touched(const struct hvar_call *c, bool told, struct stream_touched *out)
{
	uint64_t len = HVAR_PAGE_UP(c->args[1]), new = HVAR_PAGE_UP(c->args[2]);

	memset(out, 0, sizeof(*out));
	if (c->cause == HVAR_CAUSE_MADVISE && gives_back(c)) {
		out->what = STREAM_TOUCHED_BACK;
		out->start = c->args[0];
	} else if (c->cause == HVAR_CAUSE_MMAP && maps_anew(c)) {
		out->what = STREAM_TOUCHED_BACK;
		out->start = (uint64_t)c->ret;
	} else if (c->cause == HVAR_CAUSE_MREMAP && moves(c, told)) {
		out->what = STREAM_TOUCHED_MOVED;
		out->start = HVAR_PAGE_DOWN((uint64_t)c->ret);
		out->from = HVAR_PAGE_DOWN(c->args[0]);
		len = new < len ? new : len;
	}
	out->end = out->start + len;
	return out->what && out->start < out->end && out->from + len > out->from;
}

bool perf_calls_fill(const struct perf_record *r, struct hvar_call *out)
{
	const uint64_t *regs = r->u.call.regs;
	uint64_t args[6] = { regs[STREAM_RDI], regs[STREAM_RSI], regs[STREAM_RDX],
			     regs[STREAM_R10], regs[STREAM_R8], regs[STREAM_R9] };
	enum hvar_abi abi = HVAR_ABI_X86_64;

	memset(out, 0, sizeof(*out));
	if (r->u.call.flags & HVAR_SAMPLE_NOREGS)
		return false;
	if (r->u.call.flags & HVAR_SAMPLE_ABI32) {
		const uint64_t narrow[6] = { regs[STREAM_RBX], regs[STREAM_RCX], regs[STREAM_RDX],
					     regs[STREAM_RSI], regs[STREAM_RDI], regs[STREAM_RBP] };

		abi = HVAR_ABI_I386;
		memcpy(args, narrow, sizeof(args));
	} else if (r->u.call.nr & X32_BIT) {
		abi = HVAR_ABI_X32;
	}
	hvar_call_fill(out, abi, r->u.call.nr, args, r->what == PERF_IS_CALL ? r->u.call.ret : 0, NULL, 0);
	return is_news(out->cause);
}
