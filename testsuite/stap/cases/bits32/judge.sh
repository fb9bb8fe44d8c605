# SPDX-License-Identifier: GPL-2.0-or-later
# judge.sh - its map is as the kernel says.
is "$suite: staprun ends well: bits32" "$(cat "$out/bits32/status")" 0
judge bits32 python3 "$here/replay.py" "$out/bits32"
