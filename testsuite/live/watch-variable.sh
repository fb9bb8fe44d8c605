#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# watch-variable - hotvar --watch: exact counts, by thread and function, as the program itself knows them.
. "$top_srcdir/testsuite/lib.sh"

command -v python3 > /dev/null || skip_all "there is no python3 to compare with"
"$HOTVAR" -q --watch 'spun[0]' -o "$tmp/try" -- "$TESTPROGS/spin_threads" 1 1 > "$tmp/out" 2> "$tmp/err"
[ $? -ne 125 ] || skip_all "the processor's watchpoints cannot be used here: $(cat "$tmp/err")"

# agrees NAME...: the JSON report, and what the program said
agrees() {
	python3 "$top_srcdir/testsuite/live/watch_oracle.py" "$tmp/said" "$tmp/json" "$@"
}

"$HOTVAR" --json -o "$tmp/json" --watch counter --watch 'table[3].hits' --watch letter --watch hook -- \
	"$TESTPROGS/watch_counts" 3 > "$tmp/said" 2> "$tmp/err"
is "a program of four watched variables ends as it does alone" $? 0
is "without a word" "$(cat "$tmp/err")" ""
check "each access is counted, read or write, by process, thread and function" agrees counter 'table[3].hits' letter hook
like "with its line of source" "$(cat "$tmp/json")" '"function":"look","file":"watch_counts.c","line":[1-9]'
like "a copy in a forked process is apart" "$(grep '"name":"counter"' "$tmp/json" | sed 1d)" '"accesses":40,.*"comm":"watch_counts"|"comm":"watch_counts".*"accesses":40,'
like "it is told what is measured" "$(head -n 1 "$tmp/json")" '"mode":"watched",.*"source":"watch"'

"$HOTVAR" --json -o "$tmp/json" --watch 'table[3].flags' --watch 'text+8,4' -- "$TESTPROGS/watch_counts" 1 > "$tmp/said"
check "another member alone" agrees 'table[3].flags'
like "bytes that nobody accesses have none" "$(cat "$tmp/json")" '"name":"text\+8,4",.*"size":4,.*"accesses":0'

"$HOTVAR" record -q -o "$tmp/rec" --watch counter --watch hook -- "$TESTPROGS/watch_counts" 2 > "$tmp/said"
"$HOTVAR" report --json -i "$tmp/rec" > "$tmp/json"
check "a recording has the same" agrees counter hook
"$HOTVAR" report -i "$tmp/rec" > "$tmp/text"
like "people are told functions and lines" "$(cat "$tmp/text")" '^ +20 +0 +20 +store\(\) at watch_counts.c:[0-9]+$'
like "and threads" "$(cat "$tmp/text")" '^ +[0-9]+ +[0-9]+ +[0-9]+ +by thread [0-9]+$'

"$HOTVAR" --json -o "$tmp/json" --watch shared -- "$TESTPROGS/watch_threads" 40 > "$tmp/said"
check "forty threads at once" agrees shared
is "are all there" "$(wc -l < "$tmp/said")" 40

"$HOTVAR" --json -o "$tmp/json" --watch in_bss.behind --watch libwatched.so:in_data -- \
	"$TESTPROGS/watch_library" "$TESTPROGS/libwatched.so" 3 > "$tmp/said"
is "a program that loads and unloads a library, and executes itself" $? 0
sed -i 's/^in_data/libwatched.so:in_data/' "$tmp/said"
check "each load of it is watched, and nothing else at its place" agrees in_bss.behind libwatched.so:in_data

# What runs already.  It goes on by a byte on its stdin.
mkfifo "$tmp/go"
"$TESTPROGS/watch_counts" 2 wait < "$tmp/go" > "$tmp/said" &
pid=$!
exec 9> "$tmp/go"
"$HOTVAR" record -q -o "$tmp/running" -p $pid --watch counter --watch hook &
hotvar=$!
watching() {
	"$HOTVAR" report --json -i "$tmp/running" | grep -q '"name":"hook","module"'
}
# Its recording is flushed as it grows.
if until_true 20 watching; then
	ok "a running process is watched"
else
	not_ok "a running process is watched" "$("$HOTVAR" report --json -i "$tmp/running")"
fi
echo > "$tmp/go"
wait $pid
is "it ends as it does alone" $? 0
wait $hotvar
"$HOTVAR" report --json -i "$tmp/running" > "$tmp/json"
check "and has what it says" agrees counter hook
exec 9>&-

# ---- what is refused ----

# refused TEXT STATUS REGEX OPTION...: one line, before the program says anything
refused() {
	refused_text=$1
	refused_status=$2
	refused_like=$3
	shift 3
	"$HOTVAR" "$@" -- "$TESTPROGS/watch_counts" 1 > "$tmp/out" 2> "$tmp/err"
	is "$refused_text is refused" $? "$refused_status"
	like "and it is said what would do" "$(cat "$tmp/err")" "$refused_like"
	is "in one line" "$(wc -l < "$tmp/err")" 1
	is "and the program does not run" "$(cat "$tmp/out")" ""
}
refused "an array" 125 "cannot watch 'text' of 100 bytes: .*--watch 'text\[0\]'" --watch text
refused "a struct" 125 "cannot watch 'table\[2\]' of 32 bytes: .*--watch 'table\[2\]\.name\[0\]'" --watch 'table[2]'
refused "what is not aligned" 125 "cannot watch 'crooked.second', 8 bytes at .*--watch 'crooked.second\+[0-9],[124]'" --watch crooked.second
refused "a label" 125 "a label without a size: .*--watch 'label\+0,1'" --watch label
refused "more than there is" 125 "text has 100 bytes" --watch text+98,4
refused "a fifth variable" 2 "no more than four" --watch a --watch b --watch c --watch d --watch e
refused "three bytes" 2 "1, 2, 4 or 8 bytes" --watch text+0,3
refused "two in one" 2 "for --watch: it takes one variable: .*--watch one --watch other" --watch counter,letter
refused "no name" 2 "the name of a variable" --watch zz-yy
refused "--exact beside it" 2 "leave out one of the two" --watch counter --exact
refused "another source beside it" 2 "leave out one of the two" --watch counter --source perf
refused "--by page beside it" 2 "leave out --by page" --watch counter --by page
refused "--by cacheline beside it" 2 "leave out --by cacheline" --watch counter --by cacheline
refused "--prefetches beside it" 2 "leave out --prefetches" --watch counter --prefetches

"$HOTVAR" --watch countre -- "$TESTPROGS/watch_counts" 1 > "$tmp/out" 2> "$tmp/err"
is "a variable that there is none of leaves the program alone" $? 0
like "and near names are told" "$(cat "$tmp/err")" "no process has a variable 'countre'; did you mean '.*counter'"
"$HOTVAR" --json --watch countre -- "$TESTPROGS/watch_counts" 1 > "$tmp/out" 2> "$tmp/err"
like "to programs, too" "$(cat "$tmp/err")" '"name":"countre","address":null,.*"near":\[.*"counter"'
"$HOTVAR" --watch 'table[3].hit' -- "$TESTPROGS/watch_counts" 1 > "$tmp/out" 2> "$tmp/err"
is "a member that there is none of: nothing is run" "$?$(cat "$tmp/out")" 125
like "and which there are is told" "$(cat "$tmp/err")" "cannot watch 'table\[3\]\.hit': there is no such member; there is table\[3\]\.[a-z]*, .*table\[3\]\.hits"
"$HOTVAR" --watch 'table[3].hits.x' -- "$TESTPROGS/watch_counts" 1 > "$tmp/out" 2> "$tmp/err"
is "nor in a member that has none" "$? $(grep -c 'there is no such member' "$tmp/err")" "125 1"
"$HOTVAR" --watch hits -- "$TESTPROGS/watch_counts" 1 > "$tmp/out" 2> "$tmp/err"
like "a member's name alone: whose it is" "$(cat "$tmp/err")" "no process has a variable 'hits'; did you mean 'table\[0\]\.hits'"
"$HOTVAR" --watch 0x10-0x18 -- "$TESTPROGS/watch_counts" 1 > "$tmp/out" 2> "$tmp/err"
like "addresses that nothing lies at" "$(cat "$tmp/err")" "^nothing found: no process has memory at 0x10-0x18$"
"$HOTVAR" --watch errno -- "$TESTPROGS/watch_counts" 1 > "$tmp/out" 2> "$tmp/err"
like "a thread-local one is said to be that" "$(cat "$tmp/err")" "cannot watch 'errno': it is thread-local"
"$HOTVAR" --watch counter -- true > "$tmp/out" 2> "$tmp/err"
is "a program that ends at once" $? 0
"$HOTVAR" --watch counter -- /nonexistent/program > "$tmp/out" 2> "$tmp/err"
is "or is not there" $? 127

# Without debug information there are no parts, and what there is is told before anything is waited for.
cat > "$tmp/bare.c" << 'END'
#include <stdio.h>
#include <unistd.h>
struct { long one, hits; } server;
int main(void)
{
	char c;

	puts("ready");
	fflush(stdout);
	return read(0, &c, 1) < 0;
}
END
${CC:-cc} -g0 -o "$tmp/bare" "$tmp/bare.c" || not_ok "bare can be built"
"$HOTVAR" --watch server.hits -- "$tmp/bare" < /dev/null > "$tmp/out" 2> "$tmp/err"
is "a part that nothing tells of: nothing is run" "$?$(cat "$tmp/out")" 125
part="^hotvar: cannot watch 'server\.hits': there is 'server', which has no such part, .*'server\+OFFSET,SIZE', as in --watch 'server\+0,8'\$"
like "and what can be watched is told" "$(cat "$tmp/err")" "$part"
"$tmp/bare" < "$tmp/go" > "$tmp/out" &
pid=$!
exec 9> "$tmp/go"
until_true 20 grep -q ready "$tmp/out"
"$HOTVAR" -p $pid --watch server.hits > "$tmp/text" 2> "$tmp/err"
is "nor is it of a process that runs" "$? $(cat "$tmp/text")" "125 "
like "which is told likewise" "$(cat "$tmp/err")" "$part"
is "in one line" "$(wc -l < "$tmp/err")" 1
"$HOTVAR" -d 0.1 -p $pid --watch nonesuch > "$tmp/text" 2>&1
is "a variable that it has not: that is said once, and once more that it never came" \
	"$(grep -c "there is no variable 'nonesuch'" "$tmp/text") $(grep -c nonesuch "$tmp/text")" "1 2"
exec 9>&-
wait $pid

# All of the processor's are another's: it watches itself.
"$TESTPROGS/take_watchpoints" < "$tmp/go" > "$tmp/out" &
pid=$!
exec 9> "$tmp/go"
until_true 20 grep -q ready "$tmp/out"
"$HOTVAR" -p $pid --watch mine > "$tmp/text" 2> "$tmp/err"
is "a process that has taken all watchpoints is refused" $? 125
like "and it is said why" "$(cat "$tmp/err")" 'all watchpoints of the processor are taken'
exec 9>&-
wait $pid
is "and it runs on" $? 0

"$TESTPROGS/without" perf EACCES "$HOTVAR" --watch counter -- "$TESTPROGS/watch_counts" 1 > "$tmp/out" 2> "$tmp/err"
is "where perf is refused nothing is run" "$?$(cat "$tmp/out")" 125
like "and it is said what to do" "$(cat "$tmp/err")" 'sysctl kernel.perf_event_paranoid=2|seccomp'

if [ "$(id -u)" -ne 0 ]; then
	skip "an unprivileged user watches" "not root, so all of the above was unprivileged"
elif ! su nobody -s /bin/sh -c "test -x '$HOTVAR' && test -x '$TESTPROGS/watch_counts'"; then
	skip "an unprivileged user watches" "nobody may not reach $HOTVAR"
else
	mkdir -m 777 "$tmp/nobody"
	chmod 755 "$tmp"
	su nobody -s /bin/sh -c "HOME=$tmp/nobody '$HOTVAR' --json -o '$tmp/nobody/json' --watch counter -- '$TESTPROGS/watch_counts' 2" \
		> "$tmp/said"
	cp "$tmp/nobody/json" "$tmp/json"
	check "an unprivileged user watches as well" agrees counter
fi
done_testing
