# SPDX-License-Identifier: GPL-2.0-or-later
# judge.sh - every round went well, and there were some.
rounds=$(cat "$out/rounds")
check "$suite: module unloaded in a storm more than once" test "$rounds" -gt 2
is "$suite: module unloaded in a storm, $rounds times: all went well" "$(cat "$out/errors")" ""
say "unloaded in a storm $rounds times"
