# SPDX-License-Identifier: GPL-2.0-or-later
# dwarf.sh - how long debug information takes, against gdb's reading of it, and what it costs a measurement.
#
# Redis with its own debug information, and with a hundred times as much: what it holds is the same, a hundred times over.
. "$top_srcdir/testsuite/lib.sh"

redis=$(sh "$top_srcdir/testsuite/real/redis-build") || exit 77
XDG_CACHE_HOME=$tmp/cache
export XDG_CACHE_HOME
mkdir "$tmp/cache"

# seconds COMMAND...: the least of five; of one that fails none
seconds() {
	"$@" > "$tmp/out" 2>&1 || { echo "dwarf.sh: $*: $(tail -n 1 "$tmp/out")" >&2; return 1; }
	for _ in 1 2 3 4 5; do
		rm -rf "$tmp/cache/hotvar"
		a=$(date +%s%N)
		"$@" > /dev/null 2>&1
		b=$(date +%s%N)
		echo $((b - a))
	done | sort -n | head -n 1
}
ratio() {
	awk -v a="$1" -v b="$2" 'BEGIN { printf "%.3f", a / b }'
}
whole=$(seconds "$HOTVAR" symbols "$redis/redis-server") || exit 1
if command -v gdb > /dev/null; then
	gdb=$(seconds gdb -nx -batch -ex 'info variables' "$redis/redis-server") || exit 1
	echo "bench dwarf-image-against-gdb ratio $(ratio "$whole" "$gdb") goal <= 1"
else
	echo "skip dwarf-image-against-gdb: no gdb: apt-get install gdb"
fi
cp "$redis/redis-server" "$tmp/plain"
strip -g "$tmp/plain"
plain=$(seconds "$HOTVAR" symbols "$tmp/plain")
echo "# image of redis-server: $(awk -v a="$whole" -v b="$plain" 'BEGIN { printf "%.1f ms, without debug information %.1f ms", a / 1e6, b / 1e6 }')"

objcopy -O binary --only-section=.debug_info --set-section-flags .debug_info=alloc "$redis/redis-server" "$tmp/info"
for _ in $(seq 100); do cat "$tmp/info"; done > "$tmp/large"
objcopy --update-section .debug_info="$tmp/large" "$redis/redis-server" "$tmp/huge"
rm "$tmp/large"
huge=$(seconds "$HOTVAR" symbols "$tmp/huge")
echo "# $(du -m "$tmp/huge" | cut -f 1) MiB of it: $(awk -v a="$huge" 'BEGIN { printf "%.0f ms", a / 1e6 }')"
# A measurement reads no more than 64 MiB, so one of the huge program begins as soon as one of the stripped one: by CPU time, in
# turns, the least of nine each, since a measurement is short and much else is in it.
cpu() {
	rm -rf "$tmp/cache/hotvar"
	python3 -c 'import resource, subprocess, sys
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
r = resource.getrusage(resource.RUSAGE_CHILDREN)
print(int((r.ru_utime + r.ru_stime) * 1e9))' "$@"
}
for _ in 1 2 3 4 5 6 7 8 9; do
	cpu "$HOTVAR" -q -o "$tmp/report" -- "$tmp/huge" --version >> "$tmp/of-huge"
	cpu "$HOTVAR" -q -o "$tmp/report" -- "$tmp/plain" --version >> "$tmp/of-plain"
done
echo "bench dwarf-huge-measurement ratio $(ratio "$(sort -n "$tmp/of-huge" | head -n 1)" "$(sort -n "$tmp/of-plain" | head -n 1)") goal <= 1.5"
