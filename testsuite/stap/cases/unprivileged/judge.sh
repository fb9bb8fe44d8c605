# SPDX-License-Identifier: GPL-2.0-or-later
# judge.sh - what an unprivileged user is told; what he may call, and the listing of the probes.
for r in machine child; do
	e=$out/$r/events
	p=$out/$r/programs
	[ -f "$p" ] || p=$out/$r/stdout
	own=$(sed -n 's/^RUNS own //p' "$p")
	others=$(sed -n 's/^RUNS others //p' "$p")
	is "$suite: unprivileged/$r: staprun ends well" "$(cat "$out/$r/status")" 0
	unlike "$suite: unprivileged/$r: no error" "$(cat "$out/$r/stderr")" 'ERROR'
	like "$suite: unprivileged/$r: another's program has run" "$(cat "$p")" "^RAN others $others\$"
	is "$suite: unprivileged/$r: his own program's map" "$(grep -c "^MAP $own 70000000-70001000 rw-p \$" "$e")" 1
	is "$suite: unprivileged/$r: and when it is gone" "$(grep -c "^UNMAP $own 70000000-70001000\$" "$e")" 1
	like "$suite: unprivileged/$r: names" "$(cat "$e")" '^HERE own_variable\+0x5/0x12c \[/srv/unprivileged/own\]\|own_variable\|data\|own_data\|1\|1$'
	like "$suite: unprivileged/$r: an odd name of a variable" "$(cat "$e")" '^HERE odd\?\[31m\+0x5/0x10 \[.*\|odd\?\[31m\|data\|own_data\|1\|1$'
	like "$suite: unprivileged/$r: an odd name of a file" "$(cat "$e")" "^MAP $own [0-9a-f-]+ r--s /memfd:odd\\\\012MAP injected\$"
	is "$suite: unprivileged/$r: that makes no line of its own" "$(grep injected "$e" | grep -v '^MAP .* /memfd:odd')" ""
	like "$suite: unprivileged/$r: its child, as long as that is his" "$(cat "$e")" "^FORK $own $others\$"
	like "$suite: unprivileged/$r: its end" "$(cat "$e")" "^EXIT $own 0\$"
	is "$suite: unprivileged/$r: nothing of another's map" "$(grep -E "^(MAP|UNMAP|CHANGE) $others (70000000|.*others)" "$e")" ""
	is "$suite: unprivileged/$r: nor its exec" "$(grep "^EXEC $others" "$e")" ""
	is "$suite: unprivileged/$r: nor its end" "$(grep "^EXIT $others" "$e")" ""
	# A timer comes where it comes: maybe never in the other's; maybe where exec has given the process its name, and not yet
	# its owner: it is his own till then, and its memory is empty.  That is once, and first.
	is "$suite: unprivileged/$r: nor at a timer" "$(grep '^TIMER others' "$e" | sed '1s/others 0 ||0||0$/others 0 ||-1||0/' | grep -v 'others 0 ||-1||0$')" ""
	say "unprivileged/$r: $(grep -c '^TIMER own .*|anon|1|' "$e") timers in his own process while the page was there, $(grep -c '^TIMER others' "$e") in another's"
done

# Who calls what: all but these, which take long, or go by probes that he may not have.
not_his='vma_access_missed vma_access_samples vma_fault_missed vma_symaddr'
his=$("$here/generate" list "$work/hotvar/tapset" | grep -vxF "$(printf '%s\n' $not_his)")
call() {
	for f in "$@"; do
		sed -n "s/^function \($f\):[a-z]*(\(addr:long\|name:string\|\)).*/\1 \2 ./p" "$work"/hotvar/tapset/*.stp
	done | sed 's/addr:long/1/; s/name:string/"x"/' | while read -r f arg; do
		printf 'println(%s(%s)) ' "$f" "${arg%.}"
	done
}
check "$suite: --unprivileged: all other functions" stap --unprivileged -p2 -e "probe begin { $(call $his) }"
for f in $not_his; do
	like "$suite: --unprivileged: not $f" "$(stap --unprivileged -p2 -e "probe begin { $(call $f) }" 2>&1)" 'may not be used when --privilege=stapusr'
done
like "$suite: --unprivileged: not @vma_each_page" "$(stap --unprivileged -p2 -e 'probe process.begin { @vma_each_page(p, 9, { println(p) }) }' 2>&1)" \
	"may not be used when --privilege=stapusr.*'__vma_page_next'"
for p in vma.access vma.fault; do
	like "$suite: --unprivileged: not $p" "$(stap --unprivileged -p2 -e "probe $p { println(address) }" 2>&1)" 'not allowed for --privilege=stapusr'
done
# The list is what the documentation says, with the types.
is "$suite: stap -L 'vma.*'" "$(stap -L 'vma.*' 2> /dev/null | tr -s ' ' | sed 's/ __[a-z_]*:[a-z]*//g; s/ \$[^ ]*//g; s/ *$//' | sort)" "$(grep -v '^#' "$dir/listing" | sort)"
