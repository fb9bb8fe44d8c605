// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * uncounted.c - runs a 32-bit program that a counted one executes, and tells hotvar that it is not counted.
 *
 * Valgrind's launcher looks for a tool for the program's own kind: hotvar-x86-linux, which is this.  Its arguments
 * are valgrind's: options, then the program and its arguments.
 */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "runtime/valgrind/hvt_wire.h"

#define SOCKET "--hotvar-socket="

/* The @n bytes at @name, an abstract name or a path: a connection, or -1. */
static int open_one(const char *name, size_t n, int abstract)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	if (fd < 0 || n + 1 > sizeof(a.sun_path)) {
		if (fd >= 0)
			close(fd);
		return -1;
	}
	memcpy(a.sun_path + abstract, name, n);
	if (!connect(fd, (const struct sockaddr *)&a, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + n)))
		return fd;
	close(fd);
	return -1;
}

static void tell(const char *name, const char *program)
{
	struct {
		struct hvt_message m;
		char text[HVT_TEXT_MAX];
	} out = { .m = { .type = HVT_UNCOUNTED, .version = HVT_VERSION, .flags = HVT_OTHER_CLASS } };
	const char *path = strchr(name, ':');
	size_t n = path ? (size_t)(path - name) : strlen(name), len = strlen(program);
	int fd = open_one(name, n, 1);

	if (fd < 0 && path)
		fd = open_one(path + 1, strlen(path + 1), 0);
	if (fd < 0)
		return;
	out.m.pid = out.m.tid = (uint32_t)getpid();
	len = len < sizeof(out.text) ? len : 0;
	memcpy(out.text, program, len);
	send(fd, &out, sizeof(out.m) + len, MSG_NOSIGNAL);
	close(fd);
}

int main(int argc, char **argv)
{
	const char *name = NULL;
	int i;

	for (i = 1; i < argc && argv[i][0] == '-'; i++) {
		if (!strncmp(argv[i], SOCKET, strlen(SOCKET)))
			name = argv[i] + strlen(SOCKET);
		if (!strcmp(argv[i], "--")) {
			i++;
			break;
		}
	}
	if (i >= argc)
		return 127;
	if (name)
		tell(name, argv[i]);
	unsetenv("VALGRIND_LIB");
	unsetenv("VALGRIND_LAUNCHER");
	execv(argv[i], argv + i);
	fprintf(stderr, "hotvar: cannot run '%s': %s\n", argv[i], strerror(errno));
	return errno == ENOENT ? 127 : 126;
}
