#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# advise.sh - hotvar advise: advice where accesses jump over more than the TLB reaches, and only there; counts as the
# program has them; --verify against getrusage; -p, -i, and what is refused.
. "$top_srcdir/testsuite/lib.sh"

access=$TESTPROGS/advise_access
cd "$tmp" || exit 1
export XDG_CACHE_HOME="$tmp/cache"

# Where huge pages are off, root may turn them on for the time of the test.
thp=/sys/kernel/mm/transparent_hugepage/enabled
had=$(sed -n 's/.*\[\(.*\)\].*/\1/p' $thp 2> /dev/null)
if [ "$had" = never ] && [ -w $thp ]; then
	trap 'echo never > $thp; tap_cleanup' EXIT
	echo madvise > $thp
fi
# Where they are given to all that fits, the program does without.
[ "$had" != always ] || export ADVISE_NO_THP=1
thp_now=$(sed -n 's/.*\[\(.*\)\].*/\1/p' $thp 2> /dev/null)

# field FILE TYPE KEY: of the first row of that type
field() {
	sed -n "/^{\"type\":\"$2\"/{s/.*\"$3\":\\(\"[^\"]*\"\\|[^,}]*\\).*/\\1/;s/\"//g;p;q;}" "$1"
}
# told NAME: a number that the program has printed
told() {
	sed -n "s/^$1 //p" "$tmp/out" | head -n 1
}
# advice HOW MIB [MILLIONS]: run it, watched
advice() {
	"$HOTVAR" advise --json -o "$tmp/json" -- "$access" "$@" > "$tmp/out" 2> "$tmp/err"
	rc=$?
}

advice random 8 1
reach=$(field "$tmp/json" machine tlb_reach)
check "the machine is told" test "${reach:-0}" -gt 0
mib=64
while [ $mib -lt $((reach / 262144)) ]; do # four times what the TLB reaches
	mib=$((2 * mib))
done
can=$("$HOTVAR" doctor --json | grep -c '"name":"perf-timer","ok":true')
if [ "$can" -eq 0 ]; then
	advice random $mib 20
	is "without samples there is no advice" "$(field "$tmp/json" total advised)" 0
	is "and why is said" "$(field "$tmp/json" advice why)" no-samples
	skip "the rest" "no perf timer here (hotvar doctor says why)"
	done_testing
	exit 0
fi

# ---- advice ------------------------------------------------------------------------------------------------

advice random $mib 15
is "random: exit status" $rc 0
is "random: advised" "$(field "$tmp/json" advice advised)" true
start=$(set -- $(told range) && echo "$1")
end=$(set -- $(told range) && echo "$2")
is "random: the program's own area" "$(field "$tmp/json" advice start) $(field "$tmp/json" advice end)" "$start $end"
is "random: all of it was touched in an interval" "$(field "$tmp/json" advice touched)" $((mib * 256))
is "random: whole 2 MiB, and pages at the ends" "$(field "$tmp/json" advice spans) $(field "$tmp/json" advice ends)" "$(told spans) $(told ends)"
is "random: page faults now, as the program counted them" "$(field "$tmp/json" advice faults_now)" "$(told faults)"
is "random: page faults with huge pages" "$(field "$tmp/json" advice faults_with)" $(($(told spans) + $(told ends)))
like "random: by the function that jumps" "$(field "$tmp/json" advice code)" '^jump\+0x'
like "random: the call" "$(cat "$tmp/json")" "madvise\\(\\(void \\*\\)$start, $((mib << 20)), MADV_HUGEPAGE\\)"
if command -v python3 > /dev/null; then
	check "each line is a JSON object with a type" python3 -c '
import json, sys
rows = [json.loads(l) for l in open(sys.argv[1])]
assert rows[0]["type"] == "meta" and rows[0]["command"] == "advise", rows[0]
assert [r["type"] for r in rows] == ["meta", "machine", "advice", "total"], rows
a = rows[2]
assert a["jumps"] <= a["pairs"] and a["jump_pages"] <= a["jumps"] and a["intervals_over"] <= a["intervals"]
assert a["faults_without"] == a["present"] and a["calls"][0]["call"] == "madvise"
' "$tmp/json"
fi

# ---- none --------------------------------------------------------------------------------------------------

# none HOW MIB MILLIONS WHY
none() {
	advice "$1" "$2" "$3"
	is "$1, $2 MiB: no advice" "$rc $(field "$tmp/json" total advised)" "0 0"
	like "$1, $2 MiB: why" "$(field "$tmp/json" advice why) of $(field "$tmp/json" total areas)" "$4"
}
none random $((reach >> 21)) 15 '^ of 0$'
none sequential $mib 120 '^in-order of 1$'
none once $((4 * mib)) 0 '^in-order of 1$'
none few $mib 0 '^few-pages of 1$'
"$HOTVAR" advise -- "$access" sequential $mib 120 > "$tmp/out" 2> "$tmp/err"
like "in words" "$(cat "$tmp/err")" 'no advice: accesses walk through it in order, most of them'
"$HOTVAR" advise -- "$access" random 4 1 > "$tmp/out" 2> "$tmp/err"
like "of a small program" "$(cat "$tmp/err")" 'No advice\. No area has more in memory than the TLB reaches'

# ---- what there is to be advised ---------------------------------------------------------------------------

advice unaligned $((mib + 1)) 15
is "unaligned: spans and ends" "$(field "$tmp/json" advice spans) $(field "$tmp/json" advice ends)" "$(told spans) $(told ends)"
check "unaligned: there are ends" test "$(told ends)" -gt 512
like "unaligned: alignment is advised" "$(cat "$tmp/json")" '"call":"align","text":"aligned_alloc\(2097152'
if [ $mib -eq 64 ]; then
	advice static 1 15
	is "static: the variable's name" "$(field "$tmp/json" advice name) $(field "$tmp/json" advice advised)" "table true"
	like "static: by its name" "$(cat "$tmp/json")" '"call":"madvise","text":"madvise\(\) of the pages of table '
	like "static: alignment" "$(cat "$tmp/json")" '__attribute__\(\(aligned\(2097152\)\)\) on table'
fi
advice malloc $mib 15
like "malloc: the tunable" "$(cat "$tmp/json")" 'GLIBC_TUNABLES=glibc\.malloc\.hugetlb=1'
advice random $mib 15
unlike "mmap: no tunable" "$(cat "$tmp/json")" 'GLIBC_TUNABLES'
like "mmap: a pool" "$(cat "$tmp/json")" "\"call\":\"hugetlb\",\"text\":\"mmap\\(\\) with MAP_HUGETLB, with $((mib / 2)) huge pages"
advice shared $mib 15
is "shared: advised" "$(field "$tmp/json" advice kind) $(field "$tmp/json" advice advised)" "shm true"
if grep -Eq '\[(never|deny)\]' /sys/kernel/mm/transparent_hugepage/shmem_enabled; then
	like "shared: what root must set" "$(cat "$tmp/json")" '"call":"admin","text":"root: echo advise > /sys/kernel/mm/transparent_hugepage/shmem_enabled'
fi
advice file $mib 15
is "file: advised, as anonymous memory" "$(field "$tmp/json" advice kind) $(field "$tmp/json" advice call)" "file anonymous"
advice refused $mib 15
is "refused: it is seen" "$(field "$tmp/json" advice refused) $(grep -c '"call":"no-nohugepage"' "$tmp/json")" "true 1"
advice gone $mib 15
is "gone: what was unmapped is remembered" "$(field "$tmp/json" advice gone) $(field "$tmp/json" advice advised)" "true true"
advice killed $mib 15
is "killed: the exit status, and what was seen" "$rc $(field "$tmp/json" advice advised)" "137 true"
if [ "$thp_now" = madvise ] || [ "$thp_now" = always ]; then
	unset ADVISE_NO_THP
	advice asked $mib 15
	[ "$had" != always ] || export ADVISE_NO_THP=1
	is "asked: no advice for what is huge already" "$(field "$tmp/json" advice why) $(field "$tmp/json" advice huge)" "huge-already $((mib * 256))"
fi

# ---- what CMD starts ---------------------------------------------------------------------------------------

# child COMMAND: of a shell, which is not what accesses the memory
child() {
	"$HOTVAR" advise --json -o "$tmp/json" -- sh -c "$1" "$access" $mib > "$tmp/out" 2> "$tmp/err"
	rc=$?
}
# rows: each area that is advised, of a process that is not CMD, with its name
rows() {
	meta=$(field "$tmp/json" meta pid)
	grep '"advised":true' "$tmp/json" | grep -v "\"pid\":$meta," | sed 's/.*"start":"\([^"]*\)".*"comm":"\([^"]*\)".*/\1 \2/' | sort
}
ranges() {
	sed -n 's/^range \([^ ]*\) .*/\1 advise_access/p' "$tmp/out" | sort
}
child '"$0" random $1 40; exit 3'
is "a child: the exit status is CMD's" $rc 3
is "a child: its area, with its name" "$(rows)" "$(ranges)"
child '"$0" random $1 40 & "$0" random $1 40 & wait'
is "two at a time" "$(rows)" "$(ranges)"
is "one row for each" "$(rows | grep -c .)" 2
child '(i=0; while [ $i -lt 100000 ]; do i=$((i + 1)); done; exec "$0" random $1 40); true'
is "one that executes another program after a while" "$(rows)" "$(ranges)"
child '"$0" killed $1 40; true'
is "one that is killed" "$(rows)" "$(ranges)"
child '"$0" sequential $1 500; true'
like "one that walks: no advice" "$(field "$tmp/json" total advised) $(field "$tmp/json" advice why) $(field "$tmp/json" advice comm)" \
	"^0 (in-order|few-samples) advise_access\$"
child 'i=0; while [ $i -lt 300 ]; do /bin/true; i=$((i + 1)); done'
is "hundreds of short ones" "$rc $(field "$tmp/json" total areas)" "0 0"
"$HOTVAR" advise --verify -- sh -c '"$0" random $1 40; true' "$access" $mib > "$tmp/out" 2> "$tmp/err"
is "--verify is for CMD's own memory" $? 125
like "--verify: and says so" "$(cat "$tmp/err")" "the advice is for processes that 'sh' starts"
like "in words, with its number" "$(cat "$tmp/err")" ', in process [0-9]+ \(advise_access\)$'
"$HOTVAR" record -q -F 5000 -o "$tmp/two.rec" -- sh -c '"$0" random $1 40 & "$0" random $1 40 & wait' "$access" $mib > "$tmp/out" 2> "$tmp/err"
"$HOTVAR" advise -i "$tmp/two.rec" --json > "$tmp/json" 2> "$tmp/err"
is "a recording of two" "$(grep '"advised":true' "$tmp/json" | sed 's/.*"start":"\([^"]*\)".*/\1 advise_access/' | sort)" "$(ranges)"

# ---- a process, a recording --------------------------------------------------------------------------------

mkfifo "$tmp/in"
"$access" wait $mib 1 < "$tmp/in" > "$tmp/out" &
pid=$!
exec 3> "$tmp/in"
until_true 60 grep -q ready "$tmp/out"
"$HOTVAR" advise -p $pid -d 1 --json > "$tmp/json" 2> "$tmp/err"
is "-p: exit status" $? 0
is "-p: advised" "$(field "$tmp/json" advice start) $(field "$tmp/json" advice advised)" "$(set -- $(told range) && echo "$1") true"
check "-p: it runs on" kill -0 $pid
"$HOTVAR" advise -p $pid --json > "$tmp/json" 2> "$tmp/err" 3>&- &
hv=$!
watches() {
	ls -l /proc/$hv/fd 2> /dev/null | grep -q "/proc/$pid/mem"
}
until_true 60 watches
exec 3>&-
wait $pid
wait $hv
check "-p: it ends when the process does" grep -q '"type":"total"' "$tmp/json"
"$HOTVAR" advise -p $$ -d 0.2 > "$tmp/text" 2> "$tmp/err"
is "-p: nothing found is 1" $? 1

"$HOTVAR" record -q -F 5000 -o "$tmp/jumps.rec" -- "$access" random $mib 20 > "$tmp/out" 2> "$tmp/err"
"$HOTVAR" advise -i "$tmp/jumps.rec" --json > "$tmp/json" 2> "$tmp/err"
is "-i: exit status" $? 0
start=$(set -- $(told range) && echo "$1")
grep "^{\"type\":\"advice\",\"start\":\"$start\"" "$tmp/json" > "$tmp/row" # there may be others that were accessed seldom
is "-i: advised" "$(field "$tmp/row" advice advised)" true
is "-i: what a recording does not tell is null" "$(field "$tmp/row" advice present) $(field "$tmp/row" advice intervals)" "null null"
like "-i: by the function that jumps" "$(field "$tmp/row" advice code)" '^jump\+0x'
if [ -c /dev/full ]; then
	"$HOTVAR" advise -i "$tmp/jumps.rec" -o /dev/full 2> "$tmp/err"
	is "-o on a full disk" $? 125
	like "-o on a full disk: why is said" "$(cat "$tmp/err")" '^hotvar: .*/dev/full: No space left'
fi
like "-i: it is said in text" "$("$HOTVAR" advise -i "$tmp/jumps.rec" 2>&1)" '^not known: which pages were in memory or huge'
"$HOTVAR" record -q -F 5000 -o "$tmp/walk.rec" -- "$access" sequential $mib 200 > "$tmp/out" 2> "$tmp/err"
"$HOTVAR" advise -i "$tmp/walk.rec" --json > "$tmp/json" 2> "$tmp/err"
is "-i: a walk: nothing found" "$? $(field "$tmp/json" total advised)" "1 0"
like "-i: a walk: why" "$(grep "\"start\":\"$(set -- $(told range) && echo "$1")\"" "$tmp/json")" '"why":"in-order"'
head -c 5000 "$tmp/jumps.rec" > "$tmp/cut.rec"
"$HOTVAR" advise -i "$tmp/cut.rec" > "$tmp/text" 2> "$tmp/err"
rc=$?
check "-i: cut off: no crash" test $rc -eq 1 -o $rc -eq 125 -o $rc -eq 0
like "-i: and it is said" "$(cat "$tmp/err")" 'cut off|no samples'

# ---- refused -----------------------------------------------------------------------------------------------

refused() {
	text=$1 want=$2 words=$3
	shift 3
	"$HOTVAR" advise "$@" > "$tmp/text" 2> "$tmp/err" < /dev/null
	is "$text: exit status" $? "$want"
	like "$text: says it" "$(cat "$tmp/err")" "$words"
}
refused "nothing" 2 'advise on what\?'
refused "two targets" 2 'more than one of -p, -i and a command' -p 1 -- true
refused "a misspelt option" 2 "verfy.*--verify" --verfy -- true
refused "--verify without CMD" 2 'runs a command again and again' --verify -p $$
refused "--rounds alone" 2 'is for --verify' --rounds 3 -- true
refused "--rounds of one" 2 'from 2 to 1000' --verify --rounds 1 -- true
refused "an interval of none" 2 "bad value '0' for --interval" --interval 0 -- true
refused "no such process" 125 'process' -p 999999999
refused "no such command" 127 'no_such_command' -- no_such_command
refused "no recording" 125 "no_such_file" -i no_such_file
like "a misspelt subcommand" "$("$HOTVAR" advis 2>&1)" "did you mean 'hotvar advise'"
if [ -x "$TESTPROGS/without" ]; then
	"$TESTPROGS/without" perf EPERM "$HOTVAR" advise -- "$access" random $mib 10 > "$tmp/out" 2> "$tmp/err"
	like "without perf: no advice, since the order is not known" "$(cat "$tmp/err")" 'no advice: whether accesses jump about in it is not known'
	like "without perf: why" "$(cat "$tmp/err")" '^not known: in which order memory is accessed: .*perf_event_paranoid|^not known: in which order memory is accessed: .*perf'
fi

# ---- hostile -----------------------------------------------------------------------------------------------

"$HOTVAR" advise --json -o "$tmp/json" -- "$TESTPROGS/advise_hostile" > "$tmp/out" 2> "$tmp/err"
is "a terabyte, and $(told areas) areas: exit status" $? 0
start=$(set -- $(told range) && echo "$1")
like "the right one is found" "$(grep "\"start\":\"$start\"" "$tmp/json")" '"advised":true'

# What guards its memory has areas that nobody but root sees: that is not to have none.
drop=
[ "$(id -u)" != 0 ] || drop="setpriv --reuid=65534 --regid=65534 --clear-groups"
if [ -n "$drop" ] && ! command -v setpriv > "$tmp/where"; then
	skip "a command that guards its memory" "no setpriv"
else
	chmod 777 "$tmp"
	cat > "$tmp/later.c" <<'END'
#include <sys/prctl.h>
#include <unistd.h>
int main(void)
{
	char byte;

	return prctl(PR_SET_DUMPABLE, 0) || write(1, "guarded\n", 8) != 8 || read(0, &byte, 1) < 0;
}
END
	check "a program that guards its memory later" cc -o "$tmp/later" "$tmp/later.c"
	cp "$(command -v cat)" "$tmp/begun" # from its first instruction on: execve(2), prctl(2)
	chmod 111 "$tmp/begun"
	for program in begun later; do
		echo > "$tmp/line"
		XDG_CACHE_HOME="$tmp/nobodys" $drop "$HOTVAR" advise -o - -- "$tmp/$program" < "$tmp/line" > "$tmp/out" 2> "$tmp/err"
		like "guarded, $program: it is said" "$(cat "$tmp/out")" '^not known: the memory of 1 process, which guards it .*: run hotvar as root$'
		like "guarded, $program: and no other reason" "$(cat "$tmp/out")" '^No advice\. Not all memory could be looked at\.$'
		XDG_CACHE_HOME="$tmp/nobodys" $drop "$HOTVAR" advise --json -o - -- "$tmp/$program" < "$tmp/line" > "$tmp/out" 2> "$tmp/err"
		like "guarded, $program: JSON" "$(tail -n 1 "$tmp/out")" '"guarded":1'
	done
fi

# With so few open files that it just runs there are none for a look; nobody knows how few these are.
like "enough open files" "$("$HOTVAR" advise --json -o - -- true 2>&1 | tail -n 1)" '"starved":false'
n=5
while n=$((n + 1)) && [ $n -lt 40 ]; do
	(ulimit -n $n && exec "$HOTVAR" advise --json -o "$tmp/few" -- true) > "$tmp/err" 2>&1 && break
done
like "just enough open files: it is said that areas may be missing" "$(tail -n 1 "$tmp/few")" '"starved":true'

done_testing
