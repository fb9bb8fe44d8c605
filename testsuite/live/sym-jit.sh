#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# sym-jit - code made while the program runs, by the names it writes down: perf maps and jitdumps, of the process's own namespaces.
. "$top_srcdir/testsuite/lib.sh"
. "$top_srcdir/testsuite/symlib.sh"

# Two pages of code at a known place, another that is named and not executable; what is written is the program's affair.
cat > "$tmp/j.c" << 'END'
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include "say.h"
#define AT 0x30000000ul
static void map_file(void)
{
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	f = fopen(path, "w");
	fprintf(f, "30000100 40 jit fn one(int)\n");
	fprintf(f, "0x30000140 0x40 LazyCompile:~two /srv/a b.js:1\n");
	fprintf(f, "30000200 100 old\n30000240 10 new\n"); /* the second over a part of the first */
	fprintf(f, "30000400 10 first\n30000400 10 second\n");
	fprintf(f, "nonsense\n30000500 0 empty\n30000510 zz bad\nffffffffffffff00 200 wraps\n");
	fprintf(f, "30002000 10 data\n30000600 10 unfinished");
	fclose(f);
}
struct head { uint32_t magic, version, size, mach, pad, pid; uint64_t time, flags; };
struct load { uint32_t id, total; uint64_t time; uint32_t pid, tid; uint64_t vma, addr, size, index; };
struct move { uint32_t id, total; uint64_t time; uint32_t pid, tid; uint64_t vma, from, to, size, index; };
static void dump_file(const char *dir)
{
	struct head h = { 0x4A695444, 1, sizeof(h), 62, 0, getpid(), 0, 0 };
	struct load l = { 0, sizeof(l) + 6 + 16, 0, getpid(), getpid(), AT + 0x800, AT + 0x800, 16, 1 };
	struct move m = { 1, sizeof(m), 0, getpid(), getpid(), AT + 0x900, AT + 0x800, AT + 0x900, 16, 1 };
	char path[256], code[16] = { 0 };
	int fd;

	snprintf(path, sizeof(path), "%s/jit-%d.dump", dir, getpid());
	fd = open(path, O_CREAT | O_TRUNC | O_RDWR, 0666);
	if (write(fd, &h, sizeof(h)) < 0 || write(fd, &l, sizeof(l)) < 0 || write(fd, "moved", 6) < 0 || write(fd, code, 16) < 0 ||
	    write(fd, &m, sizeof(m)) < 0)
		return;
	l.addr = AT + 0xa00;
	if (write(fd, &l, sizeof(l)) < 0 || write(fd, "dumpd", 6) < 0 || write(fd, code, 16) < 0)
		return;
	if (write(fd, &l, 20) < 0) /* being written */
		return;
	mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
}
int main(int argc, char **argv)
{
	mmap((void *)AT, 8192, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	mmap((void *)(AT + 8192), 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	map_file();
	if (argc > 1)
		dump_file(argv[1]);
	SAY(AT + 0x100, "jit fn one(int)  jit");
	SAY(AT + 0x13f, "jit fn one(int)+0x3f  jit");
	SAY(AT + 0x140, "LazyCompile:~two /srv/a b.js:1  jit");
	SAY(AT + 0x180, "[anon]  anon  (no-file)");
	SAY(AT + 0x200, "[anon]  anon  (no-file)");
	SAY(AT + 0x24f, "new+0xf  jit");
	SAY(AT + 0x260, "[anon]  anon  (no-file)");
	SAY(AT + 0x408, "second+0x8  jit");
	SAY(AT + 0x500, "[anon]  anon  (no-file)");
	SAY(AT + 0x600, "[anon]  anon  (no-file)");
	SAY(AT + 0x2000, "[anon]  anon  (no-file)");
	if (argc > 1) {
		SAY(AT + 0x800, "[anon]  anon  (no-file)");
		SAY(AT + 0x90f, "moved+0xf  jit");
		SAY(AT + 0xa01, "dumpd+0x1  jit");
	}
	done();
}
END
if ! build "a program that makes code" "$CC" -O1 j.c -o j; then
	done_testing
	exit
fi
start "$tmp/j" "$tmp" && {
	agree "a perf map and a jitdump"
	"$HOTVAR" sym -q --json -p "$pid" 0x30000144 > "$tmp/json"
	like "as JSON" "$(cat "$tmp/json")" '"kind":"jit","name":"LazyCompile:~two /srv/a b.js:1","symbol":"LazyCompile:~two /srv/a b.js:1","offset":4,"size":64,.*"origin":"perf-map".*"reason":null'
	like "and of the dump" "$("$HOTVAR" sym -q --json -p "$pid" 0x30000a01)" '"symbol":"dumpd","offset":1,.*"origin":"jitdump"'
	map=/tmp/perf-$pid.map
	# what is added is seen, by a query that is under way as well
	mkfifo "$tmp/in"
	"$HOTVAR" sym -q -p "$pid" < "$tmp/in" > "$tmp/late" &
	late=$!
	exec 5> "$tmp/in"
	echo 30000600 >&5
	until_true 20 grep -q anon "$tmp/late"
	echo >> "$map"
	tries=0
	until grep -q unfinished "$tmp/late" || [ $tries -gt 100 ]; do
		tries=$((tries + 1))
		echo 30000600 >&5
		sleep 0.1
	done
	exec 5>&-
	wait $late
	is "a line that is finished later" "$(tail -n 1 "$tmp/late" | sed 's/^[^ ]*  //')" "unfinished  jit"
	if [ "$(id -u)" -eq 0 ]; then
		chown 65534 "$map"
		is "a map of somebody else is not believed" "$(sym -p "$pid" 0x30000100)" "[anon]  anon  (no-file)"
		chown 0 "$map"
	fi
	mv "$map" "$tmp/real.map"
	ln -s "$tmp/real.map" "$map"
	is "nor one behind a link" "$(sym -p "$pid" 0x30000100)" "[anon]  anon  (no-file)"
	rm -f "$map"
	mkfifo "$map"
	is "a FIFO is not waited for" "$(timeout 20 "$HOTVAR" sym -q -p "$pid" 0x30000100 | sed 's/^0x[0-9a-f]*  //')" "[anon]  anon  (no-file)"
	rm -f "$map"
}
stop

# ---- in namespaces of its own: its number and its /tmp are others ----
if unshare -m -p -f --mount-proc true 2> /dev/null; then
	mkdir "$tmp/own"
	: > "$tmp/out"
	unshare -m -p -f --mount-proc sh -c 'mount --bind "$1" /tmp && cd / && exec 3< "$2" && exec /proc/self/fd/4' sh "$tmp/own" /dev/null 4< "$tmp/j" > "$tmp/out" 2> "$tmp/err" &
	outer=$!
	if until_true 20 grep -q '^ready$' "$tmp/out"; then
		pid=$(pgrep -P $outer | head -n 1)
		check "the map is where its own /tmp is" test -f "$tmp/own/perf-1.map"
		# the host's file of that number is another's
		agree "J01: other pid and mount namespaces"
	else
		not_ok "J01: other pid and mount namespaces" "$(cat "$tmp/out" "$tmp/err")"
	fi
	kill -KILL $outer $pid 2> /dev/null
	wait $outer 2> /dev/null
	pid=
else
	skip "J01: other pid and mount namespaces" "no right to make namespaces"
fi

done_testing
