#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# maps-causes - the seldom causes of a change, and calls that fail half-way: the list is what the program saw of itself.
. "$top_srcdir/testsuite/lib.sh"

causes=$TESTPROGS/map_causes
pages=/proc/sys/vm/nr_hugepages
had=$(cat $pages 2> /dev/null)
cleanup() {
	[ -z "$gave" ] || echo "$had" > $pages
	tap_cleanup
}
trap cleanup EXIT
gave=
# Three huge pages are enough, and root may reserve them for the time of the test.
if [ "${had:-0}" -lt 3 ] && [ -w $pages ]; then
	gave=1
	echo 3 > $pages 2> /dev/null
fi

# compare TEXT LOG EVENTS
compare() {
	said=$("$TESTPROGS/check_maps" "$2" "$3" 2>&1)
	case $said in
	*"checkpoints, 0 wrong"*) ok "$1: $said" ;;
	*) not_ok "$1" "$said" ;;
	esac
}

mkdir "$tmp/dir"
"$HOTVAR" maps --json -o "$tmp/gated" -- "$causes" "$tmp/gated.log" "$tmp/dir" > "$tmp/skipped"
is "launched: the program succeeds" $? 0
compare "launched" "$tmp/gated.log" "$tmp/gated"
like "launched: nothing was lost" "$(tail -n 1 "$tmp/gated")" '"lost_maps":0,"lost_tasks":0,"lost_memory":0'
while IFS=: read -r what why; do
	skip "${what#skip }" "the kernel says:$why"
done < "$tmp/skipped"

"$TESTPROGS/ungated" true
if [ $? -eq 77 ]; then
	skip "without a gate" "no seccomp filter can be installed here"
else
	"$TESTPROGS/ungated" "$HOTVAR" maps -q --json -o "$tmp/ungated" -- "$causes" "$tmp/ungated.log" "$tmp/dir" > "$tmp/out"
	compare "without a gate" "$tmp/ungated.log" "$tmp/ungated"
fi

mkfifo "$tmp/go"
"$causes" "$tmp/attached.log" "$tmp/dir" wait < "$tmp/go" > "$tmp/out" &
pid=$!
exec 3> "$tmp/go"
"$HOTVAR" maps --json -o "$tmp/attached" -p $pid 3>&- &
hotvar=$!
until_true 10 grep -q '"event":"initial".*"kind":"stack"' "$tmp/attached"
echo go >&3
exec 3>&-
wait $pid
is "attached: the program succeeds" $? 0
wait $hotvar
is "attached: hotvar ends with it" $? 0
compare "attached" "$tmp/attached.log" "$tmp/attached"
done_testing
