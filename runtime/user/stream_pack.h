/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stream_pack.h - payloads of a recording made smaller: symbol images and code.
 *
 *	packed payload = uint64_t bytes of the plain one, then zlib's format of it (RFC 1950)
 *
 * The head of a record with one has STREAM_PACKED in its type, and the packed
 * length and checksum: both are known to be right before anything is unpacked.
 */
#ifndef STREAM_PACK_H
#define STREAM_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STREAM_PACKED 0x80000000u

/* Are records of @type ever packed? */
bool stream_may_pack(uint32_t type);

/*
 * Pack the @len bytes at @data in place.  Returns the length they have then; 0, with
 * nothing changed, if that would be no gain to speak of, or there is no memory.
 */
size_t stream_pack(void *data, size_t len);

/*
 * Unpack @len bytes at @data, which become at most @max, into *@buf of *@cap bytes, which
 * grows (malloc'd, the caller's) with what comes out and not with what is promised.
 * Returns the plain length; 0: broken; -ENOMEM.
 */
long stream_unpack(const void *data, size_t len, size_t max, char **buf, size_t *cap);

#endif /* STREAM_PACK_H */
