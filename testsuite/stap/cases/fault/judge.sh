# SPDX-License-Identifier: GPL-2.0-or-later
# judge.sh - each fault is told, by its thread, in its order, to the byte; also where the processor's address was overwritten.
# Then a page of code that another thread has had brought in meanwhile is refused no more, and has no address.
for r in "fault 0" "lost 8"; do
	set -- $r
	is "$suite: staprun ends well: fault/$1" "$(cat "$out/$1/status")" 0
	judge fault/$1 python3 "$dir/fault.py" "$out/$1" "$2"
done
like "$suite: fault/lost: addresses were overwritten" "$(cat "$out/lost/events")" '^OVERWRITTEN [1-9]'
