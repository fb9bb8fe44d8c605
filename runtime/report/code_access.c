// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "code_access.h"

bool code_access_site(const struct code_access *c, uint64_t ip, struct code_site *out)
{
	uint64_t start, end;

	return c->env->site(c->env->ctx, c->ev, ip, out, &start, &end);
}

/* Mappings of one file need not follow each other in memory as they do there: it ends with this one. */
static size_t read_code(void *ctx, uint64_t addr, void *buf, size_t len)
{
	const struct code_access *c = ctx;
	struct code_site at;
	uint64_t start, end;

	if (!c->env->site(c->env->ctx, c->ev, addr, &at, &start, &end))
		return 0;
	return c->env->code(c->env->ctx, &at, buf, end - addr < len ? (size_t)(end - addr) : len);
}

static bool function_at(void *ctx, uint64_t addr, uint64_t *start)
{
	const struct code_access *c = ctx;
	struct code_site at;
	uint64_t from, until;

	if (!code_access_site(c, addr, &at) || !c->env->function(c->env->ctx, &at, &from, &until) || at.where - from > addr)
		return false;
	*start = addr - (at.where - from);
	return true;
}

void code_access_init(const struct code_access *c, bool is32, struct access_code *out)
{
	*out = (struct access_code){ .ctx = (void *)c, .read = read_code, .function = function_at, .is32 = is32 };
}
