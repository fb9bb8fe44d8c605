# SPDX-License-Identifier: GPL-2.0-or-later
# judge.sh - its map is known, although it was there before; and what was there is told as that, whoever was the first to see it.
for r in attach held1 held2 held3 held4; do
	is "$suite: staprun ends well: attach/$r" "$(cat "$out/$r/status")" 0
	judge attach/$r python3 "$here/replay.py" "$out/$r"
	like "$suite: attach/$r: areas that were there already" "$(cat "$out/$r/events")" '^EV .* initial .*\|/srv/attach/attach$'
	# It maps no file while it is attached to.
	is "$suite: attach/$r: no file is told as new" "$(grep '^EV .* map .*|/' "$out/$r/events" | head -n 5)" ""
done
