#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# hidepid.sh - /proc does not show what is not ours or guards its memory: that is neither gone nor ended.
. "$top_srcdir/testsuite/lib.sh"

[ "$(id -u)" = 0 ] || skip_all "it takes root to mount /proc"
command -v setpriv > "$tmp/where" || skip_all "no setpriv"
unshare -m mount -t proc -o hidepid=2 proc /proc 2> "$tmp/err" || skip_all "unshare -m, or mounting /proc: $(cat "$tmp/err")"
chmod 777 "$tmp"
cd "$tmp" || exit 1
cp "$(command -v cat)" guarded # by the first instruction: execve(2), prctl(2)
chmod 111 guarded
because="/proc hides it from us (its mount option hidepid): it is not ours, or guards its memory; run hotvar as root"

cat > inside << 'END'
mount -t proc -o hidepid=2 proc /proc || exit 9
exec setpriv --reuid=65534 --regid=65534 --clear-groups sh "$1" "$2"
END
cat > nobodys << 'END'
hotvar=$1
"$hotvar" sym -p 1 0x1000 2> sym.err
echo $? > sym.rc
"$hotvar" pages -- ./guarded < in > pages.out 2> pages.err
echo $? > pages.rc
# Held until what began it is told: it has been looked at by then, what ends sooner has not.
"$hotvar" maps --json --source look -o maps -- ./guarded < held > maps.out 2> maps.err &
looker=$!
exec 4> held
until grep -q '"event":"exec"' maps; do sleep 0.02; done 2> /dev/null
cat in >&4
exec 4>&-
wait $looker
echo $? > maps.rc
"$hotvar" maps --json --source look -o maps.later -- ./later < in > later.out 2> later.err
# What we look at executes the guarded one: it goes on, hidden.
sh -c 'echo $$ > pid; cat fifo > first; exec ./guarded < fifo2 > second' &
until [ -s pid ] && [ "$(cat "/proc/$(cat pid)/comm")" = sh ]; do sleep 0.02; done
pid=$(cat pid)
"$hotvar" maps --json --source look -p "$pid" -o attached 2> attached.err &
watcher=$!
until grep -q '"initial"' attached; do sleep 0.02; done 2> /dev/null
echo > fifo
exec 3> fifo2
echo begun >&3
until grep -q begun second 2> /dev/null; do sleep 0.02; done
[ -e "/proc/$pid" ] || echo hidden > seen
switches() {
	sed -n 's/^voluntary_ctxt_switches:[[:space:]]*//p' "/proc/$watcher/status"
}
had=$(switches) # it waits once for each look
while [ "$(switches)" -lt $((had + 4)) ] && kill -0 $watcher; do sleep 0.02; done
grep '"exit"' attached | grep -q "\"pid\":$pid," || echo watching >> seen
exec 3>&-
wait $watcher
END
cat > later.c << 'END'
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
/* Its parent has looked at it; then it guards its memory and maps a page; then that looks again: it waits between two looks. */
static long parents_waits(void)
{
	char path[64], line[128];
	long n = -1;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)getppid());
	f = fopen(path, "r");
	while (f && fgets(line, sizeof(line), f))
		sscanf(line, "voluntary_ctxt_switches: %ld", &n);
	if (f)
		fclose(f);
	return n;
}
int main(void)
{
	long had = parents_waits();

	while (parents_waits() < had + 4)
		usleep(1000);
	prctl(PR_SET_DUMPABLE, 0);
	if (mmap((void *)0x123450000, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) == MAP_FAILED)
		return 1;
	for (had = parents_waits(); parents_waits() < had + 10;)
		usleep(1000);
	return 0;
}
END
check "a program that guards its memory later" cc -o later later.c
mkfifo -m 666 fifo fifo2 held
echo text > in
timeout 60 unshare -m sh inside nobodys "$HOTVAR" > out 2> err
is "it ran" "$? $(cat err)" "0 "

is "another user's process" "$(cat sym.rc) $(cat sym.err)" "125 hotvar: cannot follow process 1: $because"
is "pages of a command that guards its memory" "$(cat pages.rc) $(sed 's/process [0-9]*:/process N:/' pages.err)" "125 hotvar: cannot follow process N: $because"
is "which ran" "$(cat pages.out)" text
is "maps of it" "$(cat maps.rc) $(cat maps.out) $(grep -c '"exit"' maps)" "0 text 1"
like "whose changes are lost" "$(tail -n 1 maps)" '"lost_maps":1'
like "what is open already shows its changes" "$(cat maps.later)" '"event":"map",.*"start":"0x123450000"'
like "of which none is lost" "$(tail -n 1 maps.later)" '"lost_maps":0'
is "one that is hidden while it is watched has not ended" "$(cat seen)" "hidden
watching"
like "what it maps is lost" "$(tail -n 1 attached)" '"lost_maps":1'
is "until it does" "$(grep '"exit"' attached | grep -c "\"pid\":$(cat pid),")" 1
done_testing
