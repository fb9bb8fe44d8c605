# SPDX-License-Identifier: GPL-2.0-or-later
# lines.sh - hotvar --by cacheline: false sharing, true sharing, none; of threads and of processes; counted and sampled.
. "$top_srcdir/testsuite/lib.sh"

threads=$TESTPROGS/line_threads
processes=$TESTPROGS/line_processes
lib=$TESTPROGS/libline.so

# told OPTIONS COMMAND...: what lines.py makes of the report.
told() {
	told_options=$1
	shift
	# shellcheck disable=SC2086
	"$HOTVAR" $told_options --by cacheline --json -o "$tmp/report" -- "$@" > "$tmp/said" 2> "$tmp/err" || cat "$tmp/err"
	python3 "$top_srcdir/testsuite/live/lines.py" "$tmp/report" "$tmp/said" 2>&1
}
# first EXPRESSION: of the fields of the line with the most weight.
first() {
	python3 -c 'import json, sys
for l in open(sys.argv[1]):
    r = json.loads(l)
    if r["type"] == "line":
        print(eval(sys.argv[2], r))
        break' "$tmp/report" "$1"
}

n=100000000
is "samples: false sharing" "$(told "" "$threads" false $n)" \
	"false of threads counters.first+8 by counters.first 1; counters.second+20 by counters.second 1"
is "samples: by which code" "$(first 'sorted(set((s["function"], s["file"], s["line"] > 0, s["reads"]) for s in sites if s["write_samples"]))')" \
	"[('count', 'line_threads.c', True, None), ('count_small', 'line_threads.c', True, None)]"
is "samples: true sharing" "$(told "" "$threads" true $n)" "true of threads both+0 by both 1; both+0 by both 1"
is "samples: members that were parted" "$(told "" "$threads" padded $n)" ""
is "samples: one thread after the other" "$(told "" "$threads" after $n)" ""
is "samples: copies of one library's data in several processes" "$(told "" "$processes" cow $n "$lib")" ""
is "samples: one line of two processes" "$(told "" "$processes" shm $n)" \
	"false of processes [shm]+0 by process 1; [shm]+8 by process 1"

if [ ! -x "$top_builddir/runtime/valgrind/lib/hotvar-amd64-linux" ]; then
	skip "exact: all of it" "hotvar's tool for valgrind is not built: no valgrind here"
	done_testing
	exit 0
fi
# Some ten turns of each thread: valgrind lets one run 100,000 blocks of code.  It begins static programs far sooner.
n=1000000
is "exact: false sharing" "$(told --exact "${threads}_static" false $n)" \
	"false of threads counters.first+8 by counters.first $n; counters.second+20 by counters.second $n"
is "by which code" "$(first 'sorted(set((s["function"], s["file"]) for s in sites if s["writes"]))')" \
	"[('count', 'line_threads.c'), ('count_small', 'line_threads.c')]"
is "and what would part them" "$(first '[advice[k] for k in ("do", "name", "of", "from", "to", "size", "new_size")]')" \
	"['align-member', '.second', 'counters', 20, 64, 64, 128]"
is "exact: true sharing" "$(told --exact "${threads}_static" true $n)" "true of threads both+0 by both $n; both+0 by both $n"
is "which nothing parts" "$(first 'advice["do"]')" "write-less"
is "exact: members that were parted" "$(told --exact "${threads}_static" padded $n)" ""
is "exact: one thread after the other" "$(told --exact "${threads}_static" after $n)" ""
is "exact: elements of an array" "$(told --exact "${threads}_static" array $n)" \
	"false of threads slots[1].hits+16 by slots[1].hits $n; slots[2].hits+32 by slots[2].hits $n"
is "which want padding" "$(first '[advice[k] for k in ("do", "name", "from", "to")]')" "['pad-elements', 'slots', 16, 64]"
is "exact: two variables" "$(told --exact "${threads}_static" apart $n)" \
	"false of threads left+0 by left $n; right+8 by right $n"
is "which want a line each" "$(first '[advice[k] for k in ("do", "name", "of")]')" "['align-variables', 'left', 'right']"
heap="heap:set@line_threads.c:$(grep -n 'of the heap \*/$' "$top_srcdir/testsuite/programs/line_threads.c" | cut -d : -f 1)"
is "exact: an object of the heap" "$(told --exact "$threads" heap $n)" "false of threads $heap+48 by second $n; $heap+8 by first $n"
is "in which they are this far apart" "$(first '[advice[k] for k in ("do", "name", "from")]')" "['allocate-apart', '$heap', 40]"
is "exact: copies of one library's data in several processes" "$(told --exact "$processes" cow 10000 "$lib")" ""
is "exact: one line of two processes" "$(told --exact "${processes}_static" shm 10000)" \
	"false of processes [shm]+0 by process 10000; [shm]+8 by process 10000"
is "exact: the same bytes of it" "$(told --exact "${processes}_static" shm-true 10000)" \
	"true of processes [shm]+0 by process 10000; [shm]+0 by process 10000"
is "whose order is not known" "$(first '(handovers, most_true)')" "(None, 20000)"
for what in anon lone grown sysv; do
	is "exact: one line of two processes: $what" "$(told --exact "${processes}_static" $what 1000)" \
		"false of processes [shm]+0 by process 1000; [shm]+8 by process 1000"
done
is "exact: lines of two segments" "$(told --exact "${processes}_static" sysv-two 1000)" ""

# Two threads that wait for each other after each write: each but the first write takes the line from the other.
"$HOTVAR" record -q --exact --cachelines -o "$tmp/rec" -- "$threads" turns 60 > "$tmp/said"
"$HOTVAR" report --by cacheline --json -i "$tmp/rec" > "$tmp/report"
is "a recording: hand-overs, each of them" "$(python3 - "$tmp/report" <<'END'
import json
import sys
for l in open(sys.argv[1]):
    r = json.loads(l)
    if r["type"] == "line" and r["variables"][0]["name"] == "both":
        print(r["sharing"], r["handovers"], r["returns"], r["most_true"], r["most_false"])
END
)" "true 119 118 119 0"
"$HOTVAR" report --by cacheline --json -i "$tmp/rec" | cmp - "$tmp/report" > "$tmp/out" && ok "the same each time" ||
	not_ok "the same each time" "$(cat "$tmp/out")"
"$HOTVAR" report --by cacheline -i "$tmp/rec" > "$tmp/text"
like "as text" "$(tr -s ' ' < "$tmp/text")" '^ [0-9]+ [0-9.]+% true 119 119 0x'
like "what it is of" "$(head -n 1 "$tmp/text")" 'line_threads turns 60: cache lines of several threads, every access counted, in [0-9.]+ s$'
"$HOTVAR" report -q --by cacheline -i "$tmp/rec" > "$tmp/out"
like "without remarks it is rows alone" "$(head -n 1 "$tmp/out")" '^  #   share'
like "with names" "$(cat "$tmp/text")" '^ +\+0 +both$'
like "and code" "$(cat "$tmp/text")" '^ +thread [0-9]+ +0 reads +60 writes +take_turns\(\) at line_threads.c:[0-9]+$'

# Three threads access six lines at random, one at a time, and know what must come of it.
for seed in 1 2; do
	"$HOTVAR" --exact --by cacheline --json -o "$tmp/report" -- "$TESTPROGS/line_random" $seed 2000 > "$tmp/said"
	is "at random, seed $seed" "$(python3 "$top_srcdir/testsuite/live/lines_random.py" "$tmp/report" "$tmp/said" 2>&1)" "True 0"
done

"$HOTVAR" record -q --exact -o "$tmp/rec" -- "$TESTPROGS/loop" cpu 1000 > "$tmp/out"
"$HOTVAR" report --by cacheline -i "$tmp/rec" > "$tmp/out" 2> "$tmp/err"
is "a recording without says so" "$? $(grep -c 'record with --cachelines' "$tmp/err")" "1 1"
"$HOTVAR" record --cachelines -o "$tmp/rec" -- true > "$tmp/out" 2> "$tmp/err"
is "only exact ones can have them" "$? $(grep -c 'give --exact, too' "$tmp/err")" "2 1"
"$HOTVAR" record -q -o "$tmp/rec" -- true > "$tmp/out" 2> "$tmp/err"
"$HOTVAR" report --by cacheline -i "$tmp/rec" > "$tmp/out" 2> "$tmp/err"
is "no sample is no answer" "$? $(grep -c 'nothing found: no sample was taken' "$tmp/out")" "1 1"

done_testing
