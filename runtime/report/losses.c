// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "losses.h"

#include <inttypes.h>
#include <stdio.h>

/* After its number. */
static const char *const texts[STREAM_LOST_WHATS] = {
	[STREAM_LOST_SAMPLES] = "samples lost (the kernel's buffer was full)",
	[STREAM_LOST_MAPS] = "changes of the memory map seen late, at a look",
	[STREAM_LOST_TASKS] = "tasks not followed (too short-lived, or refused)",
	[STREAM_LOST_MEMORY] = "records lost for want of memory",
	[STREAM_LOST_CODE] = "pieces of code that could not be read",
	[STREAM_LOST_THROTTLED] = "times the timer of the samples was slowed down",
	[STREAM_LOST_LINES] = "lines of the text not understood",
};

static const char *const names[STREAM_LOST_WHATS] = {
	[STREAM_LOST_SAMPLES] = "samples",
	[STREAM_LOST_MAPS] = "maps",
	[STREAM_LOST_TASKS] = "tasks",
	[STREAM_LOST_MEMORY] = "memory",
	[STREAM_LOST_CODE] = "code",
	[STREAM_LOST_THROTTLED] = "throttled",
	[STREAM_LOST_LINES] = "lines",
};

/* 1234567 as 1,234,567. */
static void put_number(FILE *f, uint64_t n)
{
	char digits[24];
	int len = snprintf(digits, sizeof(digits), "%" PRIu64, n), i;

	for (i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			putc(',', f);
		putc(digits[i], f);
	}
}

static void put(FILE *f, const char **join, uint64_t n, const char *text)
{
	if (!n)
		return;
	fputs(*join, f);
	put_number(f, n);
	fprintf(f, " %s", text);
	*join = "; ";
}

char *losses_text(const struct analysis_totals *t)
{
	const char *join = "";
	char *text = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&text, &size);
	unsigned what;

	if (!f)
		return NULL;
	for (what = 1; what < STREAM_LOST_WHATS; what++)
		put(f, &join, t->lost[what], texts[what]);
	put(f, &join, t->misfits, "events that contradict those before them");
	fclose(f);
	return text;
}

void losses_json(struct json *j, const struct analysis_totals *t)
{
	unsigned what;

	json_open(j, "lost_by", '{');
	for (what = 1; what < STREAM_LOST_WHATS; what++)
		if (t->lost[what])
			json_u64(j, names[what], t->lost[what]);
	json_close(j, '}');
}
