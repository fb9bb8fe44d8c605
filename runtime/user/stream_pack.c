// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "stream_pack.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "stream.h"

enum {
	LEAST = 512,	   /* shorter payloads are not worth it */
	FIRST_CAP = 64 << 10,
	FASTEST = 1,	   /* zlib's level: recording must not cost the program its CPU */
};

bool stream_may_pack(uint32_t type)
{
	return type == STREAM_IMAGE || type == STREAM_CODE || type == STREAM_COUNTS || type == STREAM_STACK || type == STREAM_HEAP ||
	       type == STREAM_LINE;
}

size_t stream_pack(void *data, size_t len)
{
	uint64_t plain = len;
	uLongf n = len - len / 8; /* a gain of less is none */
	Bytef *out;
	size_t packed = 0;

	if (len < LEAST)
		return 0;
	n -= sizeof(plain);
	out = malloc(n);
	if (out && compress2(out, &n, data, len, FASTEST) == Z_OK) {
		memcpy(data, &plain, sizeof(plain));
		memcpy((char *)data + sizeof(plain), out, n);
		packed = sizeof(plain) + n;
	}
	free(out);
	return packed;
}

/* Twice the room, at most for @want bytes. */
static int grow(char **buf, size_t *cap, size_t want)
{
	size_t n = *cap ? 2 * *cap : FIRST_CAP;
	char *p;

	if (n > want)
		n = want;
	p = realloc(*buf, n);
	if (!p)
		return -ENOMEM;
	*buf = p;
	*cap = n;
	return 0;
}

long stream_unpack(const void *data, size_t len, size_t max, char **buf, size_t *cap)
{
	z_stream z = { .next_in = Z_NULL };
	uint64_t plain;
	size_t got = 0;
	int ret = Z_OK;

	if (len <= sizeof(plain))
		return 0;
	memcpy(&plain, data, sizeof(plain));
	if (!plain || plain > max || len > UINT32_MAX)
		return 0;
	z.next_in = (Bytef *)data + sizeof(plain);
	z.avail_in = (uInt)(len - sizeof(plain));
	if (inflateInit(&z) != Z_OK)
		return -ENOMEM;
	while (ret == Z_OK) {
		if (got == *cap && got < plain && grow(buf, cap, plain)) {
			ret = Z_MEM_ERROR;
			break;
		}
		z.next_out = (Bytef *)*buf + got;
		z.avail_out = (uInt)((*cap < plain ? *cap : plain) - got);
		ret = inflate(&z, Z_NO_FLUSH);
		got = z.total_out;
	}
	inflateEnd(&z);
	if (ret == Z_MEM_ERROR)
		return -ENOMEM;
	return ret == Z_STREAM_END && got == plain && !z.avail_in ? (long)plain : 0;
}
