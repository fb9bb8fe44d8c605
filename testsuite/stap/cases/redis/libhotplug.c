// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * libhotplug.c - a module for redis: the command HOTPLUG.SWEEP goes over a static variable of its own.
 *
 * What it needs of redis' module interface is declared here: a module asks the function that
 * its context begins with for all others, by name.
 */
#include <stddef.h>

typedef int (*command_fn)(void *ctx, void **argv, int argc);

static struct {
	void (*set_attributes)(void *ctx, const char *name, int version, int api);
	int (*create_command)(void *ctx, const char *name, command_fn, const char *flags, int first, int last, int step);
	int (*reply_long)(void *ctx, long long);
} redis;

/* Large, so that a sweep takes longer than what redis does around it. */
static unsigned hotplug_counters[1 << 16];

static int sweep(void *ctx, void **argv, int argc)
{
	volatile unsigned *c = hotplug_counters;
	size_t i;

	(void)argv;
	(void)argc;
	for (i = 0; i < sizeof(hotplug_counters) / sizeof(*c); i++)
		c[i]++;
	return redis.reply_long(ctx, c[0]);
}

int RedisModule_OnLoad(void *ctx, void **argv, int argc)
{
	int (*get)(const char *, void *) = *(int (**)(const char *, void *))ctx;

	(void)argv;
	(void)argc;
	if (get("RedisModule_SetModuleAttribs", &redis.set_attributes) ||
	    get("RedisModule_CreateCommand", &redis.create_command) ||
	    get("RedisModule_ReplyWithLongLong", &redis.reply_long))
		return 1;
	redis.set_attributes(ctx, "hotplug", 1, 1);
	return redis.create_command(ctx, "hotplug.sweep", sweep, "readonly", 0, 0, 0);
}
