# SPDX-License-Identifier: GPL-2.0-or-later
# judge.sh - each checkpoint equals /proc/self/maps; each that was killed has been seen to end.
# What the last call of a thread changed that is killed, also by another's exec, may be lost, and is counted then.
for r in vfork tree signals machine; do
	is "$suite: staprun ends well: tasks/$r" "$(cat "$out/$r/status")" 0
	judge "tasks/$r" python3 "$here/replay.py" "$out/$r"
done
judge tasks/exec python3 "$here/replay.py" --may-lose "$out/exec"
for r in killed suicide; do
	judge "tasks/$r" python3 "$here/replay.py" --may-lose "$out/$r"
	is "$suite: tasks/$r: vma.exit of each that was killed" \
		"$(sed -n 's/^EXIT \([0-9]*\) .* 9$/\1/p' "$out/$r/events" | sort | grep -xF "$(sed -n 's/^KILLED //p' "$out/$r/stdout")")" \
		"$(sed -n 's/^KILLED //p' "$out/$r/stdout" | sort)"
done
is "$suite: staprun ends well: tasks/killed" "$(cat "$out/killed/status")" 0
check "$suite: staprun says that its target was killed" test "$(cat "$out/suicide/status")" -ne 124
