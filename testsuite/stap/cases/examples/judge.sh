# SPDX-License-Identifier: GPL-2.0-or-later
# judge.sh - what the examples say is what the programs did; each ends well, and says nothing of a loss.
for d in "$out"/*/; do
	r=$(basename "$d")
	is "$suite: examples/$r: staprun ends well" "$(cat "$d/status")" 0
	unlike "$suite: examples/$r: no error, nothing skipped" "$(cat "$d/stderr")" 'ERROR|skipped|MAXACTION|overflow'
	[ "$r" = unmap-unasked ] || like "$suite: examples/$r: nothing is lost" "$(tail -n 1 "$d/events")" 'lost: 0$'
	[ -z "${LAB_KEEP-}" ] || cp "$d/events" "$LAB_KEEP/$r.txt"
done
for r in mapwatch hotlock unmap-mapped unmap-variable hotvar hotvar-members hotvar-faults whofaults cowwatch hotpages \
	attach-hotvar attach-hotpages attach-unmapwatch; do
	judge "examples/$r" python3 "$dir/examples.py" "$r" "$out/$r"
done
is "examples/unmap-none: a variable that is nowhere" "$(head -n 1 "$out/unmap-none/events")" "no module with a symbol image has a variable rings"
like "examples/unmap-unasked: what it needs" "$(cat "$out/unmap-unasked/events")" '^unmapwatch: watch what\? -G variable='

# Each has its description in SystemTap's form, and a sample of its output.
for f in "$top_srcdir"/examples/*.stp; do
	b=${f##*/}
	meta=$(cat "${f%.stp}.meta")
	for field in title version author keywords subsystem status exit output scope description test_check test_installcheck; do
		like "$suite: examples/$b: $field" "$meta" "^$field: ."
	done
	like "$suite: examples/$b: name" "$meta" "^name: $b\$"
	check "$suite: examples/$b: sample output" test -s "${f%.stp}.txt"
done
