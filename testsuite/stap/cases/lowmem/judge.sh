# SPDX-License-Identifier: GPL-2.0-or-later
# judge.sh - the scripts went on to their end, and counted.
# Where there is no page for a path, stap's own search for programs ends the script, and says so: it is none of the tapset's.
for r in many storm; do
	ends=0
	[ $r = many ] || ! grep -q '^ERROR: Unable to allocate space for path' "$out/$r/stderr" || ends=1
	is "$suite: staprun ends well: lowmem/$r" "$(cat "$out/$r/status")" $ends
	is "$suite: lowmem/$r: no other error" "$(grep '^ERROR' "$out/$r/stderr" | grep -v '^ERROR: Unable to allocate space for path')" ""
	like "$suite: lowmem/$r: what could be told has been told" "$(cat "$out/$r/events")" '^CHANGES [1-9]'
	say "lowmem/$r: $(sed -n 's/^LOST //p' "$out/$r/events") losses counted"
done
is "$suite: lowmem: the program ends well" "$(cat "$out/said")" ""
like "$suite: lowmem: vma_lost() counts" "$(cat "$out/many/events")" '^LOST [1-9]'
like "$suite: lowmem: the script says what it lost" "$(cat "$out/many/stderr")" 'vma: lost [0-9]+ '
like "$suite: lowmem: the kernel ran out of memory" "$(cat "$out/../dmesg")" 'Out of memory: Killed'
is "$suite: lowmem: it killed nothing but hogs" "$(grep -o 'Killed process [0-9]* (.*' "$out/../dmesg" | grep -v ' (hog)')" ""
