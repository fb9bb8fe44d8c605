// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * stap_images.c - put images where the kernel looks for them.
 */
#include "config.h"

#include "stap_images.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cache_dir.h"
#include "image_build.h"
#include "image_cache.h"
#include "image_layout.h"
#include "runtime/core/hvar_image_format.h"
#include "stap_confine.h"

#define TEMP_PREFIX ".tmp-"
enum { TEMP_OLD_SEC = 60, PATIENCE_MS = 30000, END_MS = 300 };
/* Of an image: what the kernel takes.  Of all that one run makes: what it follows may be a crowd of files made for that. */
#define MOST_BYTES  ((uint64_t)256 << 20)
#define MOST_OF_ALL ((uint64_t)4 << 30)
#define MOST_MADE   8192u

struct stap_images_seen {
	dev_t dev;
	ino_t ino;
	struct timespec mtime;
};

/* What the process that reads a file says first, and then of the image; if the result is 0, the image's bytes follow. */
struct identity {
	int len; /* as image_build_id() */
	uint8_t id[HVAR_BUILD_ID_MAX];
	struct err e;
};
struct answer {
	int result; /* as image_cache_get() */
	uint64_t size;
	struct err e;
};

/* That process, and how it gets on. */
struct reader {
	pid_t pid;
	int in, until; /* what it says; what says that nobody wants to know */
	int patience_ms, idle_ms;
	uint64_t cpu_ns;
	bool canceled, silent;
};

static bool roots_alone(const struct stat *st)
{
	return !st->st_uid && !(st->st_mode & (S_IWGRP | S_IWOTH));
}

/* What a writer that was killed has left. */
static void sweep(int dir)
{
	int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *de;
	struct stat st;

	if (!d && fd >= 0)
		close(fd);
	while (d && (de = readdir(d)) != NULL) {
		if (strncmp(de->d_name, TEMP_PREFIX, strlen(TEMP_PREFIX)))
			continue;
		fd = openat(dir, de->d_name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
		if (fd < 0)
			continue;
		if (!fstat(fd, &st) && st.st_mtime < time(NULL) - TEMP_OLD_SEC &&
		    !flock(fd, LOCK_EX | LOCK_NB))
			unlinkat(dir, de->d_name, 0);
		close(fd);
	}
	if (d)
		closedir(d);
}

int stap_images_open(struct stap_images *im, const char *path, struct err *e)
{
	const int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
	struct stat st;
	int r = 0;

	*im = (struct stap_images){ .fd = -1, .patience_ms = PATIENCE_MS };
	if (strlen(path) >= sizeof(im->path))
		return err_set(e, ENAMETOOLONG, "no names from symbol images: the path of their folder is too long: build hotvar with a shorter --localstatedir");
	strcpy(im->path, path);
	im->fd = open(path, flags);
	if (im->fd < 0 && errno == ENOENT && !geteuid()) {
		/* another may make it at the same moment */
		if (mkdir(path, 0755) ? errno == EEXIST : !chmod(path, 0755))
			im->fd = open(path, flags);
		if (im->fd < 0)
			return err_set(e, errno, "no names from symbol images: cannot make the folder '%s': %s: make it, root's and mode 755",
				       path, strerror(errno));
	}
	if (im->fd < 0 && errno == ENOENT)
		return err_set(e, ENOENT, "no names from symbol images: there is no folder '%s': as root, once: hotvar stap --also PROGRAM",
			       path);
	if (im->fd < 0)
		return err_set(e, errno, "no names from symbol images: cannot open the folder '%s': %s: as root: chmod 755 '%s'",
			       path, strerror(errno), path);
	if (fstat(im->fd, &st))
		r = err_set(e, errno, "no names from symbol images: cannot look at '%s': %s: check its file system",
			    path, strerror(errno));
	else if (!roots_alone(&st))
		r = err_set(e, EPERM, "no names from symbol images: the kernel does not believe the folder '%s', which %s: as root: chown root '%s' && chmod 755 '%s'",
			    path, st.st_uid ? "is not root's" : "others may write to", path, path);
	if (r) {
		close(im->fd);
		im->fd = -1;
		return r;
	}
	im->writable = !geteuid() && !faccessat(im->fd, ".", W_OK, AT_EACCESS);
	if (im->writable)
		sweep(im->fd);
	return 0;
}

void stap_images_close(struct stap_images *im)
{
	if (im->fd >= 0)
		close(im->fd);
	free(im->seen);
	*im = (struct stap_images){ .fd = -1 };
}

bool stap_images_asked(const struct stap_images *im, dev_t dev, ino_t ino)
{
	for (size_t i = 0; i < im->n_seen; i++)
		if (im->seen[i].ino == ino && im->seen[i].dev == dev)
			return true;
	return false;
}

/* The same, unless the file has changed since; and remember it.  Without memory it is only asked for again. */
static bool asked(struct stap_images *im, const struct stat *st)
{
	struct stap_images_seen *v, *s;

	for (s = im->seen; s < im->seen + im->n_seen; s++) {
		if (s->ino != st->st_ino || s->dev != st->st_dev)
			continue;
		if (!memcmp(&s->mtime, &st->st_mtim, sizeof(s->mtime)))
			return true;
		s->mtime = st->st_mtim;
		return false;
	}
	v = reallocarray(im->seen, im->n_seen + 1, sizeof(*v));
	if (v) {
		v[im->n_seen++] = (struct stap_images_seen){ st->st_dev, st->st_ino, st->st_mtim };
		im->seen = v;
	}
	return false;
}

/* ---- what is there ---- */

struct entry {
	struct hvar_image img;
	void *data;
	size_t size;
};

/* Map the image @name if the kernel would use it and it is of our version. */
static bool map_entry(const struct stap_images *im, const char *name, const uint8_t *id,
		      size_t len, struct entry *en)
{
	int fd = openat(im->fd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	struct stat st;

	if (fd < 0)
		return false;
	en->data = MAP_FAILED;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && roots_alone(&st) && st.st_size > 0) {
		en->size = (size_t)st.st_size;
		en->data = mmap(NULL, en->size, PROT_READ, MAP_PRIVATE, fd, 0);
	}
	close(fd);
	if (en->data == MAP_FAILED)
		return false;
	if (!hvar_image_open(&en->img, en->data, en->size) && en->img.h->rules == IMAGE_RULES &&
	    en->img.build_id_len == len && !memcmp(en->img.build_id, id, len))
		return true;
	munmap(en->data, en->size);
	return false;
}

/* The image's note of its file; NULL: it has none. */
static const struct hvar_image_source *source_of(const struct hvar_image *img)
{
	uint32_t n;
	const struct hvar_image_source *src = hvar_image_table(img, HVAR_IMAGE_SOURCE, sizeof(*src), &n);

	return n ? src : NULL;
}

/* Is the image made of this very file, as it is? */
static bool is_of(const struct hvar_image *img, const struct stat *st)
{
	const struct hvar_image_source *src = source_of(img);

	return src && src->dev == st->st_dev && src->ino == st->st_ino &&
	       src->size == (uint64_t)st->st_size &&
	       src->mtime_ns == (uint64_t)st->st_mtim.tv_sec * 1000000000u +
					(uint64_t)st->st_mtim.tv_nsec;
}

static bool knows_more(const struct hvar_image *a, const struct hvar_image *b)
{
	bool x = a->flags & HVAR_IMAGE_STRIPPED, y = b->flags & HVAR_IMAGE_STRIPPED;

	if (x != y)
		return y;
	return a->n_syms + a->n_tls_syms > b->n_syms + b->n_tls_syms;
}

/* ---- making one: in a process of its own ---- */

static int write_all(int fd, const char *data, size_t size)
{
	while (size) {
		ssize_t n = write(fd, data, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -ENOSPC;
		data += n;
		size -= (size_t)n;
	}
	return 0;
}

static int write_entry(const struct stap_images *im, const char *name, const void *data,
		       size_t size, struct err *e)
{
	char temp[64];
	int fd, r = 0;

	snprintf(temp, sizeof(temp), TEMP_PREFIX "%d", (int)getpid());
	unlinkat(im->fd, temp, 0);
	fd = openat(im->fd, temp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		r = -errno;
	if (!r) {
		flock(fd, LOCK_EX | LOCK_NB);
		r = write_all(fd, data, size);
	}
	/* root in a group of files with setgid, or an odd umask: the mode is what the kernel asks for */
	if (!r && fchmod(fd, 0644))
		r = -errno;
	if (!r && renameat(im->fd, temp, im->fd, name))
		r = -errno;
	if (r)
		unlinkat(im->fd, temp, 0);
	if (fd >= 0)
		close(fd);
	return !r ? 0 : err_set(e, -r, "cannot keep a symbol image in '%s': %s: %s", im->path, strerror(-r),
				r == -ENOSPC || r == -EDQUOT ? "make room there" : "check that folder");
}

/*
 * In the process of its own, which can read and nothing else: what it says is no more to be believed than the file.
 * It cannot use the cache, which is not nobody's.
 */
static void child(int fd, int out, int parent, const char *file)
{
	struct identity id = { 0 };
	struct answer a = { 0 };
	struct image_file *f;

	cache_dir_forget();
	id.len = stap_confine(&fd, &out, parent, &id.e);
	if (!id.len)
		id.len = image_build_id(fd, id.id, sizeof(id.id));
	if (write_all(out, (const char *)&id, sizeof(id)) || id.len <= 0)
		_exit(0);
	a.result = image_cache_get(fd, file, &f, &a.e);
	if (!a.result)
		a.size = f->size;
	if (!write_all(out, (const char *)&a, sizeof(a)) && !a.result)
		write_all(out, f->data, f->size);
	_exit(0);
}

/* Nothing came for @ms: has it at least used the processor? */
static void idle(struct reader *r, int ms)
{
	struct timespec t;
	clockid_t clock;
	uint64_t ns = 0;

	if (!clock_getcpuclockid(r->pid, &clock) && !clock_gettime(clock, &t))
		ns = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
	r->idle_ms = ns > r->cpu_ns ? 0 : r->idle_ms + ms;
	r->cpu_ns = ns > r->cpu_ns ? ns : r->cpu_ns;
	r->silent = r->idle_ms >= r->patience_ms;
}

/* @size bytes of what it says; false: it died, says nothing more, or nobody wants to know. */
static bool listen_to(struct reader *r, void *to, size_t size)
{
	struct pollfd p[2] = { { .fd = r->in, .events = POLLIN }, { .fd = r->until, .events = POLLIN } };
	int ms = r->patience_ms < 1000 ? r->patience_ms : 1000;
	size_t got = 0;

	while (got < size) {
		int ready = poll(p, 2, ms);
		ssize_t n;

		if (ready < 0 && errno != EINTR)
			return false;
		if (!ready)
			idle(r, ms);
		if (r->silent)
			return false;
		if (ready <= 0)
			continue;
		if (r->until >= 0 && p[1].revents) {
			r->canceled = true;
			return false;
		}
		if (!p[0].revents)
			continue;
		n = read(r->in, (char *)to + got, size - got);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		got += (size_t)n;
		r->idle_ms = 0;
	}
	return true;
}

/* A process that nobody else waits for, to read the file at @fd.  Returns 0, or -errno and @e. */
static int begin_reader(const struct stap_images *im, int fd, const char *file, int until, struct reader *r, struct err *e)
{
	int io[2], err, parent = getpid();

	*r = (struct reader){ .until = until, .patience_ms = im->patience_ms };
	if (pipe2(io, O_CLOEXEC))
		return err_set(e, errno, "no image of '%s': %s: try again with fewer files open", file,
			       strerror(errno));
	r->pid = fork();
	if (!r->pid)
		child(fd, io[1], parent, file);
	err = errno;
	close(io[1]);
	r->in = io[0];
	if (r->pid > 0)
		return 0;
	close(io[0]);
	return err_set(e, err, "no image of '%s': no process for it: %s: end some", file, strerror(err));
}

/* It ends, and is waited for: but not for ever, since in the midst of a call of a file system it cannot be killed. */
static void end_reader(struct reader *r)
{
	const struct timespec pause = { 0, 10000000 };
	int ms = 0;
	pid_t ended;

	close(r->in);
	kill(r->pid, SIGKILL);
	do {
		ended = waitpid(r->pid, NULL, r->silent || r->canceled ? WNOHANG : 0);
		if (!ended)
			nanosleep(&pause, NULL);
	} while ((!ended && (ms += 10) < END_MS) || (ended < 0 && errno == EINTR));
}

/* It did not say what was asked: why. */
static int no_answer(const struct reader *r, const char *file, struct err *e)
{
	if (r->canceled)
		return -ECANCELED;
	if (r->silent)
		return err_set(e, ETIMEDOUT, "no image of '%s': it has not let itself be read for %d seconds: check its file system",
			       file, r->patience_ms / 1000);
	return err_set(e, EFAULT, "no image of '%s': making it failed: try 'hotvar symbols' on it, and report that with the file",
		       file);
}

/* What an error of the other process says. */
static int others_error(struct err *theirs, int result, struct err *e)
{
	theirs->text[sizeof(theirs->text) - 1] = '\0';
	*e = (struct err){ 0, "" };
	return err_set(e, -result, "%s", theirs->text);
}

/* The image that it makes, *@data malloc'd.  Returns 0, or -errno and @e. */
static int hear(struct reader *r, const char *file, void **data, size_t *size, struct err *e)
{
	struct answer a = { 0 };

	*data = NULL;
	if (!listen_to(r, &a, sizeof(a)) || a.result > 0 || (!a.result && !a.size))
		return no_answer(r, file, e);
	if (a.result)
		return others_error(&a.e, a.result, e);
	if (a.size > MOST_BYTES)
		return err_set(e, EFBIG, "no image of '%s': it would have %llu MiB, and the kernel takes no more than %llu: strip it",
			       file, (unsigned long long)a.size >> 20, (unsigned long long)MOST_BYTES >> 20);
	*data = malloc(a.size);
	if (*data && listen_to(r, *data, a.size)) {
		*size = a.size;
		return 0;
	}
	free(*data);
	return no_answer(r, file, e);
}

/* Is the new image @data of the same file as @old, and the same but for when it was made?  It then says what that says. */
static bool same(const struct entry *old, const struct hvar_image *img, void *data, size_t size)
{
	const struct hvar_image_source *was = source_of(&old->img), *is = source_of(img);
	struct hvar_image_header *h = data;
	struct hvar_image_source now;
	uint64_t seal[2];
	bool r;

	if (!was || !is || old->size != size || was->dev != is->dev || was->ino != is->ino || was->size != is->size ||
	    was->mtime_ns != is->mtime_ns)
		return false;
	now = *is;
	memcpy(seal, h->seal, sizeof(seal));
	memcpy(h->seal, old->img.h->seal, sizeof(seal));
	image_layout_source(data, was);
	r = !memcmp(old->data, data, size);
	if (!r) {
		image_layout_source(data, &now);
		memcpy(h->seal, seal, sizeof(seal));
	}
	return r;
}

/* Enter the image @data under @name, unless one that is as good is there: 0.  Returns 1, or -errno and @e. */
static int enter(const struct stap_images *im, const char *name, const char *file, const uint8_t *id, size_t len,
		 void *data, size_t size, struct err *e)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN }, before;
	struct hvar_image img;
	struct entry old;
	bool better;
	int r;

	if (hvar_image_open(&img, data, size))
		return err_set(e, EFAULT, "no image of '%s': what was made is none: report that with the file", file);
	if (img.build_id_len != len || memcmp(img.build_id, id, len))
		return err_set(e, ESTALE, "no image of '%s': it changed while it was read: try again", file);
	if (map_entry(im, name, id, len, &old)) {
		better = knows_more(&old.img, &img) || same(&old, &img, data, size);
		munmap(old.data, old.size);
		if (better)
			return 0;
	}
	/* a limit on the size of files is an error, not our end */
	sigaction(SIGXFSZ, &ignore, &before);
	r = write_entry(im, name, data, size, e);
	sigaction(SIGXFSZ, &before, NULL);
	return r ? r : 1;
}

/* The image that @r makes, entered.  As enter(). */
static int make(struct stap_images *im, struct reader *r, const char *name, const char *file, const uint8_t *id,
		size_t len, struct err *e)
{
	void *data = NULL;
	size_t size = 0;
	int err = hear(r, file, &data, &size, e);

	if (err)
		return err;
	if (im->made >= MOST_MADE || im->bytes + size > MOST_OF_ALL)
		err = err_set(e, ENOSPC, "no image of '%s': this run has made %u, of %llu MiB: make more with 'hotvar stap --also'",
			      file, im->made, (unsigned long long)im->bytes >> 20);
	else
		err = enter(im, name, file, id, len, data, size, e);
	im->bytes += err == 1 ? size : 0;
	free(data);
	return err;
}

/* What image_build_id() says of the file has to be a build-id. */
static int check_id(int len, const char *file, struct err *e)
{
	if (len == -ENOEXEC)
		return err_set(e, ENOEXEC, "no names of '%s': it is no ELF file: give a program or a library",
			       file);
	if (len < 0)
		return err_set(e, -len, "no names of '%s': it cannot be read: %s: check it", file, strerror(-len));
	if (!len)
		return err_set(e, ENODATA, "no names of '%s': it has no build-id: link it with -Wl,--build-id", file);
	return 0;
}

/* The image called after @id: the one that is there, or the one that @r (NULL: nobody) makes. */
static int put(struct stap_images *im, struct reader *r, const struct stat *st, const char *file, const uint8_t *id,
	       int len, struct err *e)
{
	char name[2 * HVAR_BUILD_ID_MAX + sizeof(".img")];
	struct entry old;
	bool good, there;
	int i, err;

	for (i = 0; i < len; i++)
		sprintf(name + 2 * i, "%02x", id[i]);
	strcpy(name + 2 * len, ".img");
	there = map_entry(im, name, id, (size_t)len, &old);
	good = there && (!r || (is_of(&old.img, st) && !(old.img.flags & HVAR_IMAGE_STRIPPED)));
	if (there)
		munmap(old.data, old.size);
	if (good) {
		im->kept++;
		return 0;
	}
	if (!r) {
		im->missing++;
		return err_set(e, EACCES, "no names of '%s': its symbol image is not in '%s', where we may not write", file, im->path);
	}
	err = make(im, r, name, file, id, (size_t)len, e);
	if (err == 1)
		im->made++;
	else if (!err)
		im->kept++;
	return err;
}

int stap_images_put(struct stap_images *im, int fd, const char *file, int until, struct err *e)
{
	struct identity id = { 0 };
	struct reader r;
	struct stat st;
	int err;

	if (fstat(fd, &st))
		return err_set(e, errno, "no image of '%s': %s: check it", file, strerror(errno));
	if (asked(im, &st))
		return 0;
	if (!im->writable) {
		id.len = image_build_id(fd, id.id, sizeof(id.id));
		err = check_id(id.len, file, e);
		return err ? err : put(im, NULL, &st, file, id.id, id.len, e);
	}
	err = begin_reader(im, fd, file, until, &r, e);
	if (err)
		return err;
	if (!listen_to(&r, &id, sizeof(id)) || id.len > (int)sizeof(id.id))
		err = no_answer(&r, file, e);
	else if (id.e.text[0])
		err = id.len < 0 ? others_error(&id.e, id.len, e) : no_answer(&r, file, e);
	else
		err = check_id(id.len, file, e);
	if (!err)
		err = put(im, &r, &st, file, id.id, id.len, e);
	end_reader(&r);
	return err;
}
