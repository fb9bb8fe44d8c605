// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "import_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "import_line.h"
#include "stream_frame.h"

enum { BUFFER = 256 << 10, LOOK_AT = 64 << 10, LINE_MOST = 64 << 10 };

/* Have more in the buffer; false: there is no more, or no room. */
static bool fill(struct import_file *f)
{
	ssize_t got;

	if (f->pos) {
		memmove(f->buf, f->buf + f->pos, f->len - f->pos);
		f->len -= f->pos;
		f->pos = 0;
	}
	if (f->ended || f->len == f->cap)
		return false;
	do
		got = read(f->fd, f->buf + f->len, f->cap - f->len);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		f->error = errno;
	if (got <= 0) {
		f->ended = true;
		return false;
	}
	f->len += (size_t)got;
	return true;
}

const char *import_file_line(struct import_file *f, size_t *len)
{
	bool skipping = false;

	for (;;) {
		char *line = f->buf + f->pos, *end = memchr(line, '\n', f->len - f->pos);

		if (!end && f->len - f->pos < LINE_MOST && fill(f))
			continue;
		line = f->buf + f->pos;
		f->whole = end != NULL;
		if (!end)
			end = f->buf + f->len;
		*len = (size_t)(end - line);
		if (!f->whole && !f->ended) { /* longer than any line is */
			skipping = true;
			f->pos = f->len;
			continue;
		}
		if (!f->whole && !*len && !skipping)
			return NULL;
		f->pos += *len + f->whole;
		f->line++;
		if (!skipping && *len < LINE_MOST)
			return line;
		f->too_long++;
		if (!f->whole)
			return NULL;
		skipping = false;
	}
}

/* Is there a line of perf's in what was read? */
static bool is_text(const struct import_file *f)
{
	const char *p = f->buf, *end = f->buf + f->len;

	while (p < end) {
		const char *nl = memchr(p, '\n', (size_t)(end - p));
		struct import_line l;

		if (!nl && !f->ended)
			return false;
		import_line(p, (size_t)((nl ? nl : end) - p), &l);
		if (l.what != IMPORT_NOTHING && l.what != IMPORT_FRAME && l.what != IMPORT_BAD)
			return true;
		p = nl ? nl + 1 : end;
	}
	return false;
}

static enum import_file_kind kind_of(struct import_file *f)
{
	while (f->len < sizeof(STREAM_MAGIC) - 1 && fill(f))
		;
	if (f->len >= sizeof(STREAM_MAGIC) - 1 && !memcmp(f->buf, STREAM_MAGIC, sizeof(STREAM_MAGIC) - 1))
		return IMPORT_FILE_OTHER;
	/* Of either order of bytes. */
	if (f->len >= 8 && (!memcmp(f->buf, "PERFILE2", 8) || !memcmp(f->buf, "2ELIFREP", 8)))
		return IMPORT_FILE_DATA;
	while (f->len < LOOK_AT && fill(f))
		;
	return is_text(f) ? IMPORT_FILE_TEXT : IMPORT_FILE_OTHER;
}

int import_file_open(struct import_file *f, const char *path, struct err *e)
{
	bool is_stdin = !strcmp(path, "-");
	struct stat st;

	memset(f, 0, sizeof(*f));
	f->name = is_stdin ? "standard input" : path;
	f->fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (f->fd < 0)
		return err_set(e, errno, "cannot open recording '%s': %s: name one with -i FILE, or make one with hotvar record",
			       path, strerror(errno));
	f->cap = BUFFER;
	f->buf = malloc(f->cap);
	if (!f->buf) {
		import_file_close(f);
		return err_set(e, ENOMEM, "cannot read '%s': no memory: free some", path);
	}
	if (!fstat(f->fd, &st) && S_ISREG(st.st_mode))
		f->mtime_ns = (uint64_t)st.st_mtim.tv_sec * 1000000000u + (uint64_t)st.st_mtim.tv_nsec;
	f->kind = kind_of(f);
	return 0;
}

void import_file_close(struct import_file *f)
{
	if (f->fd > STDERR_FILENO)
		close(f->fd);
	free(f->buf);
	f->buf = NULL;
	f->fd = -1;
}
