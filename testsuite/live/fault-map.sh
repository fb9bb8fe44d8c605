#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# fault-map - hotvar --source fault --by region: what is unmapped, given back or moved takes its pages with it.
. "$top_srcdir/testsuite/lib.sh"

"$HOTVAR" -q --source fault -o "$tmp/try" -- true 2> "$tmp/err" || skip_all "page faults cannot be seen here: $(cat "$tmp/err")"

# in_tracefs COMMAND...: where calls are told; the mount is not seen outside.
in_tracefs() {
	unshare -m sh -c '[ -d /sys/kernel/tracing/events ] || mount -t tracefs tracefs /sys/kernel/tracing || exit 99; exec "$@"' sh "$@"
}
# touched TYPE FIELDS: the pages touched of each line of that type in which there is FIELDS, a pattern
touched() {
	sed -n "/$2/s/^{\"type\":\"$1\",.*\"touched\":\([0-9]*\).*/\1/p" "$tmp/json"
}
total() {
	sed -n "s/^{\"type\":\"total\",.*\"$1\":\([0-9]*\).*/\1/p" "$tmp/json"
}
adds_up() {
	is "$1" "$(total lost) $(total unplaced) $(touched region . | awk '{ n += $1 } END { print n }')" "0 0 $(total touched)"
}
# look_at RECORDING
look_at() {
	"$HOTVAR" report --json -i "$1" --by region > "$tmp/json"
}

mkfifo "$tmp/go"
"$HOTVAR" record -q -o "$tmp/part" --source fault -- "$TESTPROGS/fault_unmaps" part wait < "$tmp/go" &
hotvar=$!
exec 9> "$tmp/go"
shrunk() {
	"$HOTVAR" maps --json -i "$tmp/part" | grep '"event":"shrink"' | grep -q '"prot":"rw-p"'
}
until_true 20 shrunk || not_ok "an area that shrinks is seen to, while its program waits"
echo > "$tmp/go"
exec 9>&-
wait $hotvar
is "a program that unmaps a part of an area ends as it does alone" $? 0
look_at "$tmp/part"
is "what an area grew by are pages of its own" "$(touched region '"pages":259,')" 256
adds_up "and no page is without a row"
last=$(touched touched . | tail -n 1)
check "with that part its pages go" test "$last" -le $(($(total touched) - 256 + 30))
"$HOTVAR" report --json -i "$tmp/part" --by page > "$tmp/json"
is "each page is told" "$(grep -c '"type":"page"' "$tmp/json")" "$(total touched)"

# Nothing comes after what there is no room for, which is for the kernel's counters to tell.
"$HOTVAR" record -q -o "$tmp/storm" --source fault -- "$TESTPROGS/fault_unmaps" storm > "$tmp/pid" &
hotvar=$!
stormed() {
	grep -q '^State:.Z' "/proc/$(cat "$tmp/pid")/status" 2> "$tmp/err"
}
until_true 20 stormed || not_ok "a program ends while hotvar is stopped"
kill -CONT $hotvar
wait $hotvar
is "a program that stops hotvar ends as it does alone" $? 0
"$HOTVAR" report --json -i "$tmp/storm" > "$tmp/json"
check "what there was no room for to the end is counted" test $(($(total accesses) + $(total lost))) -ge 60000

in_tracefs true 2> "$tmp/err" || { skip "what calls tell" "tracefs cannot be mounted: $(cat "$tmp/err")"; done_testing; }
in_tracefs "$HOTVAR" record -q -o "$tmp/moves" --source fault -- "$TESTPROGS/fault_unmaps" moves
is "a program whose calls are told ends as it does alone" $? 0
look_at "$tmp/moves"
is "pages that mremap has moved are where they are now, once" "$(touched region '"pages":400,')" 400
is "those given back are not touched" "$(touched region '"pages":100,')" 0
adds_up "what was moved, cut off or given back is nowhere else"
in_tracefs "$HOTVAR" record -q -o "$tmp/again" --source fault -- "$TESTPROGS/fault_unmaps" again
is "a program that maps again what it has touched ends as it does alone" $? 0
look_at "$tmp/again"
counts() {
	for pages; do touched region "\"pages\":$pages,"; done | tr '\n' ' '
}
is "what is mapped over begins anew" "$(counts 211 223)" "5 7 "
is "what moves and leaves its place mapped is where it is now" "$(counts 229 90)" "139 90 "
is "a hole keeps nothing from being given back" "$(counts 101 131)" "3 0 "
is "a call that fails takes nothing, and what a thread unmaps is gone" "$(counts 239 180)" "239 180 "
is "what the kernel may take is still touched" "$(counts 257 1000)" "257 1000 "
adds_up "and each page is in one place"
in_tracefs "$HOTVAR" record -q -o "$tmp/vfork" --source fault -- sh -c '/bin/true; /bin/true; :'
look_at "$tmp/vfork"
like "children that share memory till they execute leave nothing in doubt" "$(tail -n 1 "$tmp/json")" '"lost_by":\{\}'
in_tracefs "$HOTVAR" report -i "$tmp/vfork" --by region > "$tmp/text"
unlike "who is told of calls is told nothing of looks" "$(cat "$tmp/text")" 'looked at about'
if [ -d /sys/kernel/tracing/events ] || [ -d /sys/kernel/debug/tracing ]; then
	skip "who is not is told, and what to do" "tracefs is mounted"
else
	"$HOTVAR" report -i "$tmp/storm" --by region > "$tmp/text"
	like "who is not is told, and what to do" "$(cat "$tmp/text")" 'looked at about 10 times a second: .*; run(:| hotvar as root)'
fi
in_tracefs "$HOTVAR" record -q -o "$tmp/part" --source fault -- "$TESTPROGS/fault_unmaps" part
like "a part that goes is told with its call" "$("$HOTVAR" maps --json -i "$tmp/part")" '"event":"shrink","syscall":"munmap"'
done_testing
