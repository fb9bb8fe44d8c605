// SPDX-License-Identifier: GPL-2.0-or-later
/* fuzz_smaps.c - any bytes as /proc/PID/smaps: numbers are whole KiB, ranges are not empty, nothing is read past a line. */
#include "config.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/user/page_smaps.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct page_smaps s = { 0 };

	for (size_t at = 0; at < size;) {
		const uint8_t *stop = memchr(data + at, '\n', size - at);
		size_t len = stop ? (size_t)(stop - (data + at)) : size - at;
		char *line = malloc(len + 1); /* exactly so large */
		int first;

		memcpy(line, data + at, len);
		line[len] = '\0';
		first = page_smaps_line(&s, line, len);
		if (first < 0 || first > 1 || (first && (s.start >= s.end || s.rss || s.pfn_map)))
			abort();
		if ((s.rss | s.referenced | s.swap | s.kernel_page) % 1024)
			abort();
		free(line);
		at += len + 1;
	}
	return 0;
}
