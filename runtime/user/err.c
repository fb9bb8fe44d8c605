// SPDX-License-Identifier: GPL-2.0-or-later
#include "err.h"

#include <stdarg.h>
#include <stdio.h>

static void set(struct err *e, int status, const char *fmt, va_list ap)
{
	if (!e)
		return;
	e->status = status;
	vsnprintf(e->text, sizeof(e->text), fmt, ap);
}

int err_set(struct err *e, int code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	set(e, 0, fmt, ap);
	va_end(ap);
	return -code;
}

int err_exit(struct err *e, int code, int status, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	set(e, status, fmt, ap);
	va_end(ap);
	return -code;
}

void err_clear(struct err *e)
{
	if (!e)
		return;
	e->status = 0;
	e->text[0] = '\0';
}
