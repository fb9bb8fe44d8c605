# SPDX-License-Identifier: GPL-2.0-or-later
# judge.sh - no answer was one that cannot be, and there were some of each kind.
for r in levels4 storm keys; do
	is "$suite: staprun ends well: $r" "$(cat "$out/$r/status")" 0
done
judge "pages, four levels" python3 "$work/srv/pages/pages.py" "$out/levels4" "$(sed -n 's/.* \(vma_[a-z_]*\)(a).*/\1/p' "$work/srv/pages/pages.stp")"
for d in levels4 giga; do
	like "$suite: there were pages of this kind: $d" "$(cat "$out/levels4/stdout")" "^DID $d"
done
for c in task softirq hardirq; do
	like "$suite: storm: pages there and not, asked from: $c" "$(cat "$out/storm/events")" \
		"^ASKED $c [1-9][0-9]{2,} present [1-9][0-9]* huge [01] gone [1-9]"
	like "$suite: storm: keys, asked from: $c" "$(cat "$out/keys/events")" "^KEYS $c 1 [1-9]"
done
nmi=$(tr '\n' ' ' < "$out/nmi")
like "$suite: storm: pages there and not, asked from NMIs" "$nmi" 'gone:[1-9].*nmis:[1-9][0-9]{2}.*present:[1-9].*strange:0 '
like "$suite: storm: huge pages were among them" "$(cat "$out/storm/events")" 'huge 1'
unlike "$suite: storm: no answer that cannot be" "$(cat "$out/storm/events")" '^STRANGE'
is "$suite: storm: nothing is known where no process is" "$(grep IDLE "$out/storm/events" | grep -v 'min -3 max -3$')" ""
is "$suite: storm: nor of keys" "$(grep STRANGE "$out/keys/events")" "STRANGE 0"
say "pagestorm: $(grep -hE 'ASKED|IDLE|KEYS' "$out/storm/events" "$out/keys/events" | tr '\n' ';') $nmi $(tr '\n' ' ' < "$out/vmstat")"
