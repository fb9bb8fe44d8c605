// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * rust_puny.c - letters beyond ASCII in Rust's names.
 */
#include "config.h"

#include <string.h>

#include "rust_text.h"

/* Punycode (RFC 3492, with "_" for its "-"): the letters of ASCII, then where each of the others goes. */
bool rust_punycode(struct rust_text *out, const char *s, size_t n_bytes)
{
	enum { POINTS = 256, BASE = 36, T_MIN = 1, T_MAX = 26, SKEW = 38, DAMP = 700 };
	uint32_t points[POINTS], n = 0, code = 128, i = 0, bias = 72, k, t, at, w, was, delta;
	size_t split = n_bytes, in, j;
	bool first = true;

	while (split && s[split - 1] != '_')
		split--;
	for (j = 0; split && j < split - 1; j++) {
		if (n == POINTS)
			return false;
		points[n++] = (uint8_t)s[j];
	}
	for (in = split; in < n_bytes; i++) {
		for (was = i, w = 1, k = BASE;; k += BASE) {
			char c = in < n_bytes ? s[in++] : '\0';

			at = c >= 'a' && c <= 'z' ? (uint32_t)(c - 'a') : c >= '0' && c <= '9' ? (uint32_t)(c - '0' + 26) : BASE;
			if (at == BASE || at > (UINT32_MAX / 2 - i) / w)
				return false;
			i += at * w;
			t = k <= bias ? T_MIN : k >= bias + T_MAX ? T_MAX : k - bias;
			if (at < t)
				break;
			if (w > UINT32_MAX / 2 / BASE)
				return false;
			w *= BASE - t;
		}
		if (n == POINTS)
			return false;
		n++;
		delta = (i - was) / (first ? DAMP : 2);
		delta += delta / n;
		for (k = 0; delta > (BASE - T_MIN) * T_MAX / 2; k += BASE)
			delta /= BASE - T_MIN;
		bias = k + (BASE - T_MIN + 1) * delta / (delta + SKEW);
		first = false;
		if (i / n > 0x10ffff - code)
			return false;
		code += i / n;
		i %= n;
		memmove(points + i + 1, points + i, (n - 1 - i) * sizeof(*points));
		points[i] = code;
	}
	for (j = 0; j < n; j++)
		if (!rust_text_char(out, points[j]))
			return false;
	return true;
}
