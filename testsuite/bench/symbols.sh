# SPDX-License-Identifier: GPL-2.0-or-later
# symbols.sh - building images, and naming addresses from a cold start, against nm, llvm-symbolizer, eu-addr2line and gdb.
#
# Times are those of the processor, user and system together, the least of several runs taken in turns: on a busy
# machine the clock on the wall tells how busy it is.  The real program is $HOTVAR_BENCH_ELF, or node.
. "$top_srcdir/testsuite/lib.sh"

command -v bash > /dev/null || { echo "# no bash, whose clock this uses"; exit 77; }
# left_out NAME WHY: it is told at the end of all benches, too
left_out() {
	echo "skip $1: $2"
}
export XDG_CACHE_HOME="$tmp/cache" HOTVAR_DEBUGDIR="$tmp/none" DEBUGINFOD_URLS=
mkdir "$tmp/cache"

# spent FILE COMMAND...: milliseconds of the processor's time, from an empty cache, with FILE as input; a command that fails has none
spent() {
	rm -rf "$tmp/cache/hotvar"
	bash -c 'TIMEFORMAT="%3U %3S"; in=$1 out=$2; shift 2; { time "$@" < "$in" > "$out" 2> "$out.err"; } 2>&1 || { echo "$*: $(tail -n 1 "$out.err")" > "$out.failed"; }' spent "$1" "$tmp/out" \
		"$2" "$3" "$4" "$5" "$6" "$7" | awk '{ print 1000 * ($1 + $2) }'
}
# against NAME GOAL ROUNDS IN-A IN-B COMMAND-A COMMAND-B, each command one word of the shell's
against() {
	name=$1 goal=$2 rounds=$3 in_a=$4 in_b=$5 a=$6 b=$7
	: > "$tmp/a"
	: > "$tmp/b"
	while [ "$rounds" -gt 0 ]; do
		spent "$in_a" sh -c "exec $a" >> "$tmp/a"
		spent "$in_b" sh -c "exec $b" >> "$tmp/b"
		rounds=$((rounds - 1))
	done
	if [ -s "$tmp/out.failed" ]; then
		echo "symbols.sh: $name: $(cat "$tmp/out.failed")" >&2
		exit 1
	fi
	sort -n "$tmp/a" | head -n 1 > "$tmp/a1"
	sort -n "$tmp/b" | head -n 1 > "$tmp/b1"
	awk -v name="$name" -v goal="$goal" -v a="$(cat "$tmp/a1")" -v b="$(cat "$tmp/b1")" 'BEGIN {
		printf "bench %s ratio %.3f goal <= %s\n# %s: %.0f ms against %.0f ms\n", name, a / b, goal, name, a, b }'
}

"$TESTPROGS/elf_many" 1000000 > "$tmp/million" || exit 1
against image-build-against-nm 0.333 9 /dev/null /dev/null "'$HOTVAR' symbols '$tmp/million'" "nm '$tmp/million'"

# A million addresses on stdin, an image in the cache; the first is answered before the second is asked.
nm "$tmp/million" | awk '{ print $1 }' | shuf --random-source="$tmp/million" > "$tmp/all"
"$HOTVAR" symbols "$tmp/million" > "$tmp/out"
bash -c 'TIMEFORMAT="%3U %3S"; { time "$1" sym -e "$2" < "$3" > "$4"; } 2>&1' sh "$HOTVAR" "$tmp/million" "$tmp/all" "$tmp/named" |
	awk -v n="$(wc -l < "$tmp/all")" '{ printf "bench sym-stream-us-an-address ratio %.2f goal <= 2\n", 1e6 * ($1 + $2) / n }'
[ "$(wc -l < "$tmp/named")" = "$(wc -l < "$tmp/all")" ] || { echo "symbols: answers are missing" >&2; exit 1; }
rm "$tmp/million" "$tmp/named" "$tmp/all"

real=${HOTVAR_BENCH_ELF:-$(command -v node || command -v nodejs)}
[ -n "$real" ] || { left_out cold-against-others "no node here: name a large program in HOTVAR_BENCH_ELF"; exit 0; }
real=$(readlink -f "$real")
nm "$real" 2> /dev/null | awk '$2 ~ /^[bBdDrRtTwW]$/ { print "0x" $1 }' > "$tmp/symbols"
[ -s "$tmp/symbols" ] || nm -D "$real" | awk '$2 ~ /^[bBdDrRtTwW]$/ { print "0x" $1 }' > "$tmp/symbols"
echo "# $real: $(wc -l < "$tmp/symbols") symbols"
shuf -n 1000 --random-source="$real" "$tmp/symbols" > "$tmp/addrs"
sed 's/^/DATA /' "$tmp/addrs" > "$tmp/addrs.llvm"
sed 's/^/info symbol /' "$tmp/addrs" > "$tmp/addrs.gdb"
sym="'$HOTVAR' sym -e '$real'"
llvm=
for l in llvm-symbolizer $(cd /usr/bin && ls llvm-symbolizer-* 2> /dev/null); do
	! command -v "$l" > /dev/null || { llvm=$l; break; }
done
if [ -n "$llvm" ]; then
	against cold-against-llvm-symbolizer 1 7 "$tmp/addrs" "$tmp/addrs.llvm" "$sym" "$llvm -e '$real'"
else
	left_out cold-against-llvm-symbolizer "no llvm-symbolizer: apt-get install llvm"
fi
if command -v eu-addr2line > /dev/null; then
	against cold-against-eu-addr2line 1 2 "$tmp/addrs" "$tmp/addrs" "$sym" "eu-addr2line -S -e '$real'"
else
	left_out cold-against-eu-addr2line "no eu-addr2line: apt-get install elfutils"
fi
if command -v gdb > /dev/null; then
	against cold-against-gdb 1 3 "$tmp/addrs" /dev/null "$sym" "gdb -nx -batch -x '$tmp/addrs.gdb' '$real'"
	if readelf -S "$real" | grep -q debug_info; then
		against dwarf-image-against-gdb-real 1 2 /dev/null /dev/null "'$HOTVAR' symbols '$real'" \
			"gdb -nx -batch -ex 'info variables' '$real'"
	else
		left_out dwarf-image-against-gdb-real "$real has no debug information"
	fi
else
	left_out cold-against-gdb "no gdb: apt-get install gdb"
fi
