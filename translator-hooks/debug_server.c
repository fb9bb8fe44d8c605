// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * debug_server.c - debug files from debuginfod servers, by build-id.
 *
 * The library is loaded when it is first needed: it brings a web client along, which is slow to start.
 */
#include "config.h"

#include "debug_server.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "runtime/core/hvar_module.h"

#define SILENCE_SECONDS 10
#define SIZE_MAX_BYTES	((long)2 << 30)
#define SHOW_NS		((uint64_t)200 * 1000 * 1000)
#define TOO_LARGE	"it is larger than 2 GiB, or than DEBUGINFOD_MAXSIZE says"

static const struct debug_server_hooks *hooks; /* NULL: nobody has asked */

void debug_server_ask(const struct debug_server_hooks *h)
{
	hooks = h;
}

static void without(const char *name, const char *why)
{
	if (hooks && hooks->without)
		hooks->without(name, why);
}

static void without_answer(const char *name, int error)
{
	char why[256];

	snprintf(why, sizeof(why), "%s; check the servers in DEBUGINFOD_URLS, and that DEBUGINFOD_CACHE_PATH can be written", strerror(error));
	without(name, why);
}

/* ---- numbers that the user sets ---- */

static const struct {
	const char *name, *unit;
	long otherwise;
} numbers[DEBUG_SERVER_NUMBERS] = {
	{ "DEBUGINFOD_TIMEOUT", "seconds", SILENCE_SECONDS },
	{ "DEBUGINFOD_MAXSIZE", "bytes", SIZE_MAX_BYTES },
};

/* Number @i as it is set, else ours; *@bad: it is set to what is none. */
static long number(unsigned i, bool *bad)
{
	const char *text = getenv(numbers[i].name);
	char *end;
	long n;

	*bad = false;
	if (!text || !*text)
		return numbers[i].otherwise;
	errno = 0;
	n = strtol(text, &end, 10);
	*bad = *end || errno || n < 0;
	return !*bad && n > 0 ? n : numbers[i].otherwise;
}

bool debug_server_bad_number(unsigned i, char *text, size_t size)
{
	bool bad;

	number(i, &bad);
	if (bad)
		snprintf(text, size, "%s is '%s', which is no number of %s: it is taken for %ld; set it to a whole number, or unset it",
			 numbers[i].name, getenv(numbers[i].name), numbers[i].unit, numbers[i].otherwise);
	return bad;
}

/* ---- where the library keeps files: debuginfod_find_debuginfo(3), "CACHE" ---- */

static bool in_home(char *out, size_t size, const char *home, const char *rest)
{
	return home && *home == '/' && snprintf(out, size, "%s%s", home, rest) < (int)size;
}

static bool cache_dir(char *out, size_t size)
{
	const char *home = getenv("HOME");
	struct stat st;

	if (in_home(out, size, getenv("DEBUGINFOD_CACHE_PATH"), ""))
		return true;
	/* of older versions; used where it is there */
	if (in_home(out, size, home, "/.debuginfod_client_cache") && !stat(out, &st))
		return true;
	return in_home(out, size, getenv("XDG_CACHE_HOME"), "/debuginfod_client") ||
	       in_home(out, size, home, "/.cache/debuginfod_client");
}

bool debug_server_path(const uint8_t *id, size_t len, char *path, size_t size)
{
	char dir[PATH_MAX], hex[2 * HVAR_BUILD_ID_MAX + 1];
	size_t i;

	if (!len || len > HVAR_BUILD_ID_MAX || !cache_dir(dir, sizeof(dir)))
		return false;
	for (i = 0; i < len; i++)
		sprintf(hex + 2 * i, "%02x", id[i]);
	return snprintf(path, size, "%s/%s/debuginfo", dir, hex) < (int)size;
}

#ifdef HAVE_DEBUGINFOD

#include <elfutils/debuginfod.h>

static struct {
	bool over; /* given up: nobody is asked any more */
	debuginfod_client *client;
	/* the library */
	void *lib;
	__typeof__(&debuginfod_begin) begin;
	__typeof__(&debuginfod_find_debuginfo) find;
	__typeof__(&debuginfod_set_progressfn) set_progress;
	__typeof__(&debuginfod_get_url) url;
} server;

/* The download under way. */
static struct {
	const char *name;
	long bytes;
	uint64_t moved_ns, shown_ns, silence_ns;
	long size_max;
	const char *why; /* it was given up; NULL: it was not */
	bool large;
} now;
static volatile sig_atomic_t interrupted;

static uint64_t clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void on_sigint(int sig)
{
	(void)sig;
	interrupted = 1;
}

/*
 * Called about once a second, and as bytes come: @a of @b bytes are there; @b is 0 if the server does not say.  While
 * no server sends any, @a only counts up.  Non-zero ends it.
 */
static int progress(debuginfod_client *c, long a, long b)
{
	uint64_t t = clock_ns();

	if (!server.url(c))
		a = b = 0;
	if (a != now.bytes) {
		now.bytes = a;
		now.moved_ns = t;
	}
	if (hooks->progress && t - now.shown_ns >= SHOW_NS) {
		now.shown_ns = t;
		hooks->progress(now.name, a, b > 0 ? b : 0);
	}
	now.large = a > now.size_max || b > now.size_max;
	if (interrupted)
		now.why = "skipped by ^C";
	else if (now.large)
		now.why = TOO_LARGE;
	else if (t - now.moved_ns > now.silence_ns)
		now.why = "no answer in time; DEBUGINFOD_TIMEOUT is the number of seconds to wait";
	return now.why != NULL;
}

static bool load(void)
{
	if (server.lib)
		return server.find;
	server.lib = dlopen(DEBUGINFOD_SONAME, RTLD_NOW | RTLD_LOCAL);
	if (!server.lib)
		return false;
	*(void **)&server.begin = dlsym(server.lib, "debuginfod_begin");
	*(void **)&server.set_progress = dlsym(server.lib, "debuginfod_set_progressfn");
	*(void **)&server.find = dlsym(server.lib, "debuginfod_find_debuginfo");
	*(void **)&server.url = dlsym(server.lib, "debuginfod_get_url");
	if (!server.begin || !server.set_progress || !server.url)
		server.find = NULL;
	return server.find;
}

const char *debug_server_why(void)
{
	const char *urls = getenv("DEBUGINFOD_URLS");

	if (!load())
		return "libdebuginfod is not installed: apt-get install libdebuginfod1";
	if (!urls || !urls[strspn(urls, " ")])
		return "DEBUGINFOD_URLS names no server: set it as your distribution documents";
	return NULL;
}

bool debug_server_asked(void)
{
	return hooks && !server.over && !debug_server_why();
}

int debug_server_get(const uint8_t *id, size_t len, const char *name)
{
	struct sigaction act = { .sa_handler = on_sigint }, was;
	char *path = NULL;
	bool bad;
	int fd;

	if (!len || len > HVAR_BUILD_ID_MAX || !debug_server_asked())
		return -ENOENT;
	if (!server.client)
		server.client = server.begin();
	if (!server.client)
		return -ENOMEM;
	server.set_progress(server.client, progress);
	memset(&now, 0, sizeof(now));
	now.name = name;
	now.moved_ns = clock_ns();
	now.silence_ns = (uint64_t)number(0, &bad) * 1000000000u;
	now.size_max = number(1, &bad);
	interrupted = 0;
	/* who is to ignore ^C does */
	sigaction(SIGINT, NULL, &was);
	if (was.sa_handler != SIG_IGN)
		sigaction(SIGINT, &act, NULL);
	fd = server.find(server.client, id, (int)len, &path);
	sigaction(SIGINT, &was, NULL);
	if (now.shown_ns)
		hooks->progress(name, 0, -1);
	free(path);
	if (interrupted && !now.why && fd < 0)
		now.why = "skipped by ^C";
	if (fd >= 0) {
		close(fd);
		return 0;
	}
	/* the next file may be smaller; a silent server is not asked again */
	server.over = interrupted || fd == -ETIME || (now.why && !now.large);
	if (now.why)
		without(name, now.why);
	else if (fd == -EFBIG)
		without(name, TOO_LARGE);
	else if (fd != -ENOENT)
		without_answer(name, -fd);
	else if (hooks->absent)
		without(name, "no server has it; its distribution may, as a package to be installed");
	return fd;
}

#else /* built without */

const char *debug_server_why(void)
{
	return "this hotvar was built without it: install libdebuginfod-dev, configure and build again";
}

bool debug_server_asked(void)
{
	return false;
}

int debug_server_get(const uint8_t *id, size_t len, const char *name)
{
	(void)id;
	(void)len;
	(void)name;
	return -ENOENT;
}

#endif

void debug_server_wrong(const uint8_t *id, size_t len, const char *name)
{
	char path[PATH_MAX];

	if (!debug_server_path(id, len, path, sizeof(path)))
		return;
	unlink(path);
	without(name, "what the server sent is not the debug file of this build-id; it is not kept");
}
