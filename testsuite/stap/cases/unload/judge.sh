# SPDX-License-Identifier: GPL-2.0-or-later
# judge.sh - every round went well.
rounds=$(grep -c '^$' "$out/rounds")
is "$suite: modules unloaded in a storm" "$rounds" $((3 * $(cat "$dir/times")))
is "$suite: modules unloaded in a storm: all went well" "$(cat "$out/errors")" ""
is "$suite: the storm goes on until it is over" "$(cat "$out/storm")" ""
say "unloaded in a storm $rounds times"
