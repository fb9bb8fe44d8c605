// SPDX-License-Identifier: GPL-2.0-or-later
#include "hvt_identity.h"

#include "pub_tool_vki.h"
#include "pub_tool_vkiscnums.h"

#include "hvt_sys.h"

/* The kernel's map, read from its begin: one line each, of which the first fields are
 *
 *	7f2a4c000000-7f2a4c001000 rw-s 00003000 00:01 1029   /dev/zero (deleted)
 */
static struct reader {
	long fd, n, at; /* bytes in text, and how many of them were taken */
	HChar text[4096];
} map;

/* So many bytes are read in all, a second's worth: a program may have very many areas, and make ever more. */
#define MOST_READ (16L << 20)
static long n_read;

/* The next byte; 0: there is none. */
static HChar next(void)
{
	if (map.at == map.n) {
		map.at = 0;
		map.n = hvt_sys(__NR_read, map.fd, (long)map.text, sizeof(map.text), 0, 0, 0);
	}
	if (map.n <= 0) {
		map.n = 0;
		return 0;
	}
	n_read += map.at ? 0 : map.n;
	return map.text[map.at++];
}

/* A number, and what ends it. */
static ULong number(UInt base, HChar *end)
{
	ULong n = 0;

	for (;;) {
		HChar c = next();
		UInt digit = c >= '0' && c <= '9' ? (UInt)(c - '0') : c >= 'a' && c <= 'f' ? (UInt)(c - 'a') + 10 : 16;

		if (digit >= base) {
			*end = c;
			return n;
		}
		n = n * base + digit;
	}
}

/* As the kernel's stat() has device numbers, which have them in two pieces each. */
static ULong device(ULong major, ULong minor)
{
	return (minor & 0xff) | (major & 0xfff) << 8 | (minor & ~(ULong)0xff) << 12 | (major & ~(ULong)0xfff) << 32;
}

static Bool find(Addr at, struct hvt_identity *out)
{
	HChar c = '\n';

	while (c) {
		ULong from = number(16, &c), to = number(16, &c), major;

		while (c && (c = next()) != ' ') /* rw-s */
			out->shared = c == 's';
		out->pgoff = number(16, &c) + (at - from);
		major = number(16, &c);
		out->dev = device(major, number(16, &c));
		out->ino = number(10, &c);
		if (c && at >= from && at < to)
			return True;
		while (c && c != '\n')
			c = next();
	}
	return False;
}

Bool hvt_identity_of(Addr at, struct hvt_identity *out)
{
	Bool found;

	if (n_read >= MOST_READ)
		return False;
	/* The process's own is empty once its first thread has ended; that of a thread is not before Linux 3.17. */
	map.fd = hvt_sys(__NR_open, (long)"/proc/thread-self/maps", VKI_O_RDONLY, 0, 0, 0, 0);
	if (map.fd < 0)
		map.fd = hvt_sys(__NR_open, (long)"/proc/self/maps", VKI_O_RDONLY, 0, 0, 0, 0);
	map.n = map.at = 0;
	if (map.fd < 0)
		return False;
	found = find(at, out);
	hvt_sys(__NR_close, map.fd, 0, 0, 0, 0, 0);
	return found;
}
