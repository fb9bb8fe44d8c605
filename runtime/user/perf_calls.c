// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "perf_calls.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define X32_BIT 0x40000000u /* __X32_SYSCALL_BIT */
#define MAX_NUMBERS 64

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
		if (!r && sscanf(text, "%ld", &id) == 1 && id > 0)
			return id;
		if (r && (!first || r == -EACCES))
			first = r;
	}
	r = first ? first : -EIO;
	if (r == -EACCES || r == -EPERM)
		return err_set(e, -r, "the tracepoint of system calls: tracefs is for root; run hotvar as root");
	if (r == -ENOENT)
		return err_set(e, -r, "the tracepoint of system calls: tracefs is not mounted, or the kernel has none; run: mount -t tracefs tracefs /sys/kernel/tracing");
	return err_set(e, -r, "the tracepoint of system calls: %s; use --source ptrace", strerror(-r));
}

/* Those that perf itself tells of, or that change no map. */
static bool is_news(uint32_t cause)
{
	switch (cause) {
	case HVAR_CAUSE_MMAP:
	case HVAR_CAUSE_MUNMAP:
	case HVAR_CAUSE_MREMAP:
	case HVAR_CAUSE_MPROTECT:
	case HVAR_CAUSE_PKEY_MPROTECT:
	case HVAR_CAUSE_BRK:
	case HVAR_CAUSE_SHMDT:
	case HVAR_CAUSE_SHMAT: /* ipc() of i386 may be either */
	case HVAR_CAUSE_VFORK: /* does a child share its maker's memory? */
	case HVAR_CAUSE_CLONE:
	case HVAR_CAUSE_CLONE3:
		return true;
	}
	return false;
}

const char *perf_calls_filter(void)
{
	static char text[4096];
	uint32_t nr[MAX_NUMBERS];
	size_t at = 0;

	if (text[0])
		return text;
	for (int abi = HVAR_ABI_X86_64; abi <= HVAR_ABI_X32; abi++) {
		uint32_t n = hvar_call_numbers((enum hvar_abi)abi, nr, MAX_NUMBERS);

		for (uint32_t i = 0; i < n && i < MAX_NUMBERS; i++) {
			/* recvfrom, openat and their like: as 64-bit programs call them */
			bool busy = abi == HVAR_ABI_I386 && (nr[i] == 45 || nr[i] == 257);

			if (!busy && is_news(hvar_call_cause((enum hvar_abi)abi, nr[i])))
				at += (size_t)snprintf(text + at, sizeof(text) - at, "%sid==%u",
						       at ? "||" : "", nr[i]);
		}
	}
	return text;
}

bool perf_calls_fill(const struct perf_record *r, struct hvar_call *out)
{
	const uint64_t *regs = r->u.call.regs;
	uint64_t args[6] = { regs[STREAM_RDI], regs[STREAM_RSI], regs[STREAM_RDX],
			     regs[STREAM_R10], regs[STREAM_R8], regs[STREAM_R9] };
	enum hvar_abi abi = HVAR_ABI_X86_64;

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
	memset(out, 0, sizeof(*out));
	hvar_call_fill(out, abi, r->u.call.nr, args, r->u.call.ret, NULL, 0);
	return is_news(out->cause);
}
