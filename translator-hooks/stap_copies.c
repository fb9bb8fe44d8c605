// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * stap_copies.c - the copies of stap's runtime that are used, and those that are not.
 *
 * Who uses a copy locks it (shared) while its time is set and its name is looked at again; who removes one locks it alone,
 * looks at its time again, and renames it.  So a copy that is to be used is either not removed, or seen to be gone.
 *
 * The time is that of a file in it: by the time of the folder stap tells whether it has tried out the kernel with this
 * runtime, and whether a script is compiled already (systemtap: hash.cxx, get_base_hash()).
 */
#include "config.h"

#include "stap_copies.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define PREFIX	   "stap-runtime-"
#define UNFINISHED ".stap-runtime-"
#define MARK	   "runtime.h"
enum { DEPTH = 18, MOST = 4096, HOUR = 3600 };

struct copy {
	char name[64];
	struct timespec used;
};

static int open_dir(int at, const char *name)
{
	return openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

static void remove_all(int at, const char *name, int depth)
{
	int fd = open_dir(at, name);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *de;

	if (!d && fd >= 0)
		close(fd);
	while (d && (de = readdir(d)) != NULL) {
		if (!strcmp(de->d_name, ".") || !strcmp(de->d_name, ".."))
			continue;
		if (unlinkat(dirfd(d), de->d_name, 0) && depth < DEPTH)
			remove_all(dirfd(d), de->d_name, depth + 1);
	}
	if (d)
		closedir(d);
	unlinkat(at, name, AT_REMOVEDIR);
}

void stap_copies_remove(int at, const char *name)
{
	remove_all(at, name, 0);
}

/* When the copy was used last; where the file is missing, when the folder was made. */
static int used_at(int copy, struct timespec *t)
{
	struct stat st;

	if (fstatat(copy, MARK, &st, AT_SYMLINK_NOFOLLOW) && fstat(copy, &st))
		return -errno;
	*t = st.st_mtim;
	return 0;
}

bool stap_copies_use(int cache, const char *name)
{
	int fd = open_dir(cache, name);
	struct stat is, named;
	bool r;

	if (fd < 0)
		return false;
	/* Where times cannot be set, or locks be had, it is used all the same. */
	flock(fd, LOCK_SH);
	utimensat(fd, MARK, NULL, AT_SYMLINK_NOFOLLOW);
	r = !fstat(fd, &is) && !fstatat(cache, name, &named, AT_SYMLINK_NOFOLLOW) && is.st_ino == named.st_ino &&
	    is.st_dev == named.st_dev;
	close(fd);
	return r;
}

static bool before(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec != b->tv_sec ? a->tv_sec < b->tv_sec : a->tv_nsec < b->tv_nsec;
}

static int latest_first(const void *a, const void *b)
{
	const struct copy *x = a, *y = b;

	return before(&x->used, &y->used) - before(&y->used, &x->used);
}

/* Remove @c, if nobody has used it since it was looked at. */
static void take_away(int cache, const struct copy *c)
{
	int fd = open_dir(cache, c->name);
	struct timespec used;
	char temp[64];

	if (fd < 0)
		return;
	snprintf(temp, sizeof(temp), UNFINISHED "%d-old", (int)getpid());
	if (!flock(fd, LOCK_EX | LOCK_NB) && !used_at(fd, &used) && !memcmp(&used, &c->used, sizeof(used)) &&
	    !renameat(cache, c->name, cache, temp))
		remove_all(cache, temp, 0);
	close(fd);
}

/* All copies, and how many; what is unfinished and old is removed. */
static size_t list(int cache, struct copy *v)
{
	int fd = openat(cache, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *de;
	time_t now = time(NULL);
	size_t n = 0;

	if (!d && fd >= 0)
		close(fd);
	while (d && n < MOST && (de = readdir(d)) != NULL) {
		bool unfinished = !strncmp(de->d_name, UNFINISHED, strlen(UNFINISHED));
		struct stat st;

		if ((!unfinished && strncmp(de->d_name, PREFIX, strlen(PREFIX))) || strlen(de->d_name) >= sizeof(v->name) ||
		    fstatat(cache, de->d_name, &st, AT_SYMLINK_NOFOLLOW) || !S_ISDIR(st.st_mode) || st.st_uid != geteuid())
			continue;
		if (!unfinished) {
			int copy = open_dir(cache, de->d_name);

			if (copy < 0)
				continue;
			strcpy(v[n].name, de->d_name);
			n += !used_at(copy, &v[n].used);
			close(copy);
		} else if (st.st_mtim.tv_sec < now - HOUR) {
			remove_all(cache, de->d_name, 0);
		}
	}
	if (d)
		closedir(d);
	return n;
}

void stap_copies_sweep(int cache, const char *used)
{
	struct copy *v = malloc(MOST * sizeof(*v));
	time_t now = time(NULL);
	size_t n;

	if (!v)
		return;
	n = list(cache, v);
	qsort(v, n, sizeof(*v), latest_first);
	for (size_t i = 0; i < n; i++) {
		time_t age = now - v[i].used.tv_sec;

		if (strcmp(v[i].name, used) && (age > STAP_COPIES_MOST_SEC || (i >= STAP_COPIES_KEPT && age > STAP_COPIES_SEC)))
			take_away(cache, &v[i]);
	}
	free(v);
}
