# SPDX-License-Identifier: GPL-2.0-or-later
# exact-forged.sh - hotvar --exact: what others say on its socket, and descriptors that run out, change no count and stop nobody.
. "$top_srcdir/testsuite/lib.sh"
. "$top_srcdir/testsuite/exact.sh"

cat > "$tmp/honest.c" <<'END'
#include <stdio.h>
#include <unistd.h>
volatile long honest;
static void many(void) { for (int i = 0; i < 100; i++) honest++; }
int main(void)
{
	char c;
	many();
	printf("%d\n", (int)getpid());
	fflush(stdout);
	while (read(0, &c, 1) > 0) ;
	many();
	return 0;
}
END
check "a program to count" "${CC:-cc}" -O1 -g -static -o "$tmp/honest" "$tmp/honest.c"

cat > "$tmp/forge.c" <<'END'
/*
 * forge SOCKET PID zero|pipe|none|short|counts|heap|stack|prefetch|lines|holes: a process of that number begins, with those counters; what the
 * answer is.  heap: then nonsense of objects and sites, in the counters' file and in messages; stack: of frames.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include "runtime/valgrind/hvt_frame_wire.h"
#include "runtime/valgrind/hvt_line_wire.h"
#include "runtime/valgrind/hvt_wire.h"
static void say(int s, uint32_t type, uint32_t slot, uint64_t start, const void *more, size_t len)
{
	struct hvt_message m = { .type = type, .version = HVT_VERSION, .slot = slot, .start = start };
	struct iovec parts[2] = { { &m, sizeof(m) }, { (void *)more, len } };
	struct msghdr h = { .msg_iov = parts, .msg_iovlen = len ? 2 : 1 };

	sendmsg(s, &h, MSG_NOSIGNAL);
}
static void forge_heap(int s, int fd)
{
	struct hvt_site site = { .objects = 1, .gone_objects = 2, .reads = ~0ull, .slots = ~0ull, .offsets = ~0u, .n_offsets = ~0u };
	struct hvt_object e[64];
	uint32_t numbers[] = { 0, 1, 5, ~0u };
	size_t i;

	for (i = 0; i < 64; i++)
		e[i] = (struct hvt_object){ (uint32_t)(i % 4) | (i % 3 ? HVT_OBJECT_ODD : 0), i % 5 ? ~0u : 1000 };
	if (pwrite(fd, e, sizeof(e), (off_t)(HVT_OBJECTS + 0x4000 / HVT_OBJECT_GRAIN * sizeof(e[0]))) < 0 ||
	    pwrite(fd, &site, sizeof(site), (off_t)(HVT_SITES + sizeof(site))) < 0 || pwrite(fd, e, sizeof(e), (off_t)(HVT_MARKS_READ + 0x4000 / 8)) < 0)
		perror("pwrite");
	say(s, HVT_SITE, 0, 0, "f\0f\0" "1\0m\0" "1\0", 10);  /* no number */
	say(s, HVT_SITE, 0, ~0ull, NULL, 0);                   /* none, either */
	say(s, HVT_SITE, 0, 1, "f\0f\0" "1\0m\0" "1", 9);     /* a string without an end */
	say(s, HVT_SITE, 0, 1, "f\0f\0" "1\0m\0", 8);         /* too few strings */
	say(s, HVT_SITE, 0, 1, "\033[2Jf\0f\0" "x\0m\0" "y\0", 14);
	say(s, HVT_SITE, 0, 2, NULL, 0);
	say(s, HVT_SITES_OF, 99, 0, numbers, sizeof(numbers)); /* no slot */
	say(s, HVT_SITES_OF, 0, 0, numbers, sizeof(numbers));  /* no sites */
	say(s, HVT_SITES_OF, 0, 0, numbers, 3);
}
static void forge_stack(int s, int fd)
{
	struct hvt_stack_count c = { .ip = 0x4010, .offset = -8, .size = 8, .flags = HVT_POINT_CFA, .len = 4, .reads = 3, .writes = 1 }, bad;
	struct hvt_stack_head head = { .top = 12345, .lo = ~0ull, .hi = 1, .slot = 77 }; /* of slot 0: in no frame, no stack */
	struct hvt_stack_head round = { .top = sizeof(struct hvt_frame), .hi = ~0ull };
	struct hvt_frame frames[2] = { { 0x9000, 1, ~0ull, 0 }, { 0x4008, 1, ~0ull, 0 } }; /* the code is nowhere */
	struct hvt_points points = { .n = ~0u };
	struct hvt_owned owned[128];
	size_t i;

	for (i = 0; i < 128; i++)
		owned[i] = (struct hvt_owned){ i % 3 ? ~0ull : 0x4010, (int32_t)0x80000000, i % 2 ? 99 : 0, 1, 1 };
	if (pwrite(fd, &head, sizeof(head), (off_t)(HVT_STACK(0) + HVT_STACK_HEAD)) < 0 ||
	    pwrite(fd, &round, sizeof(round), (off_t)(HVT_STACK(1) + HVT_STACK_HEAD)) < 0 ||
	    pwrite(fd, frames, sizeof(frames), (off_t)(HVT_STACK(1) + HVT_FRAME_FIRST)) < 0 ||
	    pwrite(fd, &points, sizeof(points), (off_t)HVT_POINTS) < 0 || pwrite(fd, owned, sizeof(owned), (off_t)HVT_OWNED) < 0)
		perror("pwrite");
	say(s, HVT_STACK_COUNTS, 0, 0, &c, sizeof(c));         /* good: of code that is not there */
	say(s, HVT_STACK_COUNTS, 99, 0, &c, sizeof(c));        /* no slot */
	say(s, HVT_STACK_COUNTS, 0, 0, NULL, 0);               /* of nothing */
	say(s, HVT_STACK_COUNTS, 0, 0, &c, sizeof(c) - 1);
	bad = c, bad.ip = 0;
	say(s, HVT_STACK_COUNTS, 0, 0, &bad, sizeof(bad));
	bad.ip = 1ull << 47;
	say(s, HVT_STACK_COUNTS, 0, 0, &bad, sizeof(bad));
	bad = c, bad.flags = 255;
	say(s, HVT_STACK_COUNTS, 0, 0, &bad, sizeof(bad));
}
static void forge_prefetch(int s, int fd)
{
	struct hvt_prefetch c[3] = { [1] = { .executed = 5, .used = 4, .unused = 2 }, [2] = { .executed = ~0ull, .unmapped = ~0ull } };
	struct hvt_prefetch_sight see = { .addr = ~0ull, .base = ~0ull - 1, .object = ~0ull, .object_size = ~0ull, .object_site = ~0ull };

	if (pwrite(fd, c, sizeof(c), (off_t)HVT_PREFETCHES) < 0)
		perror("pwrite");
	say(s, HVT_PREFETCH, HVT_PREFETCHES_MAX, 1, "f\0f\0" "1", 6); /* no number */
	say(s, HVT_PREFETCH, 2, 1, "f\0f\0" "1", 5);                /* a string without an end */
	say(s, HVT_PREFETCH, 2, 1, "f\0f", 4);                      /* too few */
	say(s, HVT_PREFETCH_SEEN, 2, 0, &see, sizeof(see));          /* not told of, and flags that say nothing */
	say(s, HVT_PREFETCH, 1, 1, "liar\0x.c\0" "1", 11);
	say(s, HVT_PREFETCH, 2, 2, "liar\0x.c\0" "2", 11);
	say(s, HVT_PREFETCH_SEEN, 2, 0, &see, 3);
}
static void forge_lines(int s, int fd, uint32_t pid, int of_holes)
{
	struct hvt_lines_head head = { 3, 7, 6, 3, 0 }, holes = { 3, 7, HVT_LINES_PARTS_MAX - 1, HVT_LINES_SITES_MAX - 1, 0 };
	uint32_t who[4] = { 0, pid, pid + 1, pid };
	struct hvt_line_shared shared[8] = {
		[1] = { .line = 0x4000 >> 6, .first = 1, .closed = 1 },		  /* its parts go round */
		[2] = { .line = 0x4000 >> 6, .first = 2 },			  /* not closed */
		[3] = { .line = 0x4000 >> 6, .first = 2, .closed = 1, .handovers = 2, .returns = 1, .most_true = 4 },
		[4] = { .line = ~0ull, .first = 2, .closed = 1 },		  /* nowhere */
		[5] = { .line = 0x4000 >> 6, .first = 4, .closed = 1 },		  /* its sites go round */
		[6] = { .line = 0x4000 >> 6, .first = ~0u, .closed = 1 },	  /* no part */
		[7] = { .line = 0x4000 >> 6, .first = 5, .closed = 1, .handovers = ~0ull, .most_true = ~0ull, .most_false = ~0ull },
	};
	struct hvt_line_part parts[7] = {
		[1] = { .who = 1, .next = 1 }, [2] = { .who = 1, .next = 3, .written = ~0ull, .object = ~0ull, .object_size = ~0ull },
		[3] = { .who = 2, .first = 1, .written = ~0ull, .writes = { 3, 1 }, .object = 1, .object_size = 1, .object_site = ~0u },
		[4] = { .who = 3, .first = 2 }, [5] = { .who = 3, .next = 6, .writes = { ~0ull } }, [6] = { .who = 1 },
	};
	struct hvt_line_site sites[4] = { [1] = { 77, 0, ~0ull, ~0u, 0 }, [2] = { 77, 3, 1, 1, 0 }, [3] = { 77, 2, 1, 1, 0 } };
	const uint32_t said[] = { 0, ~0u, HVT_LINES_SHARED_MAX, 1, 2, 4, 5, 6, 7, 3, 3, 3 };
	size_t i;

	if (pwrite(fd, who, sizeof(who), (off_t)HVT_LINES_WHO) < 0 || pwrite(fd, shared, sizeof(shared), (off_t)HVT_LINES_SHARED) < 0 ||
	    pwrite(fd, parts, sizeof(parts), (off_t)HVT_LINES_PARTS) < 0 || pwrite(fd, sites, sizeof(sites), (off_t)HVT_LINES_SITES) < 0 ||
	    pwrite(fd, of_holes ? &holes : &head, sizeof(head), (off_t)HVT_LINES) < 0)
		perror("pwrite");
	for (i = 0; i < sizeof(said) / sizeof(said[0]); i++)
		say(s, HVT_LINE, 0, said[i], NULL, 0); /* the first 3 makes sense; what it has was told of then */
}
int main(int argc, char **argv)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	struct hvt_message m = { .type = HVT_HELLO, .version = HVT_VERSION, .pid = (uint32_t)atoi(argv[2]) };
	struct iovec part = { &m, sizeof(m) };
	char control[CMSG_SPACE(sizeof(int))] = { 0 }, answer;
	struct msghdr h = { .msg_iov = &part, .msg_iovlen = 1 };
	struct hvt_pair pair = { 12345678, 0 };
	int s = socket(AF_UNIX, SOCK_SEQPACKET, 0), fd = -1, ends[2];
	size_t n = strlen(argv[1]);

	(void)argc;
	memcpy(a.sun_path + 1, argv[1], n);
	if (connect(s, (struct sockaddr *)&a, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + n)))
		return perror("connect"), 1;
	if (!strcmp(argv[3], "zero")) fd = open("/dev/zero", O_RDWR);
	if (!strcmp(argv[3], "pipe") && !pipe(ends)) fd = ends[0];
	if (!strcmp(argv[3], "short")) fd = memfd_create("x", 0);
	if (!strcmp(argv[3], "counts") || !strcmp(argv[3], "heap") || !strcmp(argv[3], "stack") || !strcmp(argv[3], "prefetch") ||
	    !strcmp(argv[3], "lines") || !strcmp(argv[3], "holes")) {
		fd = memfd_create("x", 0);
		if (ftruncate(fd, (off_t)HVT_SHADOW_SIZE) || pwrite(fd, &pair, sizeof(pair), 0x4000) != sizeof(pair))
			return perror("memfd"), 1;
	}
	if (fd >= 0) {
		struct cmsghdr *c;

		h.msg_control = control;
		h.msg_controllen = sizeof(control);
		c = CMSG_FIRSTHDR(&h);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	}
	if (sendmsg(s, &h, MSG_NOSIGNAL) < 0)
		return perror("sendmsg"), 1;
	puts(read(s, &answer, 1) == 1 ? "heard" : "refused");
	if (!strcmp(argv[3], "heap"))
		forge_heap(s, fd);
	if (!strcmp(argv[3], "prefetch"))
		forge_prefetch(s, fd);
	if (!strcmp(argv[3], "lines") || !strcmp(argv[3], "holes"))
		forge_lines(s, fd, (uint32_t)getpid(), argv[3][0] == 'h');
	if (!strcmp(argv[3], "stack"))
		forge_stack(s, fd);
	return 0;
}
END
check "a program that forges" "${CC:-cc}" -O1 -I"$top_srcdir" -o "$tmp/forge" "$tmp/forge.c"
chmod 755 "$tmp" "$tmp/forge"

# begin: counts $tmp/honest, which is in the middle of its work; $socket and $pid are known then.
begin() {
	rm -f "$tmp/in" "$tmp/out"
	mkfifo "$tmp/in" "$tmp/out"
	timeout 60 "$HOTVAR" --exact --json -o "$tmp/report" -- "$tmp/honest" < "$tmp/in" > "$tmp/out" 2> "$tmp/err" &
	job=$!
	exec 4> "$tmp/in" 5< "$tmp/out"
	read -r pid <&5
	socket=$(tr '\0' '\n' < "/proc/$pid/cmdline" | sed -n 's/^--hotvar-socket=\([^:]*\).*/\1/p')
}

finish() {
	exec 4>&- 5<&-
	wait "$job"
	status=$?
}

begin
for what in zero pipe none short; do
	is "no counters ($what): refused" "$(timeout 20 "$tmp/forge" "$socket" $$ $what)" refused
done
finish
is "and all is counted" "$status $(count honest)" "0 200 200 1"
like "what was left out is said" "$(head -n 1 "$tmp/report")" '"note":"4 messages made no sense'

begin
is "who takes another's number is known by his own" "$(timeout 20 "$tmp/forge" "$socket" "$pid" counts)" heard
finish
is "the other is counted as before" "$status $(count honest)" "0 200 200 1"

begin
is "who lies about his heap" "$(timeout 20 "$tmp/forge" "$socket" "$pid" heap)" heard
finish
is "is not believed, and no other is counted otherwise" "$status $(count honest)" "0 200 200 1"
like "what was left out is said" "$(head -n 1 "$tmp/report")" '"note":"7 messages made no sense'
unlike "and what is odd is no row" "$(cat "$tmp/report")" '2Jf'

begin
is "who lies about his stack" "$(timeout 20 "$tmp/forge" "$socket" "$pid" stack)" heard
finish
is "is not believed, and no other is counted otherwise" "$status $(count honest)" "0 200 200 1"
like "what was left out is said" "$(head -n 1 "$tmp/report")" '"note":"6 messages made no sense'

# What a recording says of locals is another's word, too: no row but those of stacks has it, and what is odd is none.
"$HOTVAR" record -q --exact -o "$tmp/rec" -- "$tmp/honest" < /dev/null > "$tmp/out.rec"
cat > "$tmp/lies.c" <<'END'
#include "config.h"
#include "runtime/user/stream.h"
/* lies FROM TO: a copy in which each stack's local is called otherwise, by keys that are odd, too. */
int main(int argc, char **argv)
{
	static const char *const lies[][2] = {
		{ "local.", "" }, { "local.1.0.0.0.0", "0" }, { "local.1.10.5.255.4", "0\ta\tb\tc\td\t1" }, { "local.0.10.5.0.4", "0\ta\tb\tc\td\t1" },
		{ "local.999999999.10.5.0.4", "99\ta\tb\tc\td\t-1" }, { "local.1.ffffffffffffffff.-1.31.255", "-7\thonest\thonest\t\t\t1" },
		{ "local.1.10.5.0.4", "0\ta\tb\tc\td\t1\tmore" }, { "local.99999999999999999999.1.1.1.1", "0\ta\tb\tc\td\t1" },
	};
	struct err e;
	struct stream_reader *r = stream_reader_of_file(argv[1], &e);
	struct stream *s = stream_to_file(argv[2], &e);
	struct stream_record rec;
	size_t i, n = 0;

	(void)argc;
	while (r && s && stream_next(r, &rec) > 0) {
		if (!n++)
			for (i = 0; i < sizeof(lies) / sizeof(lies[0]); i++)
				stream_put_meta(s, lies[i][0], "%s", lies[i][1]);
		stream_put(s, rec.type, rec.data, rec.len, NULL, 0);
	}
	stream_reader_free(r);
	return !s || stream_close(s, &e);
}
END
if check "a program that forges recordings" link_hotvar "$tmp/lies" "$tmp/lies.c"; then
	check "it does" "$tmp/lies" "$tmp/rec" "$tmp/lies.rec"
	"$HOTVAR" report --json --limit 0 -i "$tmp/rec" > "$tmp/report"
	"$HOTVAR" report --json --limit 0 -i "$tmp/lies.rec" > "$tmp/report.lies"
	is "whatever keys of locals there are, a report stays what it was" "$(grep '"type":"variable"' "$tmp/report.lies" | cksum)" \
		"$(grep '"type":"variable"' "$tmp/report" | cksum)"
fi

begin
is "who lies about his prefetches" "$(timeout 20 "$tmp/forge" "$socket" "$pid" prefetch)" heard
finish
is "is not believed, and no other is counted otherwise" "$status $(count honest)" "0 200 200 1"
like "what was left out is said" "$(head -n 1 "$tmp/report")" '"note":"5 messages made no sense'
is "nor are more unused than there were" "$(grep -c '"type":"prefetch"' "$tmp/report")" 0

# Lists that go round, numbers that are nobody's, and what was told of already; and lists in holes, which cost a liar nothing.
for what in lines holes; do
	begin
	is "who lies about his cache lines ($what)" "$(timeout 20 "$tmp/forge" "$socket" "$pid" $what)" heard
	finish
	is "is not believed, and no other is counted otherwise ($what)" "$status $(count honest)" "0 200 200 1"
	like "what was left out is said ($what)" "$(head -n 1 "$tmp/report")" "\"note\":\"$([ $what = lines ] && echo 11 || echo 12) messages made no sense"
done

if [ "$(id -u)" = 0 ] && command -v setpriv > "$tmp/where"; then
	begin
	cp "$tmp/forge" "/tmp/hotvar-forge.$$"
	is "another user is not heard by root" \
		"$(timeout 20 setpriv --reuid 65534 --clear-groups "/tmp/hotvar-forge.$$" "$socket" "$pid" counts 2>&1)" refused
	rm -f "/tmp/hotvar-forge.$$"
	finish
	is "nor changes what is counted" "$status $(count honest) $(grep -c '"accesses":12345678' "$tmp/report")" "0 200 200 1 0"
else
	skip "another user is not heard by root" "it takes root, and setpriv"
	skip "nor changes what is counted" "it takes root, and setpriv"
fi

# Descriptors: each process takes two of ours, all are alive at a time.
cat > "$tmp/many.c" <<'END'
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
int main(void)
{
	int up[2], down[2], i;
	char c = 0;
	if (pipe(up) || pipe(down)) return 1;
	for (i = 0; i < 30; i++)
		if (!fork()) { close(down[1]); return write(up[1], &c, 1) != 1 || read(down[0], &c, 1); }
	for (i = 0; i < 30; i++)
		if (read(up[0], &c, 1) != 1) return 1;
	close(down[1]);
	while (wait(NULL) > 0) ;
	puts("all");
	return 0;
}
END
check "a program of many processes" "${CC:-cc}" -O1 -g -static -o "$tmp/many" "$tmp/many.c"
(ulimit -n 24 && timeout 30 "$HOTVAR" --exact --json -o "$tmp/report" -- "$tmp/many" > "$tmp/out.many" 2> "$tmp/err")
is "more processes than we have descriptors for run" "$? $(cat "$tmp/out.many")" "0 all"
like "and it is said that some are not counted" "$(head -n 1 "$tmp/report")" 'processes were not counted: too many at a time for our open files: raise: ulimit -n'

# What a descriptor leaves is not ours alone: another thread opens files too.  Here it always comes first, once, and keeps
# what it took until we wait for news again.
cat > "$tmp/first.c" <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>
static int taken = -1, full, done;
int accept4(int fd, struct sockaddr *a, socklen_t *len, int flags)
{
	int (*next)(int, struct sockaddr *, socklen_t *, int) = dlsym(RTLD_NEXT, "accept4"), got;

	if (full && !done && (taken = open("/", O_PATH | O_CLOEXEC)) >= 0)
		done = 1;
	got = next(fd, a, len, flags);
	full = got < 0 && errno == EMFILE;
	return got;
}
int poll(struct pollfd *p, nfds_t n, int ms)
{
	int (*next)(struct pollfd *, nfds_t, int) = dlsym(RTLD_NEXT, "poll"), mark;

	if (taken >= 0) {
		close(taken);
		taken = -1;
		mark = creat(getenv("TAKEN"), 0600);
		if (mark >= 0)
			close(mark);
	}
	return next(p, n, ms);
}
END
check "another that opens files" "${CC:-cc}" -O1 -shared -fPIC -o "$tmp/first.so" "$tmp/first.c" -ldl
(ulimit -n 24 && TAKEN=$tmp/taken LD_PRELOAD=$tmp/first.so ASAN_OPTIONS=verify_asan_link_order=0 \
	timeout 30 "$HOTVAR" --exact --json -o "$tmp/report" -- "$tmp/many" > "$tmp/out.many" 2> "$tmp/err")
is "and takes one of ours that is to turn a process away: all run" "$? $(cat "$tmp/out.many")" "0 all"
check "it did" test -e "$tmp/taken"

# A process has a number of its own in its namespace, and ours in a report.
if unshare -p true 2> "$tmp/err"; then
	"$HOTVAR" record -q --exact -o "$tmp/rec" -- unshare -p -f "$tmp/honest" < /dev/null > "$tmp/out.ns" 2> "$tmp/err"
	"$HOTVAR" report --json --per-process -i "$tmp/rec" > "$tmp/report"
	is "it knows itself as the first" "$(cat "$tmp/out.ns")" 1
	is "and is counted" "$(count honest)" "200 200 1"
	is "but not as the first of all" "$(grep '"name":"honest"' "$tmp/report" | grep -c '"pid":1[,}]')" 0
else
	skip "a number of its own" "no pid namespaces may be made here"
fi

# A network namespace of its own: abstract names are others there.
if unshare -n true 2> "$tmp/err"; then
	"$HOTVAR" --exact --json -o "$tmp/report" -- unshare -n "$tmp/honest" < /dev/null > "$tmp/out.ns" 2> "$tmp/err"
	is "counted in another network namespace" "$(count honest)" "200 200 1"
	# Longer than a socket's name may be (108, unix(7)).
	long=$tmp/$(printf '%0120d' 0)
	mkdir "$long"
	TMPDIR=$long "$HOTVAR" --exact --json -o "$tmp/report" -- unshare -n "$tmp/honest" < /dev/null > "$tmp/out.ns" 2> "$tmp/err"
	is "also where the path of TMPDIR is long" "$(count honest)" "200 200 1"
	is "and no file is left" "$(ls "$long")" ""
else
	skip "counted in another network namespace" "none may be made here"
	skip "also where the path of TMPDIR is long" "none may be made here"
	skip "and no file is left" "none may be made here"
fi

# A limit on files is the program's: counters are none of its.
(ulimit -S -f 1000 && "$HOTVAR" --exact --limit 0 -o "$tmp/limited" -- sh -c 'ulimit -S -f; "$0" < /dev/null; :' "$tmp/honest" > "$tmp/pipe.out" 2> "$tmp/err")
is "a soft limit on files is lifted for the counters, and is there again" "$? $(head -n 1 "$tmp/pipe.out") $(grep -c . "$tmp/pipe.out") $(grep -c " honest " "$tmp/limited")" "0 1000 2 1"
if [ "$(id -u)" != 0 ] || command -v setpriv > "$tmp/where"; then
	drop=
	[ "$(id -u)" != 0 ] || drop="setpriv --bounding-set -sys_resource --inh-caps -sys_resource"
	(ulimit -f 1 && $drop "$HOTVAR" --exact -- "$tmp/honest" < /dev/null > "$tmp/pipe.out" 2> "$tmp/err")
	is "a hard one is said, with what to do" "$? $(grep -c 'lift the limit with' "$tmp/err")" "125 1"
else
	skip "a hard one is said, with what to do" "it takes setpriv"
fi

done_testing
