# SPDX-License-Identifier: GPL-2.0-or-later
# judge.sh - maps are as the kernel says; the examples say of a 32-bit program what they say of another.
for r in ops threads vfork exec x32 attach machine; do
	is "$suite: staprun ends well: bits32/$r" "$(cat "$out/$r/status")" 0
	judge "bits32/$r" python3 "$here/replay.py" "$out/$r"
done
is "$suite: bits32/x32: the kernel has the calls of x32" "$(cat "$out/x32/stdout")" X32
for r in hotlock unmap-variable hotvar hotvar-faults whofaults cowwatch hotpages; do
	is "$suite: staprun ends well: bits32/$r" "$(cat "$out/$r/status")" 0
	unlike "$suite: bits32/$r: no error, nothing skipped" "$(cat "$out/$r/stderr")" 'ERROR|skipped|MAXACTION|overflow'
	judge "bits32/$r" python3 "$work/srv/examples/examples.py" "$r" "$out/$r" /srv/bits32/examples32
done
