# SPDX-License-Identifier: GPL-2.0-or-later
# judge.sh - the list equals /proc/self/maps when there is memory again, and what was lost was said.
for n in 1 3 7; do
	r=$out/every$n
	is "$suite: staprun ends well: nomem/every$n" "$(cat "$r/status")" 0
	like "$suite: nomem/every$n: something was lost" "$(cat "$r/events")" '^MEMORY [1-9]'
	like "$suite: nomem/every$n: it is said at the end" "$(cat "$r/stderr")" 'vma: lost [1-9][0-9]* '
	judge "nomem/every$n" env PYTHONPATH="$here" python3 "$dir/nomem.py" "$r"
done
# Of nearly all that is kept, something was not.
is "$suite: nomem/every3: what was lost" "$(sed -n 's/^WARNING: vma: lost [0-9]* \([a-z]* [a-z]*\) .*/\1/p' "$out/every3/stderr" | grep -v '^symbol images' | sort | tr '\n' ',')" \
	"address spaces,events that,looks at,mapped files,threads not,"
