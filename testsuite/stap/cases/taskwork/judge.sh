# SPDX-License-Identifier: GPL-2.0-or-later
# judge.sh - as they were, works are done that have not been counted; as mended, none.
for m in mended unmended; do
	is "$suite: taskwork: three works: $m" "$(head -n 1 "$out/$m/events")" "ADDED 3"
done
is "$suite: taskwork: as mended, the module is unloaded" "$(cat "$out/mended/ends")" 0
is "$suite: taskwork: as mended, no work is done before it is counted" "$(tail -n 1 "$out/mended/events")" "EARLY 0"
like "$suite: taskwork: without the mend they are, or the module stays" "$(tail -n 1 "$out/unmended/events") $(cat "$out/unmended/ends")" '^EARLY [1-9]| 1$'
say "taskwork: of three, done before they were counted: $(tail -n 1 "$out/unmended/events" | tr -dc 0-9) without the mend, $(tail -n 1 "$out/mended/events" | tr -dc 0-9) with it"
