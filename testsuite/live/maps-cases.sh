#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# maps-cases - processes of one number, stacks in one area, programs that are gone or another: nothing is mixed up.
. "$top_srcdir/testsuite/lib.sh"
export XDG_CACHE_HOME="$tmp/cache"

cases=$TESTPROGS/map_cases
# share NAME FILE: of a report in JSON, in percent
share() {
	grep -F "\"name\":\"$1\"" "$2" | sed -n 's/.*"share":\([0-9.e-]*\).*/\1/p' | awk '{ s += $1 } END { print int(100 * s + 0.5) }'
}
most() { [ "$(share "$1" "$2")" -ge 80 ]; }

# ---- two processes of one number ----

for source in ptrace perf; do
	rm -f "$tmp/log"
	"$HOTVAR" record -q --source $source -o "$tmp/rec" -- "$cases" pid "$tmp/log" > "$tmp/said" 2> "$tmp/err"
	rc=$?
	case $rc in
	77) skip "one number for two, $source" "a process may not choose its number here"; continue ;;
	125) skip "one number for two, $source" "$(head -n 1 "$tmp/err")"; continue ;;
	esac
	is "one number for two, $source: the program succeeds" $rc 0
	is "one number for two, $source: it is one number" "$(cut -d' ' -f1 "$tmp/said" | sort -u | wc -l) $(wc -l < "$tmp/said")" "1 2"
	"$HOTVAR" maps --json -i "$tmp/rec" > "$tmp/maps"
	said=$("$TESTPROGS/check_maps" "$tmp/log" "$tmp/maps" 2>&1)
	if [ $source = ptrace ]; then
		like "one number for two, $source: each has its own map" "$said" "^2 checkpoints, 0 wrong"
	fi
	pid=$(head -n 1 "$tmp/said" | cut -d' ' -f1)
	is "one number for two, $source: two address spaces executed" \
		"$(grep '"event":"exec"' "$tmp/maps" | grep "\"pid\":$pid," | grep -o '"mm":[0-9]*' | sort -u | wc -l)" 2
	"$HOTVAR" report --json -i "$tmp/rec" > "$tmp/report"
	check "one number for two, $source: the variable of both is named ($(share worked_on "$tmp/report") %)" \
		most worked_on "$tmp/report"
done

# ---- stacks in one area ----

"$HOTVAR" --json -q -o "$tmp/stacks" -- "$cases" stacks
is "stacks in one area: the program succeeds" $? 0
check "stacks in one area: they are stacks ($(share '[stack]' "$tmp/stacks") %)" most '[stack]' "$tmp/stacks"

# ---- a program that is gone, and another in its place ----

cp "$cases" "$tmp/prog"
cat > "$tmp/other.c" << 'END'
long other[100000] = { 1 };
int main(void) { return 0; }
END
if ! ${CC:-cc} -O1 -o "$tmp/other" "$tmp/other.c" 2> "$tmp/err"; then
	not_ok "another program can be built" "$(cat "$tmp/err")"
fi
# Named by the recording itself, which has its images; and by the file, where hotvar was killed before it had them.
"$HOTVAR" record -q -o "$tmp/whole" -- "$tmp/prog" killed
is "gone: CMD's status" $? 137
"$HOTVAR" record -q -o "$tmp/cut" -- "$tmp/prog" killed &
hotvar=$!
until_true 20 sh -c "'$HOTVAR' report --json -i '$tmp/cut' | grep -q worked_on || ! kill -0 $hotvar"
kill -9 $hotvar
wait $hotvar 2> /dev/null
for rec in whole cut; do
	rm -rf "$tmp/cache"
	"$HOTVAR" report --json -i "$tmp/$rec" > "$tmp/report" 2> "$tmp/err"
	check "gone, $rec: named ($(share worked_on "$tmp/report") %)" most worked_on "$tmp/report"
done
mv "$tmp/other" "$tmp/prog"
for rec in whole cut; do
	rm -rf "$tmp/cache"
	"$HOTVAR" report --json -i "$tmp/$rec" > "$tmp/report" 2> "$tmp/err"
	unlike "another in its place, $rec: no wrong name" "$(cat "$tmp/report")" '"(name|symbol)":"(other|main|_start)'
	[ $rec = cut ] || check "another in its place, $rec: named still" most worked_on "$tmp/report"
	"$HOTVAR" maps --json -i "$tmp/$rec" > "$tmp/maps"
	like "another in its place, $rec: its map is there" "$(cat "$tmp/maps")" "\"path\":\"$tmp/prog\""
done

# ---- another process, not followed, changes the memory it shares ----

mkfifo "$tmp/go"
"$cases" foreign < "$tmp/go" > "$tmp/said" &
pid=$!
exec 3> "$tmp/go"
until_true 10 grep -q ready "$tmp/said"
"$HOTVAR" maps --json -o "$tmp/maps" -p $pid 3>&- &
hotvar=$!
until_true 10 grep -q '"event":"initial".*"start":"0x6e0000040000"' "$tmp/maps"
echo go >&3
until_true 10 grep -q changed "$tmp/said"
exec 3>&-
wait $pid
wait $hotvar
is "a foreign change: hotvar ends with the process" $? 0
for area in 'map 0x6e0000000000 0x6e0000001000' 'map 0x6e0000002000 0x6e0000004000' 'unmap 0x6e0000040000 0x6e0000044000'; do
	# shellcheck disable=SC2086
	set -- $area
	like "a foreign change: $1 $2-$3 is found at a look" "$(cat "$tmp/maps")" \
		"\"event\":\"$1\",\"syscall\":null,\"start\":\"$2\",\"end\":\"$3\""
done
like "a foreign change: it is counted as seen late" "$(tail -n 1 "$tmp/maps")" '"lost_maps":[1-9]'

# ---- what a fork left out is found, although the copy changes all the time ----

for source in perf perf-returns; do
	rm -f "$tmp/maps" "$tmp/rc"
	# All that it maps would be many megabytes a second.
	{
		"$HOTVAR" maps --json --source $source -o - -- "$cases" left-out "$tmp/seen-$source" 2> "$tmp/err"
		echo $? > "$tmp/rc"
	} | grep --line-buffered -F '"start":"0x6e0000001000"' > "$tmp/maps" &
	until_true 20 sh -c "grep -q '\"event\":\"unmap\"' '$tmp/maps' || test -s '$tmp/rc'"
	found=$?
	: > "$tmp/seen-$source"
	wait $!
	rc=$(cat "$tmp/rc")
	if [ $rc = 125 ]; then
		skip "left out of a fork, $source" "$(head -n 1 "$tmp/err")"
		continue
	fi
	is "left out of a fork, $source: the program succeeds" $rc 0
	is "left out of a fork, $source: it is found while the copy changes" "$found $(grep -c '"event":"unmap",.*"start":"0x6e0000001000","end":"0x6e0000002000"' "$tmp/maps")" "0 1"
done

# ---- a script is its interpreter; what cannot be executed changes nothing ----

printf '#!%s\nexec 3< /dev/null\n/nonexistent/program\nexit 7\n' "$(command -v sh)" > "$tmp/script"
chmod +x "$tmp/script"
"$HOTVAR" maps --json -o "$tmp/maps" -- "$tmp/script" 2> /dev/null
is "a script: its status" $? 7
is "a script: the first exec alone, by its first process" "$(grep -c '"event":"exec"' "$tmp/maps")" 1
like "a script: its image is the interpreter" "$(cat "$tmp/maps")" \
	"\"event\":\"initial\".*\"prot\":\"r-xp\".*\"path\":\"$(realpath "$(command -v sh)")\""
unlike "a script: it is no image itself" "$(cat "$tmp/maps")" "\"path\":\"$tmp/script\""
done_testing
