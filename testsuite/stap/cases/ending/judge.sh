# SPDX-License-Identifier: GPL-2.0-or-later
# judge.sh - every line is there, in order.
seq 20000 > "$tmp/ending"
for r in 1 2; do
	is "$suite: staprun ends well: ending/$r" "$(cat "$out/$r/status")" 0
	check "$suite: what a script prints at its end is all read: ending/$r" sh -c 'tail -n +2 "$1" | cut -d " " -f 1 | cmp - "$2"' cmp "$out/$r/events" "$tmp/ending"
done
