/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stream_frame.h - how records lie in a stream of bytes.
 *
 *	file   = file head, record ...
 *	record = head (16 bytes), payload, zeros up to a multiple of 8
 *
 * Everything is of the writing machine's byte order, which the file head tells.
 * Both checksums are zlib's crc32().  That of a head is seeded with the number
 * of the record, so a record left out, doubled or moved is noticed like a
 * flipped bit.  A queue in memory has the records only, without checksums.  In a file a
 * payload may be packed: see stream_pack.h.
 */
#ifndef STREAM_FRAME_H
#define STREAM_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stream.h"

#define STREAM_MAGIC	  "HOTVAR\r\n" /* a transfer as text breaks it */
#define STREAM_BYTE_ORDER 0x01020304u

struct stream_file_head {
	char magic[8];
	uint32_t byte_order; /* STREAM_BYTE_ORDER */
	uint32_t version;    /* STREAM_VERSION */
	uint32_t size;	     /* of this head; records begin there */
	uint32_t zero[2];
	uint32_t crc;	     /* of what is before */
};

struct stream_head {
	uint32_t type;	   /* enum stream_type, STREAM_PACKED */
	uint32_t len;	   /* of the payload, bytes */
	uint32_t data_crc; /* of the payload and the zeros after it */
	uint32_t head_crc; /* of the record's number (from 0) and what is before */
};

/* Bytes of a record with @len bytes of payload. */
size_t stream_record_size(uint32_t len);

uint32_t stream_data_crc(const void *data, size_t n);
uint32_t stream_head_crc(const struct stream_head *h, uint64_t number);

void stream_file_head_fill(struct stream_file_head *h);

/* The longest payload a record of @type may have; 0 for an unknown type. */
uint32_t stream_max_len(uint32_t type);

/* Is this payload (8-aligned) one that a reader of the stream may rely on? */
bool stream_well_formed(uint32_t type, const void *data, uint32_t len);

#endif /* STREAM_FRAME_H */
