// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "stap_text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST = 16 << 20 };

char *stap_text_read(const char *path, size_t *size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), error = 0;
	size_t got = 0, room;
	char *s = NULL;
	struct stat st;

	if (fd < 0)
		return NULL;
	if (fstat(fd, &st))
		error = errno;
	else if (!S_ISREG(st.st_mode))
		error = EINVAL;
	else if (st.st_size > MOST)
		error = EFBIG;
	room = error ? 0 : (size_t)st.st_size;
	if (!error && !(s = malloc(room + 1)))
		error = ENOMEM;
	while (!error && got < room) {
		ssize_t n = read(fd, s + got, room - got);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			error = errno;
		if (n <= 0)
			break;
		got += (size_t)n;
	}
	close(fd);
	if (error) {
		free(s);
		errno = error;
		return NULL;
	}
	s[got] = '\0';
	if (size)
		*size = got;
	return s;
}

/*
 * /usr/bin/app		what needs none has no quotes
 * $'/tmp/a\'s \012'	all else, as bash, zsh and ksh read it
 */
char *stap_text_word(const char *s)
{
	char *out = malloc(4 * strlen(s) + 4), *to = out;

	if (!out)
		return NULL;
	if (*s && !s[strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._+-@%:,=")])
		return strcpy(out, s);
	to = stpcpy(to, "$'");
	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;

		if (c < ' ' || c == 0x7f)
			to += sprintf(to, "\\%03o", c);
		else if (c == '\'' || c == '\\')
			to += sprintf(to, "\\%c", c);
		else
			*to++ = *s;
	}
	strcpy(to, "'");
	return out;
}
