# SPDX-License-Identifier: GPL-2.0-or-later
# judge.sh - there were some of each, and no name but the right one.
is "$suite: staprun ends well: nmi" "$(cat "$out/nmi/status")" 0
got=$(sed -n 2p "$out/nmi/events")
is "$suite: nmi: enough samples and names in NMIs, and by the timer" "$(head -n 1 "$out/nmi/events")" ENOUGH
like "$suite: nmi: no name but the right one" "$got" '^NMI seen [0-9]* skipped [0-9]* samples [0-9]* of-table [0-9]* named [0-9]* busy [0-9]* wrong 0$'
say "nmi: $got, $(sed -n 3p "$out/nmi/events")"
