// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "carried.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frames.h"
#include "tls_blocks.h"
#include "tls_seen.h"

#define TLS_KEY	   "tls."
#define TLS_AT_KEY "tlsat."

static void take_tls(struct variables *v, const struct images *images, const char *key, const char *value)
{
	struct tls_distance d;
	char *end;

	d.mm = (uint32_t)strtoul(key, &end, 10);
	if (*end++ != '.')
		return;
	d.module = images_canon(images, (uint32_t)strtoul(end, &end, 10));
	d.distance = strtoull(value, NULL, 10);
	if (*end == '=')
		tls_blocks_told(variables_tls_blocks(v), &d);
}

static bool begins(const char *text, size_t n, const char *key)
{
	return n > strlen(key) && !strncmp(text, key, strlen(key));
}

bool carried_take(struct variables *v, const struct images *images, const char *text, size_t n, const char *value)
{
	if (begins(text, n, TLS_KEY))
		take_tls(v, images, text + strlen(TLS_KEY), value);
	else if (begins(text, n, TLS_AT_KEY))
		tls_seen_told(variables_tls_seen(v), images, text + strlen(TLS_AT_KEY), value);
	else if (begins(text, n, FRAMES_KEY))
		frames_told(variables_frames(v), text + strlen(FRAMES_KEY), value);
	else
		return false;
	return true;
}

const char *carried_fresh(struct variables *v, char buf[CARRIED_TEXT])
{
	struct tls_distance tls;

	if (tls_blocks_fresh(variables_tls_blocks(v), &tls)) {
		snprintf(buf, CARRIED_TEXT, TLS_KEY "%u.%u=%llu", tls.mm, tls.module, (unsigned long long)tls.distance);
		return buf;
	}
	if (tls_seen_fresh(variables_tls_seen(v), buf + strlen(TLS_AT_KEY), CARRIED_TEXT - strlen(TLS_AT_KEY))) {
		memcpy(buf, TLS_AT_KEY, strlen(TLS_AT_KEY));
		return buf;
	}
	return frames_fresh(variables_frames(v));
}
