// SPDX-License-Identifier: GPL-2.0-or-later
#include "hvt_link.h"

#include "pub_tool_libcbase.h"
#include "pub_tool_libcfile.h"
#include "pub_tool_libcproc.h"
#include "pub_tool_vki.h"
#include "pub_tool_vkiscnums.h"

#include "hvt_sys.h"

/* Valgrind's own descriptors begin here: the program may not touch them. */
extern Int VG_(fd_hard_limit);

/* The kernel's, as <sys/socket.h> has them. */
enum {
	AF_UNIX_ = 1,
	SOCK_SEQPACKET_ = 5,
	SOCK_CLOEXEC_ = 02000000,
	SOL_SOCKET_ = 1,
	SCM_RIGHTS_ = 1,
	MSG_NOSIGNAL_ = 0x4000,
	F_DUPFD_CLOEXEC_ = 1030,
};

struct address {
	UShort family;
	HChar path[108];
};

struct part {
	const void *base;
	SizeT len;
};

struct header {
	struct address *name;
	Int namelen;
	struct part *parts;
	SizeT nparts;
	void *control;
	SizeT controllen;
	UInt flags;
};

struct right {
	SizeT len;
	Int level, type;
	Int fd, pad;
};

static const HChar *link_name;
static Int link_fd = -1;

void hvt_link_name(const HChar *name)
{
	link_name = name;
}

Int hvt_link_safe_fd(Int fd)
{
	long moved = hvt_sys(__NR_fcntl, fd, F_DUPFD_CLOEXEC_, VG_(fd_hard_limit), 0, 0, 0);

	if (moved < 0)
		return fd;
	VG_(close)(fd);
	return (Int)moved;
}

/* Connect to the @n bytes at @name: an abstract name, or a path. */
static Int open_one(const HChar *name, SizeT n, Bool abstract)
{
	struct address a;
	long fd, ret;

	if (!n || n + 1 > sizeof(a.path))
		return -1;
	VG_(memset)(&a, 0, sizeof(a));
	a.family = AF_UNIX_;
	VG_(memcpy)(a.path + (abstract ? 1 : 0), name, n);
	fd = hvt_sys(__NR_socket, AF_UNIX_, SOCK_SEQPACKET_ | SOCK_CLOEXEC_, 0, 0, 0, 0);
	if (fd < 0)
		return -1;
	fd = hvt_link_safe_fd((Int)fd);
	do
		ret = hvt_sys(__NR_connect, fd, (long)&a, (long)(sizeof(a.family) + 1 + n), 0, 0, 0);
	while (ret == -VKI_EINTR);
	if (ret < 0) {
		VG_(close)((Int)fd);
		return -1;
	}
	return (Int)fd;
}

/* NAME, or NAME:PATH, where PATH leads to hotvar from another network namespace, too. */
static Int open_link(void)
{
	const HChar *path = VG_(strchr)(link_name, ':');
	SizeT n = path ? (SizeT)(path - link_name) : VG_(strlen)(link_name);
	Int fd = open_one(link_name, n, True);

	if (fd < 0 && path)
		fd = open_one(path + 1, VG_(strlen)(path + 1), False);
	return fd;
}

static void put(struct hvt_message *m, const void *more, SizeT len, Int fd)
{
	struct part parts[2] = { { m, sizeof(*m) }, { more, len } };
	struct right right = { sizeof(right) - sizeof(right.pad), SOL_SOCKET_, SCM_RIGHTS_, fd, 0 };
	struct header h = { .parts = parts, .nparts = len ? 2 : 1 };
	long ret;

	if (link_fd < 0)
		return;
	if (fd >= 0) {
		h.control = &right;
		h.controllen = sizeof(right);
	}
	m->version = HVT_VERSION;
	m->pid = (UInt)VG_(getpid)();
	if (!m->tid)
		m->tid = m->pid;
	do
		ret = hvt_sys(__NR_sendmsg, link_fd, (long)&h, MSG_NOSIGNAL_, 0, 0, 0);
	while (ret == -VKI_EINTR);
	if (ret < 0) {
		VG_(close)(link_fd);
		link_fd = -1;
	}
}

void hvt_link_send(struct hvt_message *m, const void *more, SizeT len)
{
	put(m, more, len, -1);
}

Bool hvt_link_hello(Int fd, UInt ppid)
{
	struct hvt_message m;
	HChar byte;
	long ret;

	if (link_fd >= 0)
		VG_(close)(link_fd);
	link_fd = link_name ? open_link() : -1;
	VG_(memset)(&m, 0, sizeof(m));
	m.type = HVT_HELLO;
	m.ppid = ppid;
	put(&m, NULL, 0, fd);
	if (link_fd < 0)
		return False;
	do
		ret = hvt_sys(__NR_read, link_fd, (long)&byte, 1, 0, 0, 0);
	while (ret == -VKI_EINTR);
	if (ret != 1) {
		VG_(close)(link_fd);
		link_fd = -1;
	}
	return link_fd >= 0;
}
