// SPDX-License-Identifier: GPL-2.0-or-later
/* fuzz_maps.c - any bytes as /proc/PID/maps: what is taken obeys the rules of an area. */
#include "config.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/user/mapstext.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct mapstext *m, const char *line, size_t len)
{
	if (m->v.start >= m->v.end || m->v.prot > 15 || m->v.module ||
	    m->v.region == HVAR_REGION_NONE || m->v.region >= HVAR_REGIONS)
		abort();
	if (m->path < line || m->path + m->path_len > line + len ||
	    strlen(m->path) != m->path_len)
		abort();
	if (m->v.region == HVAR_REGION_HEAP && m->path_len)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* Exactly as large as promised: one byte beyond the text may be written. */
	char *text = malloc(size + 1);

	memcpy(text, data, size);
	text[size] = '\n';
	for (size_t at = 0; at < size;) {
		size_t len = (size_t)((char *)memchr(text + at, '\n', size + 1 - at) - (text + at));
		struct mapstext m;

		if (!mapstext_line(text + at, len, &m)) {
			check(&m, text + at, len);
			if (m.v.flags & HVAR_VMA_DELETED) {
				mapstext_not_deleted(&m);
				check(&m, text + at, len);
			}
		}
		at += len + 1;
	}
	free(text);
	return 0;
}
