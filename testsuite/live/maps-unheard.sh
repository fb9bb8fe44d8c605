#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# maps-unheard - perf's rings overflow while hotvar does not run: what is there afterwards is found, threads, processes and
# their maps, and it is said how much was lost and since when.
. "$top_srcdir/testsuite/lib.sh"

build_mkrec
cat > "$tmp/gap.txt" << 'EOT'
initial pid=7 mm=1 at=0x400000-0x402000 prot=r-x region=anon
map pid=7 mm=1 t=3500000 at=0x402000-0x403000 prot=rw- region=anon
loss what=maps count=5 since-ms=2
loss what=maps count=2
end elapsed=4000000 cpu=1000 samples=0
EOT
"$mkrec" "$tmp/gap.txt" "$tmp/gap.rec"
like "a gap in a recording" "$("$HOTVAR" maps -i "$tmp/gap.rec")" '^    0.0034[0-9]* .* lost +5 news of tasks and maps since +0.0014[0-9]*; '
like "a gap in a recording, JSON" "$("$HOTVAR" maps --json -i "$tmp/gap.rec")" '^\{"type":"gap","time_ns":3500000,"since_ns":1500000,"lost_maps":5\}$'
like "what was lost in all" "$("$HOTVAR" maps --json -i "$tmp/gap.rec")" '"type":"total",.*"lost_maps":7'
command -v python3 > /dev/null || { skip "the rest" "no python3 here"; done_testing; exit; }

# Neither mount is seen outside.
in_tracefs() {
	unshare -m sh -c '[ -d /sys/kernel/tracing/events ] || mount -t tracefs tracefs /sys/kernel/tracing || exit 99; exec "$@"' sh "$@"
}
without_it() {
	[ "$(id -u)" -eq 0 ] || { "$@"; return; } # it is for root alone
	unshare -m sh -c 'umount -q -l /sys/kernel/debug/tracing 2> /dev/null; umount -q -l /sys/kernel/tracing; [ ! -d /sys/kernel/tracing/events ] || exit 99; exec "$@"' sh "$@"
}

# unheard SOURCE WITHIN LOOKS: LOOKS is 1 where the source has to look for what is unmapped
unheard() {
	$2 "$HOTVAR" maps --source $1 -o /dev/null -- true > /dev/null 2> "$tmp/err"
	if [ $? -ne 0 ] || [ "$(grep -c "looked up about" "$tmp/err")" -ne $3 ]; then
		skip "$1${2:+, $2}" "not here: $(tail -n 1 "$tmp/err")"
		return
	fi
	said=$($2 timeout -k 5 120 python3 "$top_srcdir/testsuite/maps/unheard.py" "$HOTVAR" "$TESTPROGS/unheard" 60000 --source $1 2>&1)
	if [ $? -eq 0 ]; then
		ok "$1${2:+, $2}: $said"
	else
		not_ok "$1${2:+, $2}" "$said"
	fi
}

unheard perf "" 0
unheard perf-returns in_tracefs 0
unheard perf-returns without_it 1
done_testing
