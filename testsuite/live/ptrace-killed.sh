#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# ptrace-killed - kill -9 of hotvar, or of what it runs, at any moment: nothing hangs, nothing is left.
. "$top_srcdir/testsuite/lib.sh"

tree=$TESTPROGS/tree

left() { [ -n "$(ps -e -o args= | grep -F "$tmp/tree" | grep -v grep)" ]; }
# A copy, so that what is left of it can be told from others'.
cp "$tree" "$tmp/tree"

i=0
while [ $i -lt 20 ]; do
	i=$((i + 1))
	"$HOTVAR" maps -o "$tmp/maps" -- "$tmp/tree" threads 100000 &
	hotvar=$!
	# At another moment each time, from before the fork on.
	n=0
	while [ $n -lt $((i * 40)) ]; do n=$((n + 1)); done
	kill -9 $hotvar
	wait $hotvar 2> /dev/null
done
if until_true 10 sh -c "! ps -e -o args= | grep -F '$tmp/tree' | grep -qv grep"; then
	ok "hotvar killed 20 times: no process of CMD is left"
else
	not_ok "hotvar killed 20 times: no process of CMD is left" "$(ps -ef | grep -F "$tmp/tree")"
fi

i=0 bad=
while [ $i -lt 20 ]; do
	i=$((i + 1))
	timeout 60 "$HOTVAR" maps -o "$tmp/maps" -- "$tmp/tree" threads 100000 &
	hotvar=$!
	until_true 10 sh -c "pgrep -f '^$tmp/tree' > '$tmp/pid'"
	kill -9 "$(head -n 1 "$tmp/pid")"
	wait $hotvar
	[ $? -eq 137 ] || bad="$bad $i"
done
is "CMD killed 20 times: its status each time" "$bad" ""

# A process group, as ^C and a closed terminal have it.
for sig in 2 15 1; do
	rm -f "$tmp/maps"
	setsid env --default-signal=INT,QUIT "$HOTVAR" maps -o "$tmp/maps" -- "$tmp/tree" spin &
	hotvar=$!
	until_true 10 sh -c "pgrep -f '^$tmp/tree spin'"
	until_true 10 grep -q 'fork' "$tmp/maps"
	kill -$sig -$hotvar
	wait $hotvar
	is "signal $sig to all: CMD's status" $? $((128 + sig))
done
# SIGTERM to hotvar alone goes on to CMD.
rm -f "$tmp/maps"
"$HOTVAR" maps -o "$tmp/maps" -- "$tmp/tree" spin &
hotvar=$!
until_true 10 grep -q 'fork' "$tmp/maps"
kill -TERM $hotvar
wait $hotvar
is "SIGTERM to hotvar: CMD's status" $? 143
# Also to one that is stopped.
rm -f "$tmp/maps"
"$HOTVAR" maps -o "$tmp/maps" -- "$tmp/tree" spin &
hotvar=$!
until_true 10 grep -q 'fork' "$tmp/maps"
kill -STOP "$(pgrep -f "^$tmp/tree spin")"
kill -TERM $hotvar
wait $hotvar
is "SIGTERM to hotvar, CMD stopped: CMD's status" $? 143
if left; then
	not_ok "nothing is left" "$(ps -ef | grep -F "$tmp/tree")"
else
	ok "nothing is left"
fi
done_testing
