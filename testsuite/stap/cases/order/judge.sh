# SPDX-License-Identifier: GPL-2.0-or-later
# judge.sh - what is printed comes out in the order in which it was printed.
is "$suite: staprun ends well: order" "$(cat "$out/order/status")" 0
like "$suite: order: a reader was held up" "$(cat "$out/order/stdout")" '^held the reader of processor [01]: 8 lines before, [0-9]* meanwhile$'
is "$suite: order: every line, in order" "$(cat "$out/order/events")" \
	"$(for n in $(seq 1 24); do echo "$n on $((n > 8 && n < 17 ? 1 : 0))"; done; echo END)"
unlike "$suite: order: stapio says of no loss" "$(cat "$out/order/stderr")" 'sequence|lost|transport failures'

# What there was no room for is whole messages, and is counted.
whole() {
	awk 'seen { print "behind the end: " $0; bad = 1; exit }
		/^END$/ { seen = 1; next }
		!/^[0-9]+ of more lines than the one megabyte of buffer has room for$/ { print "cut: " substr($0, 1, 200); bad = 1; exit }
		$1 <= last { print $1 " after " last; bad = 1; exit }
		{ last = $1; n++ }
		END { if (bad) exit 1; print n " of 60000 lines, the last " last; exit !(seen && n > 10000 && n < 60000) }' "$1"
}
is "$suite: staprun ends well: order/full" "$(cat "$out/full/status")" 0
check "$suite: order: of a full buffer, what comes out is whole lines, in order" whole "$out/full/events"
like "$suite: order: what was lost is counted" "$(cat "$out/full/stderr")" 'There were [1-9][0-9]* transport failures'
unlike "$suite: order: stapio has lost nothing more" "$(cat "$out/full/stderr")" 'sequence|lost|read error'
