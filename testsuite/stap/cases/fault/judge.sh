# SPDX-License-Identifier: GPL-2.0-or-later
# judge.sh - each fault is told, by its thread, in its order, to the byte.
is "$suite: staprun ends well: fault" "$(cat "$out/fault/status")" 0
judge fault python3 "$dir/fault.py" "$out/fault"
