# SPDX-License-Identifier: GPL-2.0-or-later
# judge.sh - functions say what is right, and names are as nm has them.
is "$suite: staprun ends well: names" "$(cat "$out/names/status")" 0
judge names python3 "$dir/names.py" "$out/names" "$("$here/generate" list "$work/hotvar/tapset")" "$dir"
# However many files of the tapset it takes, what follows is there once for each kind of event; a probe adds its own.
sets() {
	stap -p2 -e "$1" 2> /dev/null | grep -c '^process\.syscall\.return'
}
is "$suite: functions of several files: one set of probes" \
	"$(sets 'probe vma.fault, vma.access, timer.s(1) { println(vma_symdata(1), vma_is_private(1), vma_symaddr("x"), vma_prot(1), vma_next(1)) }')" 1
# stap 5.6 makes one handler of all of the same event.
like "$suite: and a probe" "$(sets 'probe vma.map { println(vma_symdata(1), vma_symaddr("x"), vma_prot(1)) }')" '^[12]$'
