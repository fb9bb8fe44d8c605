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
"$hotvar" maps --json --source look -o maps -- ./guarded < in > maps.out 2> maps.err
echo $? > maps.rc
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
mkfifo -m 666 fifo fifo2
echo text > in
timeout 60 unshare -m sh inside nobodys "$HOTVAR" > out 2> err
is "it ran" "$? $(cat err)" "0 "

is "another user's process" "$(cat sym.rc) $(cat sym.err)" "125 hotvar: cannot follow process 1: $because"
is "pages of a command that guards its memory" "$(cat pages.rc) $(sed 's/process [0-9]*:/process N:/' pages.err)" "125 hotvar: cannot follow process N: $because"
is "which ran" "$(cat pages.out)" text
is "maps of it" "$(cat maps.rc) $(cat maps.out) $(grep -c '"exit"' maps)" "0 text 1"
is "one that is hidden while it is watched has not ended" "$(cat seen)" "hidden
watching"
is "until it does" "$(grep '"exit"' attached | grep -c "\"pid\":$(cat pid),")" 1
done_testing
