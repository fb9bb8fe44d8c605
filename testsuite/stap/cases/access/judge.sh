# SPDX-License-Identifier: GPL-2.0-or-later
# judge.sh - what is told of instructions is what the processor does; what is told of samples is what the program can do.
for c in insns64 insns32 sample hostile everybody nodecoder; do
	is "$suite: staprun ends well: $c" "$(cat "$out/$c/status")" 0
	[ "$(cat "$out/$c/status")" = 0 ] || sed 's/^/# /' "$out/$c/stderr"
done
judge insns64 python3 "$dir/insns.py" "$out/insns64" 150
judge insns32 python3 "$dir/insns.py" "$out/insns32" 40
judge sample python3 "$dir/sample.py" "$out/sample" "$(cat "$out/stranger")"
judge hostile python3 "$dir/hostile.py" "$out/hostile"
cp "$out/everybody/program" "$out/everybody/stdout"
judge everybody python3 "$dir/hostile.py" "$out/everybody"
is "$suite: without a decoder nothing is told" "$(cat "$out/nodecoder/events")" END
is "$suite: without a decoder that is said, once" "$(grep -c 'vma.access and vma.fault will not fire' "$out/nodecoder/stderr")" 1
