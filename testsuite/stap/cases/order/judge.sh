# SPDX-License-Identifier: GPL-2.0-or-later
# judge.sh - what is printed comes out in the order in which it was printed.
is "$suite: staprun ends well: order" "$(cat "$out/order/status")" 0
like "$suite: order: a reader was held up" "$(cat "$out/order/stdout")" '^held the reader of processor [01]: 8 lines before, [0-9]* meanwhile$'
is "$suite: order: every line, in order" "$(cat "$out/order/events")" \
	"$(for n in $(seq 1 24); do echo "$n on $((n > 8 && n < 17 ? 1 : 0))"; done; echo END)"
unlike "$suite: order: stapio says of no loss" "$(cat "$out/order/stderr")" 'sequence|lost'
