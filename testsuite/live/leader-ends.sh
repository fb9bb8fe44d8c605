#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# leader-ends.sh - a process whose first thread has ended by pthread_exit() while others go on: its memory is what they
# have, as one of them copied it from /proc/thread-self/maps.
. "$top_srcdir/testsuite/lib.sh"

program=$TESTPROGS/leader_ends
cd "$tmp" || exit 1

# told NAME: the numbers that the program has printed
told() {
	sed -n "s/^$1 //p" "$tmp/out" | head -n 1
}
# joined: rows START END PROT; what adjoins and is alike is one row, and [vsyscall] is the kernel's
joined() {
	sed 's/^0*//; s/ 0*/ /; /^ffffffff/d' | awk '
		$1 == end && $3 == prot { end = $2; next }
		NR > 1 { print start, end, prot }
		{ start = $1; end = $2; prot = $3 }
		END { print start, end, prot }'
}
# areas FILE: those of the rows in JSON;  own_areas: the program's copy of its map
areas() {
	sed -n 's/^{"type":"\(region\|map\)",.*"start":"0x\([0-9a-f]*\)","end":"0x\([0-9a-f]*\)".*"prot":"\([^"]*\)".*/\2 \3 \4/p' "$1" | sort | uniq | joined
}
own_areas() {
	sed 's/^\([0-9a-f]*\)-\([0-9a-f]*\) \([^ ]*\) .*/\1 \2 \3/' "$tmp/map" | sort | joined
}
# looked TEXT HOW...: hotvar HOW shows the areas that the program has
looked() {
	text=$1
	shift
	rm -f json
	check "$text: exit status" "$HOTVAR" "$@" --json -o "$tmp/json"
	is "$text: the program's areas" "$(areas "$tmp/json")" "$(own_areas)"
}

mkfifo in
"$program" "$tmp/map" 64 < in > out &
pid=$!
exec 3> in
until_true 60 grep -q ready out || not_ok "the program" "is not ready: $(cat out)"
check "its first thread is a zombie" grep -q 'State:.Z' "/proc/$pid/status"

all() {
	looked "pages -p, $1" pages -p "$pid"
	looked "maps -p, $1" maps -p "$pid" --source look -d 0.2
	is "pages --variable, $1" "$("$HOTVAR" pages -p "$pid" --variable table --json 2>&1 | grep -c '"type":"page".*"present":true')" 3
	is "sym -p of a variable, $1" "$("$HOTVAR" sym -p "$pid" "$(told table)" 2>&1 | awk '{ print $2, $3, $NF }')" "table[0] bss $program"
	is "sym -p of a thread's variable, $1" "$("$HOTVAR" sym -p "$pid" "$(told own)" 2>&1 | awk '{ print $2, $3, $NF }')" "own@tls[0] tls $program"
	rm -f json
	# how much it is given to run in that time says whether there is advice, which is 0, or 1
	"$HOTVAR" advise -p "$pid" -d 0.5 --json -o json 2> err
	like "advise -p, $1: exit status" "$? $(cat err)" '^[01] $'
	check "advise -p, $1: the area is judged" grep -q "\"type\":\"advice\".*\"start\":\"$(set -- $(told range) && echo "$1")\"" json
}
all "with two threads"

# ---- the one that is listed before the other ends while it is looked at ------------------------------------

"$HOTVAR" pages -p "$pid" -d 1000 --json > json 2> err &
hotvar=$!
opened() {
	ls -l "/proc/$hotvar/fd" | grep -q '/pagemap$' && ls -l "/proc/$hotvar/fd" | grep -q '/[0-9]*/maps$'
}
until_true 60 opened || not_ok "pages -d" "did not open the map: $(cat err)"
echo >&3
until_true 60 grep -q gone out || not_ok "the other thread" "is still there"
kill -TERM $hotvar
wait $hotvar
is "pages -d: what was mapped after that" "$(areas json)" "$(own_areas)"

all "with one thread"
exec 3>&-
wait $pid
is "the program ends as it does" $? 0

# ---- CMD ---------------------------------------------------------------------------------------------------

for how in exit last; do
	rm -f json
	check "pages -- CMD, $how: exit status" "$HOTVAR" pages --json -o json -- "$program" "$tmp/map" 64 1 $how
	is "pages -- CMD, $how: the program's areas at its end" "$(areas json)" "$(own_areas)"
	rm -f json
	"$HOTVAR" advise --json -o json -- "$program" "$tmp/map" 64 5 $how > out 2> err
	is "advise -- CMD, $how: exit status" $? 0
	check "advise -- CMD, $how: the area is judged" grep -q "\"type\":\"advice\".*\"start\":\"$(set -- $(told range) && echo "$1")\"" json
done

done_testing
