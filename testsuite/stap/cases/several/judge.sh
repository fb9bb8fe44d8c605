# SPDX-License-Identifier: GPL-2.0-or-later
# judge.sh - those that are followed, and no other.
is "$suite: staprun ends well: several" "$(cat "$out/several/status")" 0
judge several python3 "$here/replay.py" "$out/several"
is "$suite: several: four processes" "$(sed -n 's/^EV \([0-9]*\) .*/\1/p' "$out/several/events" | sort -u)" \
	"$(sed -n 's/^PID //p' "$out/several/one" "$out/several/one.again" "$out/several/two" "$out/several/two.again" | sort)"
