#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# advise-verify.sh - hotvar advise --verify: page faults fall as foretold, by the program's own account, too; what CMD prints,
# reads and returns stays its own; no runs where there is no advice.
# hotvar-test: alone
. "$top_srcdir/testsuite/lib.sh"

access=$TESTPROGS/advise_access
cd "$tmp" || exit 1
export XDG_CACHE_HOME="$tmp/cache"

thp=/sys/kernel/mm/transparent_hugepage/enabled
had=$(sed -n 's/.*\[\(.*\)\].*/\1/p' $thp 2> /dev/null)
if [ "$had" = never ] && [ -w $thp ]; then
	trap 'echo never > $thp; tap_cleanup' EXIT
	echo madvise > $thp
	had=madvise
fi
[ "$had" = madvise ] || [ "$had" = always ] || skip_all "this kernel gives no transparent huge pages, and only root may change that"
"$HOTVAR" doctor --json | grep -q '"name":"perf-timer","ok":true' || skip_all "no perf timer here, and without samples there is no advice (hotvar doctor says why)"

# field FILE TYPE KEY [N]: of the N-th row of that type
field() {
	sed -n "/^{\"type\":\"$2\"/s/.*\"$3\":\\(\"[^\"]*\"\\|[^,}]*\\).*/\\1/p" "$1" | tr -d '"' | sed -n "${4:-1}p"
}
told() {
	sed -n "s/^$1 //p" "$tmp/out" | head -n 1
}
# within A B: A is B within a tenth
within() {
	awk -v a="$1" -v b="$2" 'BEGIN { d = a - b; if (d < 0) d = -d; exit !(b > 0 && d * 10 <= b) }'
}
"$HOTVAR" advise --json -o "$tmp/json" -- true > "$tmp/out" 2> "$tmp/err"
reach=$(field "$tmp/json" machine tlb_reach)
mib=64
while [ $mib -lt $((reach / 262144)) ]; do
	mib=$((2 * mib))
done
mib=${ADVISE_MIB:-$mib}

# verified TEXT COMMAND...: the range and counts that it prints are those that are advised
verified() {
	text=$1
	shift
	"$HOTVAR" advise --verify --json -o "$tmp/json" -- "$@" > "$tmp/out" 2> "$tmp/err" < /dev/null
	is "$text: exit status" $? 0
	is "$text: CMD's output is there once" "$(grep -c '^faults' "$tmp/out")" 1
	is "$text: advised" "$(field "$tmp/json" total advised)" 1
	is "$text: two runs each way, by turns" "$(field "$tmp/json" run huge 1) $(field "$tmp/json" run huge 2) $(field "$tmp/json" run huge 3) $(field "$tmp/json" run huge 4) $(field "$tmp/json" run huge 5)" \
		"without with without with "
	is "$text: as expected, says hotvar" "$(field "$tmp/json" verified as_expected)" true
	# what the program itself says it took, and would take
	fall=$(($(told faults) - $(told spans) - $(told ends)))
	for run in 1 3; do
		got=$(($(field "$tmp/json" run faults $run) - $(field "$tmp/json" run faults $((run + 1)))))
		check "$text: faults fell by $got in round $run, of $fall by the program's own count" within $got $fall
	done
	check "$text: expected $(field "$tmp/json" verified expected_fall)" within "$(field "$tmp/json" verified expected_fall)" $fall
	is "$text: without, nothing was asked for" "$(field "$tmp/json" run madvise_calls 1)" 0
	check "$text: with, it was" test "$(field "$tmp/json" run madvise_calls 2)" -gt 0
}
verified "random, $mib MiB" "$access" random $mib 10
if [ -n "$ADVISE_MIB" ]; then # of make check-real: by size, and by how it is mapped
	verified "unaligned, $((mib + 1)) MiB" "$access" unaligned $((mib + 1)) 10
	verified "malloc, $mib MiB" "$access" malloc $mib 10
	done_testing
	exit 0
fi
verified "static program" "$TESTPROGS/advise_static" unaligned $((mib + 1)) 10
verified "executed by a shell" sh -c "exec '$access' malloc $mib 10"

if command -v python3 > /dev/null; then
	check "the call that maps it is told: malloc's, in map(), which main() calls" python3 -c '
import json, sys
rows = [json.loads(l) for l in open(sys.argv[1])]
assert [r["type"] for r in rows] == ["meta", "machine", "advice", "total"] + 4 * ["run"] + ["mapped", "verified"], rows
names = [f["symbol"] for f in rows[8]["stack"]]
assert names[0] in ("mmap", "mmap64", "__mmap", "__mmap64"), names
at = [i for i, n in enumerate(names) if n in ("map", "main")]
assert at and "main" in names and "malloc" in " ".join(n or "" for n in names[:at[0]]), names
' "$tmp/json"
fi

# Memory that the kernel maps at execve, and that a shell's child does not ask for.
if [ $mib -eq 64 ]; then
	"$HOTVAR" advise --verify --json -o "$tmp/json" -- "$access" static 1 10 > "$tmp/out" 2> "$tmp/err" < /dev/null
	is "a variable: exit status, as expected" "$? $(field "$tmp/json" verified as_expected)" "0 true"
fi

# Pages of zeros first: two faults a page, as the program itself counted them.
"$HOTVAR" advise --verify --json -o "$tmp/json" -- "$access" read $mib 10 > "$tmp/out" 2> "$tmp/err" < /dev/null
is "read first: exit status, as expected" "$? $(field "$tmp/json" verified as_expected)" "0 true"
check "read first: twice as many faults" within $(told faults) $((mib * 512))
check "read first: the most that is expected" within "$(field "$tmp/json" verified expected_fall_most)" $((2 * (mib * 256 - $(told spans) - $(told ends))))

"$HOTVAR" advise --verify --rounds 2 -- "$access" read $mib 10 > "$tmp/out" 2> "$tmp/err" < /dev/null
like "read first: what it would take is said" "$(cat "$tmp/err")" \
	'; expected: [0-9]+, up to [0-9]+ if pages are read before they are written\. That is as expected within 10 %\.$'

# What is mapped piece by piece is not huge, whoever asks for it: that is found, and said.
"$HOTVAR" advise --verify -- "$TESTPROGS/advise_pieces" $mib 10 > "$tmp/out" 2> "$tmp/err" < /dev/null
is "in pieces: exit status" $? 0
like "in pieces: not as expected" "$(cat "$tmp/err")" 'That is not as expected within 10 %'
like "in pieces: why" "$(cat "$tmp/err")" "^note: it was mapped by $((mib * 4 + 1)) calls" # and the first, of it all

# ---- CMD's own -------------------------------------------------------------------------------------------

"$HOTVAR" advise --verify -- "$access" random 4 5 > "$tmp/out" 2> "$tmp/err"
is "small: exit status" $? 0
unlike "small: no runs" "$(cat "$tmp/err")" 'Verified'
is "small: it ran once" "$(grep -c '^faults' "$tmp/out")" 1
"$HOTVAR" advise --verify -- "$access" sequential $mib 40 > "$tmp/out" 2> "$tmp/err"
unlike "sequential: no runs" "$(cat "$tmp/err")" 'Verified'
like "sequential: no advice" "$(cat "$tmp/err")" '^No advice'
"$HOTVAR" advise --verify -- sh -c 'exit 7' > "$tmp/out" 2> "$tmp/err"
is "a command that fails: its status" $? 7
"$HOTVAR" advise --verify -- "$access" killed $mib 1 > "$tmp/out" 2> "$tmp/err"
is "one that is killed: likewise" $? 137
like "and why there are no runs" "$(cat "$tmp/err")" 'cannot verify: .* failed'
printf '%s\n' 'read -r line && [ "$line" = input ] || exit 9' 'echo read it' "exec '$access' random $mib 10" > "$tmp/reads"
echo input > "$tmp/input"
"$HOTVAR" advise --verify -- sh "$tmp/reads" > "$tmp/out" 2> "$tmp/err" < "$tmp/input"
is "an input that is a file is read by each run" "$? $(grep -c 'read it' "$tmp/out")" "0 1"
like "with advice" "$(cat "$tmp/err")" '^Verified: 2 runs'
echo input | "$HOTVAR" advise --verify -- sh "$tmp/reads" > "$tmp/out" 2> "$tmp/err"
is "another one is not: the status is that of the run that failed" $? 9
like "as is said" "$(cat "$tmp/err")" 'failed when it was run again'

# One that ends, or executes another program, while another of its threads is made to ask for huge pages.
for how in exit exec; do
	timeout -s KILL 120 "$HOTVAR" advise --verify --json -o "$tmp/json" -- "$TESTPROGS/advise_ends" $how $mib > "$tmp/out" 2> "$tmp/err" < /dev/null
	is "a thread that does $how meanwhile: exit status, what was run" "$? $(grep -c '"type":"run"' "$tmp/json")" "0 4"
done

# Threads and children that map, with a filter of ours: none is broken, none left.
"$HOTVAR" advise --verify --json -o "$tmp/json" -- sh -c "'$access' random 4 1 > left & '$access' random 4 1; wait; exec '$access' random $mib 10" > "$tmp/out" 2> "$tmp/err"
is "children: exit status, as expected" "$? $(field "$tmp/json" verified as_expected)" "0 true"
is "children: they ran, too" "$(grep -c '^faults' "$tmp/left")" 1

if [ "$(id -u)" = 0 ] && command -v setpriv > /dev/null; then
	chmod 777 "$tmp"
	cp "$access" "$tmp/mine"
	chmod 755 "$tmp/mine"
	XDG_CACHE_HOME="$tmp/nobodys" setpriv --reuid=65534 --regid=65534 --clear-groups "$HOTVAR" advise --verify --json -o "$tmp/nobodys.json" -- "$tmp/mine" random $mib 10 > "$tmp/out" 2> "$tmp/err"
	is "nobody: exit status, as expected" "$? $(field "$tmp/nobodys.json" verified as_expected)" "0 true"
else
	skip "nobody" "this is not root"
fi

done_testing
