#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# setuid - an ordinary user runs a set-uid program: what that does to it, or to the measuring, is said before it begins.
. "$top_srcdir/testsuite/lib.sh"

[ "$(id -u)" -eq 0 ] || skip_all "only root can make a set-uid program of another user"
su nobody -s /bin/sh -c "test -x '$HOTVAR'" || skip_all "nobody may not reach $HOTVAR"
chmod 755 "$tmp"
mkdir -m 777 "$tmp/nobody"
cp "$(command -v id)" "$tmp/id"
chmod 4755 "$tmp/id"
[ "$(su nobody -s /bin/sh -c "'$tmp/id' -u")" = 0 ] || skip_all "set-uid programs are without effect in $tmp"

# as_nobody ARGS...: hotvar's and CMD's stdout and stderr, in their order, in $tmp/all
as_nobody() {
	su nobody -s /bin/sh -c "XDG_CACHE_HOME='$tmp/nobody' '$HOTVAR' $*" > "$tmp/all" 2>&1
}

as_nobody --source ptrace -o "$tmp/nobody/out" -- "$tmp/id" -u
is "traced: it runs" $? 0
like "what it loses is said in the first line" "$(head -n 1 "$tmp/all")" '^hotvar: CMD is set-user-ID.* root$'
is "then it runs without its rights" "$(tail -n +2 "$tmp/all")" "$(id -u nobody)"
like "the report says so too" "$(tr -s '\n ' ' ' < "$tmp/nobody/out")" 'note: .*CMD is set-user-ID'
as_nobody -q --source ptrace -o "$tmp/nobody/out" -- "$tmp/id" -u
is "-q: nothing is said" "$(cat "$tmp/all")" "$(id -u nobody)"
as_nobody record --source ptrace -o "$tmp/nobody/rec" -- "$tmp/id" -u
like "record says it first" "$(head -n 1 "$tmp/all")" '^hotvar: CMD is set-user-ID'
as_nobody maps -o "$tmp/nobody/maps" -- "$tmp/id" -u
like "maps says it first" "$(head -n 1 "$tmp/all")" '^hotvar: CMD is set-user-ID'

as_nobody --source perf -o "$tmp/nobody/out" -- "$tmp/id" -u
status=$?
if grep -q '^hotvar: .*refused' "$tmp/all"; then
	skip "by perf" "$(cat "$tmp/all")"
else
	is "by perf: it runs" $status 0
	like "that it cannot be measured is said in the first line" "$(head -n 1 "$tmp/all")" \
		'^hotvar: CMD is set-user-ID.* root$'
	is "then it runs with its rights" "$(tail -n +2 "$tmp/all")" 0
fi

# A program that may be executed but not read is kept from us likewise.
cp "$TESTPROGS/loop" "$tmp/unread"
chmod 711 "$tmp/unread"
for source in perf ptrace; do
	as_nobody --source $source -o "$tmp/nobody/out" -- "$tmp/unread" cpu 30000000
	like "not readable, $source: it is said in the first line" "$(head -n 1 "$tmp/all")" '^hotvar: (CMD may be executed but not read.*|.*refused.*)'
	like "not readable, $source: so says the report" "$(tr -s '\n ' ' ' < "$tmp/nobody/out")" 'no sample was taken, since the kernel|refused'
done
"$HOTVAR" -q --json -o "$tmp/out" -- "$tmp/unread" cpu 30000000 > "$tmp/all" 2>&1
is "not readable: root is told nothing" "$(grep -c 'but not read' "$tmp/out" "$tmp/all" | tr '\n' ' ')" "$tmp/out:0 $tmp/all:0 "

# The exec of a program that changes its ids ends its events, also those that root has opened.
cp "$TESTPROGS/loop" "$tmp/loop"
chown nobody "$tmp/loop"
chmod 4755 "$tmp/loop"
for source in perf ptrace; do
	"$HOTVAR" -q --json --source $source -o "$tmp/out" -- "$tmp/loop" cpu 100000000 > "$tmp/all" 2>&1
	if grep -q '^hotvar: .*refused' "$tmp/all"; then
		skip "root, by $source" "$(cat "$tmp/all")"
	else
		like "root, by $source: it is measured" "$(cat "$tmp/out")" '"name":"counts".*"share":[01].*"samples":[1-9]'
	fi
done
"$HOTVAR" -q --json --source perf -o "$tmp/out" -- sh -c "'$tmp/loop' cpu 300000000; :" > "$tmp/all" 2>&1
if grep -q '^hotvar: .*refused' "$tmp/all"; then
	skip "root, by perf, in a child" "$(cat "$tmp/all")"
else
	like "in a child it is measured from then on" "$(cat "$tmp/out")" '"name":"counts".*"samples":[1-9]'
	"$HOTVAR" record -q --source perf -o "$tmp/rec" -- sh -c "'$tmp/loop' cpu 100000000; :" > "$tmp/all" 2>&1
	is "each process ends once" "$("$HOTVAR" maps -i "$tmp/rec" | grep -c ' exit ')" 2
	like "and what was lost is said" "$(head -n 1 "$tmp/out")" '"note":".*ended their timers'
fi

"$HOTVAR" --source ptrace -o "$tmp/out" -- "$tmp/id" -u > "$tmp/all" 2>&1
is "root is told nothing" "$(cat "$tmp/all")" 0
done_testing
