# SPDX-License-Identifier: GPL-2.0-or-later
# judge.sh - each checkpoint equals /proc/self/maps; an exec is told as one; a name is known when its image has come.
for r in alone unknown renamed exec exits grow wide merged; do
	is "$suite: staprun ends well: seldom/$r" "$(cat "$out/$r/status")" 0
	judge "seldom/$r" python3 "$here/replay.py" "$out/$r"
done
like "$suite: seldom/unknown: what an unknown call has mapped" "$(grep ' map .*\[vdso\]' "$out/unknown/events")" '\[vdso\]'
like "$suite: seldom/renamed: the name it has then" "$(cat "$out/renamed/events")" '\|/tmp/renamed\.[0-9]*/d/file$'
is "$suite: seldom/exec: one exec more" "$(grep -c '^EXEC ' "$out/exec/events")" $(($(grep -c '^EXEC ' "$out/wide/events") + 1))
is "$suite: seldom/exec: one address space ends with its last thread" "$(grep -c '^EXIT ' "$out/exec/events")" 1
is "$suite: seldom/exits: each address space ends once" "$(sed -n 's/^EXIT [0-9]* \([0-9]*\) .*/\1/p' "$out/exits/events" | sort | uniq -c | awk '$1 == 1' | grep -c .)" 9
is "$suite: seldom/late: no name while there is no directory" "$(cat "$out/late/nameless")" 0
is "$suite: seldom/late: a name when there is" "$(cat "$out/late/named")" 0
is "$suite: staprun ends well: seldom/late" "$(cat "$out/late/status")" 0
