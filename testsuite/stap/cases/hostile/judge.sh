# SPDX-License-Identifier: GPL-2.0-or-later
# judge.sh - an image that is refused names nothing; all that needs none is as it was.
named() {
	grep -c '^NM .* \(table\|hidden\|zeros\|plugin_[a-z]*\)$' "$1/events"
}
check "$suite: there are names to be refused" test "$(named "$out/trusted")" -gt 20
for way in foreign writable folder truncated empty noise header odd; do
	is "$suite: a $way image: staprun ends well" "$(cat "$out/$way/status")" 0
	is "$suite: a $way image: nothing is named by it" "$(named "$out/$way")" 0
	like "$suite: a $way image: offset in the file instead" "$(cat "$out/$way/events")" '^NM 0x[0-9a-f]* names\+0x'
done
