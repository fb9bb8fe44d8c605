# SPDX-License-Identifier: GPL-2.0-or-later
# pages.sh - what `hotvar pages` costs: against /proc/PID/smaps_rollup, and for each page against a bare read of pagemap.
#
# All numbers are CPU time of the reader, and the least of some rounds in which all take turns.  The process that is
# looked at sleeps: one with 1 TiB of sparse memory and 60,000 areas; one with 262,144 small pages; one with nothing.
set -e
program=$TESTPROGS/pages reader=$TESTPROGS/page_read rounds=${ROUNDS:-7}
tmp=$(mktemp -d "${TMPDIR:-/tmp}/hotvar-bench.XXXXXX")
trap 'exec 3>&- 4>&- 5>&-; rm -rf "$tmp"' EXIT

# start NAME MODE FD: the process $NAME
start() {
	mkfifo "$tmp/$1.in"
	"$program" "$2" < "$tmp/$1.in" > "$tmp/$1" &
	eval "exec $3> \"\$tmp/$1.in\""
	until grep -qs ready "$tmp/$1"; do sleep 0.1; done
}
pid_of() { sed -n 's/^pid //p' "$tmp/$1"; }
# take NAME COMMAND...: "NANOSECONDS KIB" more for NAME
take() {
	name=$1
	shift
	"$reader" time "$@" > /dev/null 2>> "$tmp/took-$name" || { echo "pages.sh: $* failed: $(tail -n 1 "$tmp/took-$name")" >&2; exit 1; }
}
least() { cut -d ' ' -f 1 "$tmp/took-$1" | sort -n | head -n 1; }

start large large 3
start dense dense 4
start small regions 5
range=$(sed -n 's/^region dense \([^ ]*\) \([^ ]*\) .*/\1 \2/p' "$tmp/dense")
i=0
while [ $i -lt $rounds ]; do
	i=$((i + 1))
	take rollup cat "/proc/$(pid_of large)/smaps_rollup"
	take large "$HOTVAR" pages -p "$(pid_of large)" --summary
	take regions "$HOTVAR" pages -p "$(pid_of large)" --json
	take raw "$reader" raw "$(pid_of dense)" $range
	take none "$reader" raw "$(pid_of dense)" ${range% *} ${range% *}
	take dense "$HOTVAR" pages -p "$(pid_of dense)" --summary
	take small "$HOTVAR" pages -p "$(pid_of small)" --summary
done
grep areas "$tmp/large" | sed 's/^/# /'
awk -v a="$(least large)" -v b="$(least rollup)" 'BEGIN {
	printf "bench pages-summary-against-rollup ratio %.2f goal <= 2.0\n", (a - 50e6) / b
	printf "# %.1f ms, smaps_rollup %.1f ms; 50 ms are allowed beside\n", a / 1e6, b / 1e6 }'
awk -v a="$(cut -d ' ' -f 2 "$tmp/took-large" | sort -n | tail -n 1)" 'BEGIN {
	printf "bench pages-summary-memory ratio %.2f goal <= 1.0\n# %d KiB of 64 MiB\n", a / 65536, a }'
awk -v a="$(cut -d ' ' -f 2 "$tmp/took-regions" | sort -n | tail -n 1)" -v t="$(least regions)" 'BEGIN {
	printf "bench pages-regions-memory ratio %.2f goal <= 1.0\n# %d KiB; all 60,000 rows in %.0f ms\n", a / 65536, a, t / 1e6 }'
awk -v a="$(least dense)" -v b="$(least small)" -v c="$(least raw)" -v d="$(least none)" 'BEGIN {
	printf "bench pages-page-against-pagemap ratio %.2f goal <= 1.2\n", (a - b) / (c - d)
	printf "# %.1f and %.1f ns a page\n", (a - b) / 262144, (c - d) / 262144 }'
