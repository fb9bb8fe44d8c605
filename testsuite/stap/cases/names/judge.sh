# SPDX-License-Identifier: GPL-2.0-or-later
# judge.sh - functions say what is right, and names are as nm has them.
is "$suite: staprun ends well: names" "$(cat "$out/names/status")" 0
judge names python3 "$dir/names.py" "$out/names" "$("$here/generate" list "$work/hotvar/tapset")" "$dir"
