// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * pages_key.c - a key as it is written.
 *
 *	fe:00:1234+0x3000	a file's or shm's: device, inode, offset
 *	sysv:4026531839:3+0x0	a SysV segment's: IPC namespace, number, offset
 *	mm:7@0x55d0c0ffe000	private: address space, address
 *	mm:7@0x55d0c0ffe000?	shared, but with whom is not known
 */
#include "config.h"

#include "pages.h"

#include <inttypes.h>

void pages_key(const struct hvar_key *key, char *out, size_t size)
{
	if (key->dev >> 62 == 1)
		snprintf(out, size, "sysv:%" PRIu64 ":%" PRIu64 "+0x%" PRIx64, key->dev & UINT32_MAX, key->object,
			 key->where);
	else if (!(key->dev >> 63))
		snprintf(out, size, "%02" PRIx64 ":%02" PRIx64 ":%" PRIu64 "+0x%" PRIx64, key->dev >> 32,
			 key->dev & UINT32_MAX, key->object, key->where);
	else
		snprintf(out, size, "mm:%" PRIu64 "@0x%" PRIx64 "%s", key->object, key->where,
			 hvar_key_private(key) ? "" : "?");
}
