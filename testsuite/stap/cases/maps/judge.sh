# SPDX-License-Identifier: GPL-2.0-or-later
# judge.sh - each checkpoint equals /proc/self/maps.
for r in ops forks threads many; do
	is "$suite: staprun ends well: maps/$r" "$(cat "$out/$r/status")" 0
	judge "maps/$r" python3 "$here/replay.py" "$out/$r"
done
