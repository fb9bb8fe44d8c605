#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# run-bare.sh - stripped programs that no header leads to the unwind information of, or that have no section headers.
#
# Each round reads one variable and writes it: half of all accesses are writes, and most of the time is spent on them.
. "$top_srcdir/testsuite/lib.sh"

cat > "$tmp/count.c" << 'EOF'
volatile long v;

int main(void)
{
	for (long i = 0; i < 200000000; i++)
		v++;
	return 0;
}
EOF

# e_shoff, e_shnum and e_shstrndx := 0
bare() {
	cp "$1" "$2" && dd if=/dev/zero of="$2" bs=1 seek=40 count=8 conv=notrunc 2> "$tmp/null" &&
		dd if=/dev/zero of="$2" bs=1 seek=60 count=4 conv=notrunc 2> "$tmp/null"
}

values() {
	awk '
	function value(key) {
		if (!match($0, "\"" key "\":[0-9.e+-]+"))
			return 0
		return substr($0, RSTART + length(key) + 3, RLENGTH - length(key) - 3) + 0
	}
	/"type":"variable"/ { all += value("share"); writes += value("share") * value("write_share"); time += value("time_share") }
	END { if (all) printf "%.1f %.1f %.1f\n", 100 * writes / all, 100 * time, 100 * all }' "$1"
}

halves() { # PROGRAM WHAT
	"$HOTVAR" --json -q -o "$tmp/$1.json" -- "$tmp/$1" 2> "$tmp/$1.err" ||
		not_ok "hotvar runs a program: $2" "$(tail -n 5 "$tmp/$1.err")"
	set -- "$1" "$2" $(values "$tmp/$1.json")
	if awk "BEGIN { exit !(${5:-0} > 95 && ${4:-0} > 50 && ${3:-0} > 45 && ${3:-0} < 55) }"; then
		ok "$2: half of the accesses are writes, and they have most of the time"
	else
		not_ok "$2: half of the accesses are writes, and they have most of the time" \
			"got ${3:-nothing} % writes, ${4:-0} % of the time, ${5:-0} % of all accesses" "$(tail -n 5 "$tmp/$1.json")"
	fi
}

build() { # NAME FLAGS...
	name=$1
	shift
	"${CC:-cc}" -O2 -s "$@" -o "$tmp/$name" "$tmp/count.c" 2> "$tmp/$name.cc"
}

for kind in static dynamic; do
	case $kind in
	static) flags="-static -Wl,--no-eh-frame-hdr" ;;
	dynamic) flags="-Wl,--no-eh-frame-hdr" ;;
	esac
	if ! build $kind $flags; then
		skip "$kind, by .eh_frame alone" "it cannot be linked: $(tail -n 1 "$tmp/$kind.cc")"
		continue
	fi
	halves $kind "$kind, by .eh_frame alone"
	bare "$tmp/$kind" "$tmp/$kind-bare"
	halves $kind-bare "$kind, by its code alone"
done
done_testing
