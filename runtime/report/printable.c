// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "printable.h"

int printable_control(const char *s)
{
	const unsigned char *p = (const unsigned char *)s;

	if (p[0] < 0x20 || p[0] == 0x7f)
		return 1;
	return p[0] == 0xc2 && p[1] >= 0x80 && p[1] < 0xa0 ? 2 : 0;
}

int printable_put(FILE *f, const char *s)
{
	int columns = 0;

	while (s && *s) {
		int n = printable_control(s);

		if (!n) {
			columns += (*s & 0xc0) != 0x80;
			putc(*s++, f);
		}
		while (n--)
			columns += fprintf(f, "\\x%02x", (unsigned char)*s++);
	}
	return columns;
}
