# SPDX-License-Identifier: GPL-2.0-or-later
# judge.sh - its map is known, although it was there before.
is "$suite: staprun ends well: attach" "$(cat "$out/attach/status")" 0
judge attach python3 "$here/replay.py" "$out/attach"
like "$suite: attach: areas that were there already" "$(cat "$out/attach/events")" '^EV .* initial '
