#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# source-fault - hotvar --source fault: each first touch of a page, by variable, as the program itself knows them.
. "$top_srcdir/testsuite/lib.sh"

command -v python3 > /dev/null || skip_all "there is no python3 to compare with"
"$HOTVAR" -q --source fault -o "$tmp/try" -- true 2> "$tmp/err" || skip_all "page faults cannot be seen here: $(cat "$tmp/err")"

# which: "user" where faults inside system calls may not be seen
which() {
	grep -q '"faults":"user"' "$tmp/json" && echo user
}
agrees() {
	python3 "$top_srcdir/testsuite/live/fault_oracle.py" "$tmp/said" "$tmp/json" $(which)
}

"$HOTVAR" --json -o "$tmp/json" --source fault --by member --per-process -- "$TESTPROGS/fault_counts" > "$tmp/said"
is "a program whose page faults are seen ends as it does alone" $? 0
check "each first touch is told, by member, process, and read or write" agrees
like "they are said to be faults" "$(head -n 1 "$tmp/json")" '"mode":"faults",.*"source":"fault"'

"$HOTVAR" record -q -o "$tmp/rec" --source fault -- sh -c "'$TESTPROGS/fault_counts'; exec '$TESTPROGS/fault_counts'" > "$tmp/said"
"$HOTVAR" report --json -i "$tmp/rec" --by member --per-process > "$tmp/json"
check "a recording of a tree of processes has the same" agrees
"$HOTVAR" report --json -i "$tmp/rec" --callers > "$tmp/json"
like "with the code that did it" "$(grep '"name":"write_area"' "$tmp/json")" '"function":"write_pages","file":"fault_counts.c","line":[0-9]+,"reads":0,"writes":22'
"$HOTVAR" report -i "$tmp/rec" --callers --limit 0 > "$tmp/text"
like "people are told that these are no accesses" "$(tr -s '\n ' ' ' < "$tmp/text")" 'first touches of pages, not accesses: [0-9,]+ page faults'
like "and of the code, too" "$(cat "$tmp/text")" ' 100\.0%  write_pages\(\) at fault_counts.c:[0-9]+'
"$HOTVAR" report -i "$tmp/rec" --by page --limit 0 > "$tmp/text"
like "pages are told" "$(cat "$tmp/text")" '^ *0x[0-9a-f]+000 +-w- +bss +fault_counts .*write_area'

mkfifo "$tmp/go"
"$TESTPROGS/fault_counts" wait < "$tmp/go" > "$tmp/said" &
pid=$!
exec 9> "$tmp/go"
"$HOTVAR" record -q -o "$tmp/running" -p $pid --source fault &
hotvar=$!
# It has its events before it reads the map, and that is flushed as the recording grows.
attached() {
	"$HOTVAR" maps --json -i "$tmp/running" | grep -q '"event":"initial".*fault_counts'
}
until_true 20 attached || not_ok "a running process is attached to"
echo > "$tmp/go"
wait $pid
is "a running process ends as it does alone" $? 0
wait $hotvar
"$HOTVAR" report --json -i "$tmp/running" --by member --per-process > "$tmp/json"
check "and its first touches from then on are told" agrees
exec 9>&-

"$HOTVAR" --json -o "$tmp/json" --source fault -d 0.2 -- sleep 0.5
is "after -d the program runs on" $? 0
like "and what was seen is told" "$(cat "$tmp/json")" '"type":"variable"'
"$HOTVAR" --source fault -o "$tmp/text" -- sh -c 'exit 5'
is "its status is the program's" $? 5

"$HOTVAR" --source fault --by cacheline -- true > "$tmp/out" 2> "$tmp/err"
is "of cache lines faults say nothing" "$? $(grep -c 'leave out one of the two' "$tmp/err")" "2 1"
"$HOTVAR" record -q --source fault -o "$tmp/rec" -- true
"$HOTVAR" report --by cacheline -i "$tmp/rec" > "$tmp/out" 2> "$tmp/err"
is "nor does a recording of them" "$? $(grep -c 'measure without --source fault' "$tmp/err")" "1 1"

"$TESTPROGS/without" perf EACCES "$HOTVAR" --source fault -- "$TESTPROGS/fault_counts" > "$tmp/out" 2> "$tmp/err"
is "where perf is refused nothing is run" "$?$(cat "$tmp/out")" 125
like "and it is said what to do" "$(cat "$tmp/err")" 'sysctl kernel.perf_event_paranoid=2|seccomp'

if [ "$(id -u)" -ne 0 ]; then
	skip "an unprivileged user sees faults" "not root, so all of the above was unprivileged"
elif ! su nobody -s /bin/sh -c "test -x '$HOTVAR' && test -x '$TESTPROGS/fault_counts'"; then
	skip "an unprivileged user sees faults" "nobody may not reach $HOTVAR"
else
	mkdir -m 777 "$tmp/nobody"
	chmod 755 "$tmp"
	su nobody -s /bin/sh -c "HOME=$tmp/nobody '$HOTVAR' --json -o '$tmp/nobody/json' --source fault --by member --per-process -- '$TESTPROGS/fault_counts'" \
		> "$tmp/said"
	cp "$tmp/nobody/json" "$tmp/json"
	check "an unprivileged user sees its own, too" agrees
	if [ "$(cat /proc/sys/kernel/perf_event_paranoid)" -ge 2 ]; then
		is "but none inside system calls" "$(which)" user
		su nobody -s /bin/sh -c "HOME=$tmp/nobody '$HOTVAR' -o '$tmp/nobody/text' --source fault -- '$TESTPROGS/fault_counts'" > "$tmp/said"
		like "which is said" "$(tr -s '\n ' ' ' < "$tmp/nobody/text")" 'those in system calls are not among them'
	fi
fi
done_testing
