// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * engine_exact.c - the engine that runs CMD under Valgrind, where every access is counted.
 *
 * Each process that CMD becomes or begins connects to a socket of ours and tells what
 * changes in its map; what it has counted is read out of its memfd when its connection
 * ends.  As with perf, the measuring ends with CMD itself: what it leaves running is counted
 * up to then.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "exact_process.h"
#include "exact_spares.h"
#include "exact_uncounted.h"
#include "exact_valgrind.h"
#include "grow.h"
#include "launch.h"
#include "session.h"
#include "target.h"

enum {
	TICK_MS = 200,
	MESSAGE_MAX = sizeof(struct hvt_message) + HVT_COUNTS_MAX * sizeof(struct hvt_count),
	BACKLOG = 128,
	AT_A_TIME = 4096, /* messages of one process, more than a socket holds: one that talks without end does not stop us */
};
_Static_assert(HVT_TEXT_MAX <= HVT_COUNTS_MAX * sizeof(struct hvt_count), "a message has room for a name");

struct connection {
	int fd;			 /* -1: it has ended */
	pid_t peer;		 /* who it is, as the kernel says */
	uid_t uid;
	pid_t pid;		 /* the same; 0: its HVT_HELLO has not come */
};

struct engine {
	struct session *s; /* borrowed */
	struct exact_valgrind valgrind;
	struct launch launch;
	struct exact *x;
	int listen_fd, pidfd;
	int beside_fd, inode_fd; /* another socket, and the file of its name, which is gone */
	struct exact_spares spares;
	char name[96]; /* of the sockets, as the tool takes it */
	struct connection *c;
	struct pollfd *fds;
	size_t n, cap, fds_cap;
	bool ended;
	bool heard;	  /* something of CMD's was, so valgrind has begun to run it */
	uint64_t begin_ns, deadline_ns, begin_cpu_ns;
	uint64_t refused; /* connections and messages that made no sense */
	uint64_t starved; /* processes not heard for want of descriptors */
	uint64_t left;	  /* processes that outlived the measuring */
	_Alignas(8) char message[MESSAGE_MAX];
};

static int available(const struct session *s, struct err *e)
{
	struct exact_valgrind v;

	(void)s;
	return exact_valgrind_find(&v, e);
}

/* ---- the socket ---- */

static int listen_at(const struct sockaddr_un *a, size_t path_len)
{
	socklen_t len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + path_len);
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd >= 0 && !bind(fd, (const struct sockaddr *)a, len) && !listen(fd, BACKLOG))
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

/*
 * An abstract name is known in our network namespace alone.  A process that has one of its own finds another
 * socket among our descriptors; its file is gone at once, so nothing is left behind.  The folder is named by a descriptor:
 * its path may be too long for a socket's name.
 */
static void listen_beside(struct engine *g)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	const char *folder = getenv("TMPDIR");
	int fd = open(folder && *folder ? folder : "/tmp", O_PATH | O_DIRECTORY | O_CLOEXEC);
	size_t n = strlen(g->name);

	snprintf(a.sun_path, sizeof(a.sun_path), "/proc/self/fd/%d/%.80s", fd, g->name);
	g->beside_fd = fd < 0 ? -1 : listen_at(&a, strlen(a.sun_path) + 1);
	if (g->beside_fd >= 0) {
		g->inode_fd = openat(fd, g->name, O_PATH | O_CLOEXEC | O_NOFOLLOW);
		unlinkat(fd, g->name, 0);
	}
	if (fd >= 0)
		close(fd);
	if (g->inode_fd >= 0)
		snprintf(g->name + n, sizeof(g->name) - n, ":/proc/%d/fd/%d", (int)getpid(), g->inode_fd);
}

/* An abstract name: it needs no folder that every child may reach. */
static int listen_here(struct engine *g, struct err *e)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	uint64_t random[2] = { 0 };

	if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random))
		random[0] = clock_now_ns();
	snprintf(g->name, sizeof(g->name), "hotvar-%d-%016llx%016llx", (int)getpid(),
		 (unsigned long long)random[0], (unsigned long long)random[1]);
	memcpy(a.sun_path + 1, g->name, strlen(g->name));
	g->listen_fd = listen_at(&a, 1 + strlen(g->name));
	if (g->listen_fd < 0)
		return err_set(e, errno, "cannot listen to valgrind: a socket: %s; if it is files, raise: ulimit -n",
			       strerror(errno));
	listen_beside(g);
	return 0;
}

/* As many descriptors as we may have; CMD has been begun and has its own limit. */
static void raise_fd_limit(void)
{
	struct rlimit l;

	if (getrlimit(RLIMIT_NOFILE, &l) || l.rlim_cur >= l.rlim_max)
		return;
	l.rlim_cur = l.rlim_max;
	setrlimit(RLIMIT_NOFILE, &l);
}

/* A process that is not answered would wait for ever: it is turned away, and runs on without being counted. */
static bool turn_away(struct engine *g, int listen_fd)
{
	if (!exact_spares_turn_away(&g->spares, listen_fd))
		return false;
	g->starved++;
	return true;
}

static void take_connections(struct engine *g, int listen_fd)
{
	for (;;) {
		int fd = accept4(listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		struct ucred who = { 0 };
		socklen_t len = sizeof(who);

		if (fd < 0 && (errno == EINTR || errno == ECONNABORTED))
			continue;
		if (fd < 0 && (errno == EMFILE || errno == ENFILE) && turn_away(g, listen_fd))
			continue;
		if (fd < 0)
			return;
		if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &len) || who.pid <= 0 ||
		    grow_array((void **)&g->c, &g->cap, g->n + 1, sizeof(*g->c))) {
			g->refused++;
			close(fd);
			continue;
		}
		g->c[g->n++] = (struct connection){ .fd = fd, .peer = who.pid, .uid = who.uid };
	}
}

/*
 * One message into g->message: its length, 0 at the end, -EAGAIN; a descriptor that came with it in *@fd, else -1,
 * or -EMFILE: we can have no more.
 */
static ssize_t hear(struct engine *g, int from, int *fd)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec part = { g->message, sizeof(g->message) };
	struct msghdr h = { .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control,
			    .msg_controllen = sizeof(control) };
	struct cmsghdr *c;
	ssize_t n;

	*fd = -1;
	do
		n = recvmsg(from, &h, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return errno == EAGAIN ? -EAGAIN : 0;
	c = CMSG_FIRSTHDR(&h);
	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS && c->cmsg_len == CMSG_LEN(sizeof(int)))
		memcpy(fd, CMSG_DATA(c), sizeof(*fd));
	else if (h.msg_flags & MSG_CTRUNC)
		*fd = -EMFILE;
	return n;
}

/* ---- processes ---- */

/*
 * Others may find the name of the socket, and connect.  Heard is who has our user, and, since a process may become
 * another user's, one that is heard already and executes a program, or a child of one.
 */
static bool is_ours(const struct engine *g, const struct connection *c, pid_t parent)
{
	return c->uid == geteuid() || c->peer == g->launch.pid || exact_find(g->x, c->peer) ||
	       (parent > 0 && exact_find(g->x, parent));
}

/* Memory of the kernel's of the right size: reading it cannot block, and ends. */
static bool is_counters(int fd)
{
	struct stat st;

	return fd >= 0 && fcntl(fd, F_GET_SEALS) >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode) &&
	       (uint64_t)st.st_size == HVT_SHADOW_SIZE;
}

static void drain(struct engine *g, size_t i);

/* The connection has ended: what its process has counted is all there. */
static void hang_up(struct engine *g, size_t i)
{
	struct exact_process *p = g->c[i].pid ? exact_find(g->x, g->c[i].pid) : NULL;

	if (p)
		exact_harvest(g->x, p, clock_now_ns());
	close(g->c[i].fd);
	g->c[i].fd = -1;
	if (p && !target_state(g->c[i].pid))
		exact_end(g->x, p, clock_now_ns()); /* else it may execute a program just now: that one says hello, or the end comes */
}

/* What @pid, or its parent, was before its exec has closed its connection: hear that out first. */
static void hear_out(struct engine *g, size_t but, pid_t pid)
{
	size_t k;

	for (k = 0; k < g->n && pid > 0; k++)
		if (k != but && g->c[k].fd >= 0 && g->c[k].pid == pid)
			drain(g, k);
}

/* It runs on, and is not counted. */
static void refuse(struct engine *g, size_t i, int fd)
{
	if (fd == -EMFILE)
		g->starved++;
	else
		g->refused++;
	if (fd >= 0)
		close(fd);
	close(g->c[i].fd);
	g->c[i].fd = -1;
}

/* The first message of a connection, of @len bytes, has come with @memfd. */
static void hello(struct engine *g, size_t i, size_t len, int memfd)
{
	struct hvt_message copy = *(const struct hvt_message *)g->message;
	pid_t peer = g->c[i].peer, parent;

	if (len >= sizeof(copy) && copy.type == HVT_UNCOUNTED && copy.version == HVT_VERSION && is_ours(g, &g->c[i], 0) &&
	    !exact_uncounted_take(exact_uncounted(g->x), &copy, g->message + sizeof(copy), len - sizeof(copy))) {
		if (memfd >= 0)
			close(memfd);
		close(g->c[i].fd);
		g->c[i].fd = -1;
		g->heard = true;
		return;
	}
	if (len < sizeof(copy) || copy.type != HVT_HELLO || copy.version != HVT_VERSION || !copy.pid || !is_counters(memfd)) {
		refuse(g, i, memfd);
		return;
	}
	parent = copy.ppid ? (pid_t)target_status(peer, "PPid:") : 0;
	if (!is_ours(g, &g->c[i], parent)) {
		refuse(g, i, memfd);
		return;
	}
	hear_out(g, i, peer);
	hear_out(g, i, parent);
	if (!exact_begin(g->x, &copy, peer, parent, memfd, clock_now_ns())) {
		refuse(g, i, -1);
		return;
	}
	g->c[i].pid = peer;
	g->heard = true;
	send(g->c[i].fd, "", 1, MSG_NOSIGNAL);
}

/* Take the messages that have come. */
static void drain(struct engine *g, size_t i)
{
	int left = AT_A_TIME;

	while (left-- && g->c[i].fd >= 0) {
		struct exact_process *p;
		ssize_t n;
		int fd;

		n = hear(g, g->c[i].fd, &fd);
		if (n == -EAGAIN)
			return;
		if (!n) {
			hang_up(g, i);
			return;
		}
		if (!g->c[i].pid) {
			hello(g, i, (size_t)n, fd);
			continue;
		}
		if (fd >= 0)
			close(fd);
		p = exact_find(g->x, g->c[i].pid);
		if (!p || exact_take(g->x, p, g->message, (size_t)n, clock_now_ns()) == -EINVAL)
			g->refused++;
	}
}

static void forget_ended(struct engine *g)
{
	size_t i, n = 0;

	for (i = 0; i < g->n; i++)
		if (g->c[i].fd >= 0)
			g->c[n++] = g->c[i];
	g->n = n;
}

static void take_all(struct engine *g)
{
	size_t i;

	take_connections(g, g->listen_fd);
	if (g->beside_fd >= 0)
		take_connections(g, g->beside_fd);
	for (i = 0; i < g->n; i++)
		if (g->c[i].fd >= 0)
			drain(g, i);
	forget_ended(g);
	exact_spares_take(&g->spares);
}

/* ---- beginning, middle, end ---- */

static int set_up(struct engine *g, struct err *e)
{
	int err;

	g->begin_cpu_ns = clock_own_cpu_ns();
	g->x = exact_new(g->s->out, e);
	if (!g->x)
		return -ENOMEM;
	err = exact_valgrind_find(&g->valgrind, e);
	if (!err)
		err = listen_here(g, e);
	if (err)
		return err;
	stream_put_meta(g->s->out, "source", "valgrind");
	stream_put_meta(g->s->out, "maps", "valgrind");
	return 0;
}

static void tear_down(struct engine *g)
{
	size_t i;

	for (i = 0; i < g->n; i++)
		if (g->c[i].fd >= 0)
			close(g->c[i].fd);
	free(g->c);
	free(g->fds);
	if (g->listen_fd >= 0)
		close(g->listen_fd);
	if (g->beside_fd >= 0)
		close(g->beside_fd);
	if (g->inode_fd >= 0)
		close(g->inode_fd);
	exact_spares_close(&g->spares);
	if (g->pidfd >= 0)
		close(g->pidfd);
	exact_free(g->x);
}

/* Valgrind's own variables are for its process alone. */
static int launch_valgrind(struct engine *g, char *const *argv, struct err *e)
{
	char *lib = getenv("VALGRIND_LIB"), folder[sizeof(g->valgrind.folder) + 8];
	int err;

	snprintf(folder, sizeof(folder), "%s%s", g->valgrind.folder, exact_valgrind_keeps_malloc(g->s->exact_malloc) ? "" : "/heap");
	lib = lib ? strdup(lib) : NULL;
	setenv("VALGRIND_LIB", folder, 1);
	snprintf(g->launch.path, sizeof(g->launch.path), "%s", g->valgrind.launcher);
	err = launch_fork(&g->launch, argv, false, e);
	if (lib)
		setenv("VALGRIND_LIB", lib, 1);
	else
		unsetenv("VALGRIND_LIB");
	free(lib);
	return err;
}

static int launch(struct engine *g, struct err *e)
{
	char **argv;
	int err = launch_find(&g->launch, g->s->argv, e);

	if (!err)
		err = exact_valgrind_can_run(g->launch.path, e);
	if (err)
		return err;
	g->valgrind.stopped = g->s->exact_stopped;
	g->valgrind.prefetches = g->s->exact_prefetches;
	g->valgrind.callers = g->s->exact_callers;
	g->valgrind.lines = g->s->exact_lines;
	argv = exact_valgrind_argv(&g->valgrind, g->s->argv, g->launch.path, g->name, g->s->exact_malloc);
	if (!argv)
		return err_set(e, ENOMEM, "cannot start '%s': no memory; free some", g->launch.path);
	err = launch_valgrind(g, argv, e);
	if (!err) {
		g->begin_ns = clock_now_ns();
		launch_go(&g->launch);
		err = launch_result(&g->launch, true, e);
		g->s->pid = g->launch.pid;
	}
	free(argv);
	return err < 0 ? err : 0;
}

static void reap(struct engine *g)
{
	int status;
	pid_t got = waitpid(g->launch.pid, &status, WNOHANG);

	if (got == g->launch.pid)
		g->s->wait_status = status;
	g->ended = got == g->launch.pid || (got < 0 && errno == ECHILD);
}

static int wait_for_news(struct engine *g)
{
	uint64_t now = clock_now_ns();
	int ms = TICK_MS;
	size_t i;

	if (g->deadline_ns && g->deadline_ns < now + (uint64_t)ms * 1000000)
		ms = g->deadline_ns <= now ? 0 : (int)((g->deadline_ns - now + 999999) / 1000000);
	if (grow_array((void **)&g->fds, &g->fds_cap, g->n + 3, sizeof(*g->fds)))
		return -ENOMEM;
	g->fds[0] = (struct pollfd){ .fd = g->listen_fd, .events = POLLIN };
	g->fds[1] = (struct pollfd){ .fd = g->pidfd, .events = POLLIN };
	g->fds[2] = (struct pollfd){ .fd = g->beside_fd, .events = POLLIN };
	for (i = 0; i < g->n; i++)
		g->fds[i + 3] = (struct pollfd){ .fd = g->c[i].fd, .events = POLLIN };
	poll(g->fds, g->n + 3, ms);
	return 0;
}

static bool asked_to_end(const struct engine *g)
{
	return session_stopping() && session_heed(g->s, g->launch.pid, target_state(g->launch.pid) == 'T');
}

static void measure(struct engine *g)
{
	uint64_t tick_ns = 0;

	if (g->s->seconds > 0)
		g->deadline_ns = g->begin_ns + (uint64_t)(g->s->seconds * 1e9);
	while (!wait_for_news(g)) {
		uint64_t now = clock_now_ns();

		take_all(g);
		reap(g);
		if (g->ended || (g->deadline_ns && now >= g->deadline_ns) || asked_to_end(g))
			return;
		if (now < tick_ns)
			continue;
		tick_ns = now + TICK_MS * 1000000ull;
		stream_flush(g->s->out);
	}
}

/* What the processes that still run have counted so far. */
static void take_the_rest(struct engine *g)
{
	struct exact_process *p;
	size_t i;

	take_all(g);
	for (i = 0; i < g->n; i++) {
		p = g->c[i].pid ? exact_find(g->x, g->c[i].pid) : NULL;
		if (!p)
			continue;
		exact_harvest(g->x, p, clock_now_ns());
		if (g->c[i].pid != g->launch.pid)
			g->left++;
	}
}

static void finish(struct engine *g)
{
	struct stream_end end = { .wait_status = -1 };
	struct session *s = g->s;

	take_the_rest(g);
	end.time_ns = clock_now_ns();
	exact_tell_losses(g->x, end.time_ns);
	if (!exact_accesses(g->x) && g->ended)
		session_note(s, s->exact_stopped ? "nothing was counted: the program has not asked for it, with HOTVAR_START of hotvar.h" :
						   "nothing was counted: the program was ended before its first access was");
	if (WIFSIGNALED(s->wait_status) && s->wait_status != -1 && WTERMSIG(s->wait_status) == SIGILL)
		session_note(s, "a process ended by SIGILL: valgrind may not know an instruction of it, which it then names above");
	exact_uncounted_note(exact_uncounted(g->x), s);
	if (g->left)
		session_note(s, "%llu processes that run on were counted up to now", (unsigned long long)g->left);
	if (exact_torn(g->x))
		session_note(s, "%llu processes changed their map in the very moment that counting ended: what was counted in that part of it is missing or counted twice", (unsigned long long)exact_torn(g->x));
	if (exact_shared_threads(g->x))
		session_note(s, "%llu threads, beyond %d at a time, count as one thread of no number", (unsigned long long)exact_shared_threads(g->x), HVT_SHARED_SLOT);
	if (g->starved)
		session_note(s, "%llu processes were not counted: too many at a time for our open files: raise: ulimit -n", (unsigned long long)g->starved);
	if (g->refused)
		session_note(s, "%llu messages made no sense and were left out", (unsigned long long)g->refused);
	s->accesses = exact_accesses(g->x);
	s->elapsed_ns = end.time_ns - g->begin_ns;
	s->still_running = !g->ended;
	if (s->note[0])
		stream_put_meta(s->out, "note", "%s", s->note);
	end.elapsed_ns = s->elapsed_ns;
	end.wait_status = s->wait_status;
	end.own_cpu_ns = clock_own_cpu_ns() - g->begin_cpu_ns;
	stream_put(s->out, STREAM_END, &end, sizeof(end), NULL, 0);
	stream_flush(s->out);
}

/* Valgrind, or the tool in it, has ended without running CMD. */
static bool not_begun(const struct engine *g)
{
	return g->ended && !g->heard && !g->refused && !g->starved;
}

static int run(struct session *s, struct err *e)
{
	struct engine *g = calloc(1, sizeof(*g));
	int err;

	if (!g)
		return err_set(e, ENOMEM, "cannot measure: no memory");
	g->s = s;
	g->listen_fd = g->beside_fd = g->inode_fd = g->pidfd = -1;
	g->spares = EXACT_SPARES_NONE;
	g->launch.go_fd = g->launch.why_fd = -1;
	err = set_up(g, e);
	if (!err)
		err = launch(g, e);
	if (!err) {
		raise_fd_limit();
		exact_spares_take(&g->spares);
		g->pidfd = (int)syscall(SYS_pidfd_open, g->launch.pid, 0);
		measure(g);
		if (not_begun(g))
			err = exact_valgrind_failed(s->argv[0], s->wait_status, e);
		else
			finish(g);
	}
	tear_down(g);
	free(g);
	return err;
}

const struct session_engine engine_exact = {
	.name = "valgrind",
	.available = available,
	.run = run,
	.serve = session_wait,
};
