# SPDX-License-Identifier: GPL-2.0-or-later
# judge.sh - each probe fires, but vma.track, which only has its functions there.
fired() {
	all=0 right=0
	while read -r p _; do
		[ "$p" != vma.track ] || continue
		all=$((all + 1))
		if grep -q "^FIRED $p [1-9]" "$out/probes/events"; then right=$((right + 1)); else echo "$p does not fire"; fi
	done < "$dir/listing"
	echo "$right of $all probes"
	test $all -gt 5 && test $right -eq $all
}
is "$suite: staprun ends well: probes" "$(cat "$out/probes/status")" 0
judge probes fired
unlike "$suite: vma.track does not fire" "$(cat "$out/probes/events")" '^FIRED vma.track'
