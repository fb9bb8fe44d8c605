// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * stream_file.c - a recording in a file: buffered, written from start to end.
 *
 * Nothing that was written is ever gone back to, so what a full disk or a kill
 * leaves is readable up to its last whole record.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "stream_frame.h"
#include "stream_sink.h"

enum { FILE_BUFFER = 256 << 10 };

struct file {
	struct stream s;
	int fd;
	char *path;
	char *buf;
	size_t used, cap;
	uint64_t written; /* bytes */
	uint64_t safe;	  /* records before this number are in the file */
	bool has_old;	  /* an older recording is still in it */
};

/*
 * A closed pipe and a file at its size limit raise a signal in the writing
 * thread; its disposition is the program's, and CMD inherits it, so it is
 * blocked around the write and taken off again.
 */
static ssize_t write_quietly(int fd, const void *p, size_t n)
{
	static const struct timespec no_wait;
	sigset_t ours, was, pending;
	ssize_t ret;
	int error;

	sigemptyset(&ours);
	sigpending(&pending);
	if (!sigismember(&pending, SIGPIPE))
		sigaddset(&ours, SIGPIPE);
	if (!sigismember(&pending, SIGXFSZ))
		sigaddset(&ours, SIGXFSZ);
	pthread_sigmask(SIG_BLOCK, &ours, &was);
	ret = write(fd, p, n);
	error = errno;
	if (ret < 0 && (error == EPIPE || error == EFBIG))
		while (sigtimedwait(&ours, NULL, &no_wait) < 0 && errno == EINTR)
			;
	pthread_sigmask(SIG_SETMASK, &was, NULL);
	errno = error;
	return ret;
}

static int write_all(struct file *f, const char *p, size_t n)
{
	while (n) {
		ssize_t done = write_quietly(f->fd, p, n);

		if (done > 0) {
			p += done;
			n -= (size_t)done;
			f->written += (uint64_t)done;
		} else if (done == 0) {
			return -EIO;
		} else if (errno == EAGAIN) {
			struct pollfd wait = { .fd = f->fd, .events = POLLOUT };

			poll(&wait, 1, -1);
		} else if (errno != EINTR) {
			return -errno;
		}
	}
	return 0;
}

static int file_flush(struct stream *s)
{
	struct file *f = (struct file *)s;
	int ret = 0;

	/* The old recording goes when there is a new one to write, not before. */
	if (f->has_old && ftruncate(f->fd, 0))
		ret = -errno;
	f->has_old = false;
	if (!ret)
		ret = write_all(f, f->buf, f->used);
	f->used = 0;
	if (ret)
		s->dropped += s->number - f->safe;
	else
		f->safe = s->number;
	return ret;
}

static int file_room(struct stream *s, size_t n, void **p)
{
	struct file *f = (struct file *)s;

	if (f->used && n > f->cap - f->used) {
		int ret = file_flush(s);

		if (ret)
			return ret;
	}
	if (n > f->cap) {
		char *buf = realloc(f->buf, n);

		if (!buf)
			return -ENOMEM;
		f->buf = buf;
		f->cap = n;
	}
	*p = f->buf + f->used;
	return 0;
}

static void file_take(struct stream *s, size_t n)
{
	struct file *f = (struct file *)s;

	f->used += n;
}

static void file_free(struct file *f)
{
	if (f->fd > STDERR_FILENO)
		close(f->fd);
	free(f->path);
	free(f->buf);
	free(f);
}

static const char *remedy(int error)
{
	switch (error) {
	case ENOSPC:
	case EDQUOT:
		return "free some space, or record to another disk with -o FILE";
	case EFBIG:
		return "raise the limit (ulimit -f unlimited), or record to another file system";
	case EPIPE:
		return "the reader of the pipe has gone: keep it running until the end";
	case ENOMEM:
		return "free some memory, or record at a lower rate with -F";
	}
	return "record to another place with -o FILE";
}

static int file_close(struct stream *s, struct err *e)
{
	struct file *f = (struct file *)s;
	int ret = s->error;

	/* Network file systems tell of a full disk only here. */
	if (f->fd > STDERR_FILENO) {
		if (close(f->fd) && !ret && errno != EINTR)
			ret = -errno;
		f->fd = -1;
	}
	if (ret)
		err_set(e, -ret,
			"cannot write recording '%s' past byte %llu: %s (up to %llu records are missing, those before are readable): %s",
			f->path, (unsigned long long)f->written, strerror(-ret),
			(unsigned long long)s->dropped, remedy(-ret));
	file_free(f);
	return ret;
}

static const struct stream_sink file_sink = {
	.checksums = true,
	.room = file_room,
	.take = file_take,
	.flush = file_flush,
	.close = file_close,
};

/* May what is in this regular file be thrown away? */
static int check_old(int fd, const char *path, off_t size, bool *has_old, struct err *e)
{
	char magic[sizeof(STREAM_MAGIC) - 1];

	if (flock(fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK)
		return err_set(e, EBUSY,
			       "cannot record to '%s': another hotvar is writing it: give another file with -o",
			       path);
	if (!size)
		return 0;
	if (pread(fd, magic, sizeof(magic), 0) != sizeof(magic) ||
	    memcmp(magic, STREAM_MAGIC, sizeof(magic)))
		return err_set(e, EEXIST,
			       "will not write over '%s': it is not empty and no recording of hotvar's: remove it, or give another file with -o",
			       path);
	*has_old = true;
	return 0;
}

static int open_path(const char *path, bool *has_old, struct err *e)
{
	struct stat st;
	int flags = O_CREAT | O_CLOEXEC | O_NOCTTY, fd, ret;

	/* A regular file is read first; a pipe must not be open for reading here. */
	if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
		flags |= O_WRONLY;
	else
		flags |= O_RDWR;
	fd = open(path, flags, 0666);
	if (fd < 0)
		return err_set(e, errno, "cannot record to '%s': %s: give another file with -o",
			       path, strerror(errno));
	if (fstat(fd, &st))
		ret = err_set(e, errno, "cannot record to '%s': %s: give another file with -o",
			      path, strerror(errno));
	else
		ret = S_ISREG(st.st_mode) ? check_old(fd, path, st.st_size, has_old, e) : 0;
	if (ret) {
		close(fd);
		return ret;
	}
	return fd;
}

struct stream *stream_to_file(const char *path, struct err *e)
{
	bool is_stdout = !strcmp(path, "-");
	struct stream_file_head head;
	struct file *f = calloc(1, sizeof(*f));

	if (!f)
		goto no_memory;
	f->s.sink = &file_sink;
	f->fd = -1;
	f->cap = FILE_BUFFER;
	f->buf = malloc(f->cap);
	f->path = strdup(is_stdout ? "standard output" : path);
	if (!f->buf || !f->path)
		goto no_memory;
	if (is_stdout && isatty(STDOUT_FILENO)) {
		err_exit(e, EINVAL, 2,
			 "will not record to a terminal: recordings are binary: give a file with -o FILE, or a pipe");
		goto failed;
	}
	f->fd = is_stdout ? STDOUT_FILENO : open_path(path, &f->has_old, e);
	if (f->fd < 0)
		goto failed;
	stream_file_head_fill(&head);
	memcpy(f->buf, &head, sizeof(head));
	f->used = sizeof(head);
	return &f->s;

no_memory:
	err_set(e, ENOMEM, "cannot record to '%s': no memory: free some", path);
failed:
	if (f)
		file_free(f);
	return NULL;
}
