#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# run-output.sh - where the report goes, what CMD keeps, that JSON is JSON, and that a recording gives the same rows.
. "$top_srcdir/testsuite/lib.sh"
cd "$tmp" || exit 1
export XDG_CACHE_HOME="$tmp/cache"
loop="$TESTPROGS/loop cpu 30000000"

# ---- CMD's streams are its own ----
printf 'what goes in\n' > in
"$HOTVAR" -o report.txt -- sh -c 'cat; echo to stderr >&2' < in > out 2> err
is "CMD has hotvar's stdin and stdout" "$(cat out)" "what goes in"
is "CMD has hotvar's stderr, and with -o hotvar is silent" "$(cat err)" "to stderr"
check "the report is in the file" test -s report.txt

# shellcheck disable=SC2086
"$HOTVAR" -- $loop > out 2> err
like "without -o the report goes to stderr" "$(cat err)" 'counts \[loop\]'
unlike "and not to stdout" "$(cat out)" 'share'
# shellcheck disable=SC2086
"$HOTVAR" -o - -- $loop > out 2> err
like "-o - is stdout" "$(cat out)" 'counts \[loop\]'
is "and stderr is CMD's alone" "$(cat err)" ""
like "what ran is said" "$(cat out)" '^.*loop cpu 30000000: '
# shellcheck disable=SC2086
"$HOTVAR" -q -o - -- $loop > out 2> err
unlike "-q: the table only" "$(cat out)" 'loop cpu'
is "text fits 80 columns" "$(awk 'length > 80 + gsub(/[\302\342]/, "") * 2' out)" ""
# shellcheck disable=SC2086
"$HOTVAR" --color=always -o - -- $loop > out 2> err
like "--color=always" "$(cat -v out)" '\^\[\[1m'
# shellcheck disable=SC2086
"$HOTVAR" --limit=1 -o - -- $loop > out 2> err
like "--limit=1 says what it hides" "$(cat out)" 'more variable.* not shown'
unlike "--limit=1" "$(cat out)" '^ *2 '

strip -o stripped "$TESTPROGS/loop"
"$HOTVAR" -v -o out -- ./stripped cpu 30000000
like "-v names a stripped program and what to do" "$(tr -s '\n ' ' ' < out)" \
	"no names for [0-9.]+% of accesses, in $tmp/stripped: it is stripped, .*link it without -s"
like "-v says how many samples told something" "$(cat out)" '^[0-9,]+ of [0-9,]+ samples attributed, of 1 address space'
"$HOTVAR" -o out -- ./stripped cpu 30000000
unlike "without -v neither" "$(cat out)" 'no names for|samples attributed'

# ---- JSON ----
cat > check.py <<'PY'
import json, sys
rows = [json.loads(line) for line in open(sys.argv[1], encoding="utf-8")]
meta, variables, total = rows[0], [r for r in rows if r["type"] == "variable"], rows[-1]
assert meta["type"] == "meta" and meta["schema"] == 1 and meta["tool"] == "hotvar", meta
assert total["type"] == "total" and len(variables) == len(rows) - 2
assert [v["rank"] for v in variables] == list(range(1, len(variables) + 1))
shares = sum(v["share"] for v in variables) + sum(total["unattributed_share"].values()) + total["hidden"]["share"]
times = sum(v["time_share"] for v in variables) + sum(total["unattributed_time_share"].values()) + total["hidden"]["time_share"]
assert abs(shares - 1) < 1e-4, shares
assert abs(times - 1) < 1e-4, times
assert total["samples"] == total["attributed"] + sum(total["unattributed"].values()), total
for v in variables:
    assert set(v) >= {"name", "symbol", "module", "kind", "size", "share", "ci", "time_share", "samples", "accesses",
                      "reads", "writes", "private", "threads"}, v
    lo, hi = v["ci"]
    assert 0 <= lo <= v["share"] + 1e-6 and v["share"] <= hi + 1e-6 and hi <= 1, v
    assert v["symbol"] or v["reason"], v
order = [v[sys.argv[2]] for v in variables]
assert order == sorted(order, reverse=True), order
names = {v["name"]: v for v in variables}
for name in sys.argv[3:]:
    assert names[name]["kind"] == "bss" and names[name]["module"].endswith("/loop"), names
PY
if command -v python3 > /dev/null; then
	# shellcheck disable=SC2086
	"$HOTVAR" --json -o out.json -- $loop > out 2> err
	check "JSON holds what the interface promises" python3 check.py out.json share counts next_slot
	# shellcheck disable=SC2086
	"$HOTVAR" --json --sort=time -o out.json -- $loop > out 2> err
	check "JSON sorted by time" python3 check.py out.json time_share counts next_slot
	size=$(nm -S "$TESTPROGS/loop" | awk '$4 == "counts" { print $2 }')
	is "size is the symbol's" "$(python3 -c 'import json,sys
print(next(json.loads(l)["size"] for l in open("out.json") if json.loads(l).get("name") == "counts"))')" \
		"$(printf %d "0x$size")"
else
	skip "JSON holds what the interface promises" "there is no python3"
fi

# ---- a recording is the same ----
# shellcheck disable=SC2086
"$HOTVAR" record -o a.rec -- $loop > out 2> err
like "record says how to go on" "$(cat err)" "report -i a.rec"
"$HOTVAR" report -q -i a.rec > first 2> err
like "a recording has the rows" "$(cat first)" 'counts \[loop\]'
"$HOTVAR" report -q -i a.rec > second
is "twice the same" "$(cat first)" "$(cat second)"
"$HOTVAR" report -q -i - < a.rec > second
is "from stdin the same" "$(cat first)" "$(cat second)"
"$HOTVAR" record -q -o - -- sh -c ':' > out 2> err
"$HOTVAR" report -i - < out > second 2> err
like "record -o - is a recording" "$(cat second)" 'sh -c'

# ---- descriptors that are closed ----
# What is opened next has their numbers: what is said must not be written into the recording.
# shellcheck disable=SC2016
"$HOTVAR" record -o closed.rec -- sh -c 'test -e /proc/$$/fd/2 && echo 2 is open; echo done' > out 2>&-
is "stderr closed: closed for CMD too" "$(cat out)" "done"
"$HOTVAR" report -i closed.rec > out 2> err
like "nothing is written into the recording but what was recorded" "$(tail -n 1 out)" '^losses: none$'
"$HOTVAR" -- true 2>&-
is "a report for a stderr that is closed: the status tells" $? 125

# Without the program, its libraries' cache and its folder it has all the names.
cp "$TESTPROGS/loop" ./moved
"$HOTVAR" record -q -o b.rec -- ./moved cpu 30000000 > out 2> err
XDG_CACHE_HOME=$tmp/none "$HOTVAR" report -q -i b.rec > first
rm -rf moved "$tmp/cache"
XDG_CACHE_HOME=$tmp/none "$HOTVAR" report -q -i b.rec > second
is "a recording carries its symbols and code" "$(cat second)" "$(cat first)"
like "so that variables still have names" "$(cat second)" 'counts \[moved\]'

# ---- recordings cut off and damaged ----
size=$(stat -c %s b.rec)
for cut in 1 100 $((size / 3)) $((size / 2)); do
	head -c $((size - cut)) b.rec > cut.rec
	"$HOTVAR" report -i cut.rec > out 2> err
	like "cut by $cut bytes: said" "$(tr '\n' ' ' < out)" 'cut off'
	like "cut by $cut bytes: what is there is reported" "$(cat out)" 'moved cpu'
done
head -c 200 b.rec > cut.rec
unlike "cut short: nothing is said of what the program used" "$("$HOTVAR" report -i cut.rec 2>&1)" 'CPU time than'
cp b.rec bad.rec
printf 'X' | dd of=bad.rec bs=1 seek=$((size / 2)) conv=notrunc 2> /dev/null
"$HOTVAR" report -i bad.rec > out 2> err
like "a damaged byte: said" "$(tr '\n' ' ' < out)" 'is damaged'
"$HOTVAR" report --json -i bad.rec > out 2> err
like "in JSON too" "$(tail -n 1 out)" '"whole":false'

# ---- hotvar killed while it records ----
"$HOTVAR" record -q -o killed.rec -- "$TESTPROGS/loop" cpu 3000000000 > out 2> err &
hotvar=$!
bigger() {
	[ "$(stat -c %s killed.rec 2> /dev/null || echo 0)" -gt 40000 ]
}
if until_true 20 bigger; then
	child=$(cat "/proc/$hotvar/task/$hotvar/children")
	kill -KILL $hotvar
	wait $hotvar 2> /dev/null
	for pid in $child; do
		kill -KILL "$pid" 2> /dev/null
	done
	"$HOTVAR" report -i killed.rec > out 2> err
	like "killed by SIGKILL: what was recorded until then is there" "$(cat out)" 'counts \[loop\]'
	like "killed by SIGKILL: and it says that it broke off" "$(tr '\n' ' ' < out)" 'cut off'
else
	not_ok "killed by SIGKILL" "nothing came to disk while it ran: $(cat err)"
	kill -KILL $hotvar
fi

# ---- a limit on the file's size ----
(
	ulimit -f 8
	# shellcheck disable=SC2086
	"$HOTVAR" record -o small.rec -- $loop > out 2> err
	echo $? > rc
)
is "a recording at the size limit: exit status" "$(cat rc)" 125
like "and it is said" "$(cat err)" 'hotvar: .*small.rec.*ulimit'
"$HOTVAR" report -i small.rec > out 2> err
like "what got in is readable" "$(tr '\n' ' ' < out)" 'cut off'

# ---- what is looked at is not written over ----
# kept FILE COMMAND...: it fails, says why, and FILE is as it was
kept() {
	file=$1
	shift
	cp "$file" before
	"$HOTVAR" "$@" > out 2> err
	is "not over its own file: $*" "$? $(grep -c "will not write over '.*$file', which is what is looked at: give another file with -o" err)" "125 1"
	check "which is as it was: $*" cmp before "$file"
}
cp "$TESTPROGS/loop" program
"$HOTVAR" record -q -o kept.rec -- ./program cpu 1 > out 2> err
for how in "" maps pages advise; do
	# shellcheck disable=SC2086
	kept program $how -o program -- ./program cpu 1
done
for how in report maps pages advise; do
	kept kept.rec $how -o ./kept.rec -i kept.rec
done
kept program sym -o program -e ./program 0
kept program symbols -o program ./program

done_testing
