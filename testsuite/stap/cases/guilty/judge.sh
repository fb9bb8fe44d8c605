# SPDX-License-Identifier: GPL-2.0-or-later
# judge.sh - memory that is left, a write beyond it and a warning are all found.
is "$suite: guilty: it ended as if nothing were" "$(cat "$out/guilty/status")" 0
like "$suite: guilty: memory that it kept is found" "$(cat "$out/../leaks")" 'alloc_traces: *1 0xf'
"$lab/complaints" "$out/../console" "$out/../dmesg" > "$tmp/guilt"
like "$suite: guilty: its write beyond what it had is found" "$(cat "$tmp/guilt")" 'Redzone overwritten'
like "$suite: guilty: its warning is found" "$(cat "$tmp/guilt")" 'WARNING: .*guilty'
