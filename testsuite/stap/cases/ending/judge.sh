# SPDX-License-Identifier: GPL-2.0-or-later
# judge.sh - every line is there, in order.
seq 20000 > "$tmp/ending"
all_lines() {
	sed -n 's/^\([0-9]*\) .*/\1/p' "$1" > "$tmp/ended"
	cmp "$tmp/ended" "$tmp/ending" && return
	echo "$(wc -l < "$tmp/ended") lines of 20000; where they begin to differ from 1 2 3...:"
	diff "$tmp/ended" "$tmp/ending" | head -n 12
	echo "on stderr:"
	head -n 12 "$2"
	return 1
}
for r in 1 2 signalled; do
	is "$suite: staprun ends well: ending/$r" "$(cat "$out/$r/status")" 0
	is "$suite: ending/$r: stap has said that it begins" "$(head -n 1 "$out/$r/events")" BEGIN
	check "$suite: what a script prints at its end is all read: ending/$r" all_lines "$out/$r/events" "$out/$r/stderr"
done
like "$suite: ending: the thread that reads takes the signal" "$(cat "$out/signalled/stdout")" '^the reader took the signal, not one of [23] others$'
