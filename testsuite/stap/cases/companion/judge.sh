# SPDX-License-Identifier: GPL-2.0-or-later
# judge.sh - the plug-in's variable has its name, and only where an image could be made.

# address RUN NAME
address() {
	sed -n "s/^ADDRESS \(0x[0-9a-f]*\) $2\$/\1/p" "$out/$1/stdout"
}
# named RUN VARIABLE NAME: how often the variable's address is called so
named() {
	grep -c "^NM $(address "$1" "$2") $3\$" "$out/$1/events"
}
for r in without companion again by_hotvar refused; do
	is "$suite: hotvar stap ends as staprun: $r" "$(cat "$out/$r/status")" 0
	check "$suite: the plug-in was loaded: $r" test -n "$(address $r plug_hidden)"
	unlike "$suite: no companion is left: $r" "$(cat "$out/$r/ps-after")" hotvar-images
	unlike "$suite: no unfinished image is left: $r" "$(cat "$out/$r/images")" '\.tmp'
	is "$suite: stap gets what it was given: $r" "$(tail -n 3 "$out/$r/argv" | tr '\n' ' ')" "-c /srv/companion/plugged marks.stp "
done
for r in without refused; do
	is "$suite: no image, no name: $r" "$(named $r plug_hidden plug_hidden)" 0
	check "$suite: but the offset in the file: $r" test "$(named $r plug_hidden 'libplugged.so+0x[0-9a-f]*')" -gt 3
done
like "$suite: a folder that others may write to is said" "$(cat "$out/refused/stderr")" 'others may write to'
for r in companion again by_hotvar; do
	is "$suite: the program's own variable has its name from the first on: $r" "$(named $r own_table '.*')" "$(named $r own_table own_table)"
	check "$suite: the plug-in's variable gets its name while the script runs: $r" test "$(named $r plug_hidden plug_hidden)" -gt 5
	is "$suite: and has no other but the offset before: $r" "$(grep "^NM $(address $r plug_hidden) " "$out/$r/events" | awk '{ print $3 }' | uniq | sed 's/+0x.*//' | tr '\n' ' ')" \
		"$([ $r != companion ] || echo 'libplugged.so ')plug_hidden "
	like "$suite: a companion is there: $r" "$(cat "$out/$r/ps")" hotvar-images
done
like "$suite: -v says which images were made" "$(cat "$out/companion/stderr")" 'made the symbol image of /srv/companion/plugged'
say "companion: a plug-in is named after $(grep "^NM $(address companion plug_hidden) " "$out/companion/events" | grep -c 'libplugged.so+') unnamed marks, 50 ms apart"
is "$suite: plug-ins that come and go: hotvar stap ends as staprun" "$(cat "$out/storm/status")" 0
is "$suite: plug-ins that come and go: all were loaded" "$(tail -n 1 "$out/storm/stdout")" "LOADED 1280"
is "$suite: plug-ins that come and go: each has a name each time" "$(grep -c '^NM ' "$out/storm/events")" 1280
is "$suite: plug-ins that come and go: the right one, or the offset in the file" \
	"$(sed -n 's/^NM 0x[0-9a-f]* //p' "$out/storm/events" | grep -vE '^(plug_hidden|lib[1-8]\.so\+0x[0-9a-f]+)$' | sort | uniq -c | head)" ""
unlike "$suite: plug-ins that come and go: no companion is left" "$(cat "$out/storm/ps-after")" hotvar-images
unlike "$suite: plug-ins that come and go: no unfinished image is left" "$(cat "$out/storm/images")" '\.tmp'
say "companion: plug-ins that come and go: $(grep -c 'plug_hidden$' "$out/storm/events") of $(grep -c '^NM ' "$out/storm/events") marks named"
is "$suite: a script on standard input: status" "$(cat "$out/stdin/status")" 0
is "$suite: a script on standard input: stap reads it" "$(cat "$out/stdin/script")" "$(cat "$dir/marks.stp")"
check "$suite: a script on standard input: there are images" test "$(grep -c '\.img$' "$out/stdin/images")" -gt 1

# In the root, before: stap's runtime is mended where the lab's own script says it must be, and nowhere else.
if [ -d "$work/runtime" ]; then
	like "$suite: a runtime that is at fault is said" "$(cat "$dir/by_hotvar.said")" "^hotvar: stap's runtime is at fault here: using a copy with"
	is "$suite: and mended as the lab does it" "$(diff -r -x uprobes-inode.c "$work/runtime" "$(echo "$work"/.cache/hotvar/stap-runtime-*)" 2>&1)" ""
else
	is "$suite: a runtime without known faults is left alone" "$(ls -d "$work"/.cache/hotvar/stap-runtime-* 2> /dev/null)$(grep '^hotvar' "$dir/by_hotvar.said")" ""
fi
like "$suite: hotvar stap -L" "$(cat "$dir/probes")" '^vma\.map '
is "$suite: a script that is wrong: status" "$(cat "$dir/wrong.status")" 1
like "$suite: a script that is wrong: stap says it" "$(cat "$dir/wrong")" 'vma\.no_such'
