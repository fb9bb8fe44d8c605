// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * cache_dir.c - find, make, check and write the folder that symbol images are kept in.
 *
 * A file is written under a temporary name, which its writer keeps locked, and
 * then renamed.  A temporary file that is old and not locked was left by a
 * writer that was killed: it is swept away.
 */
#include "config.h"

#include "cache_dir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define TEMP_PREFIX  ".tmp-"
#define TEMP_OLD_SEC 60

/* The command that helps, as 'hotvar doctor' has it. */
#define EXPORT "export XDG_CACHE_HOME=DIR, a folder of your own"

static struct {
	bool looked, swept, broken; /* broken: written once in vain */
	int fd;
	char path[3072];
	char why[4096];
} dir = { .fd = -1 };

__attribute__((format(printf, 1, 2))) static void say(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(dir.why, sizeof(dir.why), fmt, ap);
	va_end(ap);
}

/* The folder's path from the environment; a relative one is to be ignored. */
static bool find_path(void)
{
	const char *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	struct stat st;
	int n;

	/* A home is not ours to make. */
	if (!(xdg && *xdg == '/') && home && *home == '/' && stat(home, &st) && errno == ENOENT) {
		say("symbol images are not kept: HOME is '%s', which does not exist: "
		    EXPORT, home);
		return false;
	}
	if (xdg && *xdg == '/')
		n = snprintf(dir.path, sizeof(dir.path), "%s/hotvar", xdg);
	else if (home && *home == '/')
		n = snprintf(dir.path, sizeof(dir.path), "%s/.cache/hotvar", home);
	else {
		say("symbol images are not kept: neither HOME nor XDG_CACHE_HOME names a "
		    "folder: " EXPORT);
		return false;
	}
	if ((size_t)n < sizeof(dir.path))
		return true;
	say("symbol images are not kept: the path of the cache folder is too long: "
	    EXPORT " with a short path");
	return false;
}

static void say_cannot(const char *what, int error)
{
	say("symbol images are not kept: cannot %s '%s': %s: %s", what, dir.path,
	    strerror(error),
	    error == ENOSPC || error == EDQUOT || error == EFBIG ?
		    "make room there, or " EXPORT " on another disk" :
		    "make it writable, or " EXPORT);
}

/*
 * Make the folder and what is missing above it.  Root, who may write anywhere,
 * does not litter in what belongs to someone else (sudo keeps HOME).
 */
static bool make_dirs(void)
{
	char part[sizeof(dir.path)];
	struct stat st;
	size_t len;
	char *at;

	memcpy(part, dir.path, sizeof(part));
	while ((at = strrchr(part, '/')) != NULL) {
		at[at == part] = '\0';
		if (!stat(part, &st))
			break;
		if (errno != ENOENT || at == part) {
			say_cannot("make", errno);
			return false;
		}
	}
	if (!geteuid() && st.st_uid) {
		say("symbol images are not kept: '%s' belongs to user %u, and root does not "
		    "write there: export HOME=/root, or " EXPORT, part,
		    (unsigned)st.st_uid);
		return false;
	}
	for (len = strlen(part); dir.path[len]; len += strlen(part + len)) {
		size_t next = len + (dir.path[len] == '/');

		next += strcspn(dir.path + next, "/");
		memcpy(part, dir.path, next);
		part[next] = '\0';
		if (mkdir(part, 0700) && errno != EEXIST) {
			say_cannot("make", errno);
			return false;
		}
	}
	return true;
}

/* Is the open folder ours alone to write? */
static bool trusted(void)
{
	struct stat st;

	if (fstat(dir.fd, &st)) {
		say_cannot("use", errno);
	} else if (st.st_uid != geteuid()) {
		say("symbol images are not kept: '%s' belongs to user %u, not to user %u: "
		    EXPORT, dir.path,
		    (unsigned)st.st_uid, (unsigned)geteuid());
	} else if (st.st_mode & (S_IWGRP | S_IWOTH)) {
		say("symbol images are not kept: others may write to '%s': run chmod 700 on "
		    "it", dir.path);
	} else {
		return true;
	}
	return false;
}

static void look(void)
{
	const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

	dir.looked = true;
	if (!find_path())
		return;
	dir.fd = open(dir.path, flags);
	if (dir.fd < 0 && errno == ENOENT) {
		if (!make_dirs())
			return;
		dir.fd = open(dir.path, flags);
	}
	if (dir.fd < 0 && (errno == ELOOP || errno == ENOTDIR))
		say("symbol images are not kept: '%s' is a symbolic link or no folder: remove "
		    "it, or " EXPORT, dir.path);
	else if (dir.fd < 0)
		say_cannot("open", errno);
	else if (!trusted()) {
		close(dir.fd);
		dir.fd = -1;
	}
}

int cache_dir_fd(void)
{
	if (!dir.looked)
		look();
	return dir.fd;
}

const char *cache_dir_path(void)
{
	return cache_dir_fd() < 0 ? NULL : dir.path;
}

const char *cache_dir_why(void)
{
	cache_dir_fd();
	return *dir.why ? dir.why : NULL;
}

void cache_dir_forget(void)
{
	if (dir.fd >= 0)
		close(dir.fd);
	memset(&dir, 0, sizeof(dir));
	dir.fd = -1;
}

static void sweep_one(const char *name)
{
	struct stat st;
	int fd = openat(dir.fd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		return;
	if (!fstat(fd, &st) && st.st_mtime < time(NULL) - TEMP_OLD_SEC &&
	    !flock(fd, LOCK_EX | LOCK_NB))
		unlinkat(dir.fd, name, 0);
	close(fd);
}

static void sweep(void)
{
	int fd = openat(dir.fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;

	dir.swept = true;
	if (!d) {
		if (fd >= 0)
			close(fd);
		return;
	}
	while ((e = readdir(d)) != NULL)
		if (!strncmp(e->d_name, TEMP_PREFIX, strlen(TEMP_PREFIX)))
			sweep_one(e->d_name);
	closedir(d);
}

/* Make a file that was not there, locked; its name into @name. */
static int temp_file(char *name, size_t n)
{
	unsigned tries;
	int fd = -1;

	for (tries = 0; tries < 100 && fd < 0; tries++) {
		struct timespec now;

		clock_gettime(CLOCK_REALTIME, &now);
		snprintf(name, n, TEMP_PREFIX "%d-%lx-%u", (int)getpid(),
			 (unsigned long)now.tv_nsec, tries);
		fd = openat(dir.fd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
			    0600);
		if (fd < 0 && errno != EEXIST)
			break;
	}
	if (fd >= 0)
		flock(fd, LOCK_EX | LOCK_NB);
	return fd;
}

static int write_all(int fd, const char *data, size_t size)
{
	while (size) {
		ssize_t r = write(fd, data, size);

		if (r < 0 && errno == EINTR)
			continue;
		if (r <= 0)
			return r ? -errno : -ENOSPC;
		data += r;
		size -= (size_t)r;
	}
	return 0;
}

/* A limit on file sizes (RLIMIT_FSIZE) is an error here, not the end of the process. */
static int write_unkilled(int fd, const void *data, size_t size)
{
	const struct timespec none = { 0, 0 };
	sigset_t xfsz, before, pending;
	bool was_pending;
	int r;

	sigemptyset(&xfsz);
	sigaddset(&xfsz, SIGXFSZ);
	sigpending(&pending);
	was_pending = sigismember(&pending, SIGXFSZ) == 1;
	pthread_sigmask(SIG_BLOCK, &xfsz, &before);
	r = write_all(fd, data, size);
	if (r == -EFBIG && !was_pending)
		sigtimedwait(&xfsz, NULL, &none);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return r;
}

bool cache_dir_put(const char *name, const void *data, size_t size, uint64_t mtime_ns)
{
	const struct timespec mtime = { .tv_sec = (time_t)(mtime_ns / 1000000000u),
					.tv_nsec = (long)(mtime_ns % 1000000000u) };
	const struct timespec times[2] = { mtime, mtime };
	char temp[64];
	int fd, r;

	if (cache_dir_fd() < 0 || dir.broken)
		return false;
	if (!dir.swept)
		sweep();
	fd = temp_file(temp, sizeof(temp));
	if (fd < 0) {
		say_cannot("write to", errno);
		dir.broken = true;
		return false;
	}
	r = write_unkilled(fd, data, size);
	if (!r && futimens(fd, times))
		r = -errno;
	if (!r && renameat(dir.fd, temp, dir.fd, name))
		r = -errno;
	if (r) {
		unlinkat(dir.fd, temp, 0);
		say_cannot("write to", -r);
		/* a full disk may have room for a smaller one; the rest stays as it is */
		dir.broken = r != -ENOSPC && r != -EFBIG && r != -EDQUOT;
	}
	close(fd);
	return !r;
}
