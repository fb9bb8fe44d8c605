#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# exact-begins.sh - hotvar --exact and hotvar record --exact: what valgrind cannot begin to run is an error that says why, and no
# recording; what hotvar without --exact can tell beforehand is told in the same words.
. "$top_srcdir/testsuite/lib.sh"
cd "$tmp" || exit 1
export XDG_CACHE_HOME="$tmp/cache"

"$HOTVAR" -q --exact -o out -- true 2> err || skip_all "$(cat err)"

# refused TEXT STATUS REGEX COMMAND...: so by --exact, by record --exact, and no recording is left
refused() {
	refused_text=$1 refused_status=$2 refused_like=$3
	shift 3
	for how in "" record; do
		rm -f a.rec
		"$@" "$HOTVAR" $how --exact ${how:+-o a.rec} -- $cmd > out 2> err < /dev/null
		is "${how:+$how, }$refused_text: exit status" $? "$refused_status"
		like "${how:+$how, }$refused_text: is said" "$(tail -n 1 err)" "^hotvar: $refused_like$"
		unlike "${how:+$how, }$refused_text: and no report" "$(cat err)" 'accesses (in|counted)|nothing found'
		[ -z "$how" ] || check "$how, $refused_text: no recording" test ! -e a.rec
	done
}

# ---- what the kernel would not run either: the same words as without --exact ----
printf '#!/no/such/sh\necho\n' > script
printf 'not a program\0\1\2' > garbage
mkdir folder
"$HOTVAR" -q -o out -- true
head -c 40 "$TESTPROGS/loop" > short
# the machine is at offset 18 (elf.h, e_machine): 183 is AArch64
{ head -c 18 "$TESTPROGS/loop"; printf '\267\000'; tail -c +21 "$TESTPROGS/loop"; } > other
# a loader that is not there: the name has to be as long
sed 's,/lib64/ld-linux-x86-64.so.2,/lib64/no-linux-x86-64.so.2,' "$TESTPROGS/loop" > loader
chmod 755 script garbage short other loader
for cmd in ./script ./garbage ./folder ./short ./other ./loader ./none; do
	"$HOTVAR" -- $cmd > out 2> err
	status=$?
	refused "$cmd" $status "$(tail -n 1 err | sed 's/^hotvar: //; s/[][().*?+^$]/\\&/g')" env
done

# ---- what only valgrind cannot run ----
cmd=./small
printf '\177ELF\001\001\001' > small && head -c 100 /dev/zero >> small
printf '#!%s/small\n' "$tmp" > by_small
chmod 755 small by_small
refused "a 32-bit program" 125 "cannot count the accesses of './small': it is a 32-bit program.*: leave out --exact" env
cmd=./by_small
refused "a script of a 32-bit interpreter" 125 "cannot count the accesses of './by_small': its interpreter '.*/small' is a 32-bit program.*: leave out --exact" env
# Where the machine's word is all right, and the program headers are not: valgrind itself says so.
{ head -c 54 "$TESTPROGS/loop"; printf '\377\377'; tail -c +57 "$TESTPROGS/loop"; } > headers
chmod 755 headers
cmd=./headers
refused "headers that make no sense" 126 "cannot count the accesses of './headers': valgrind ended with status 126 before the program began: mend what it says above, or leave out --exact" env

# ---- valgrind that does not begin ----
cmd=$TESTPROGS/loop
refused "no valgrind" 125 "cannot count every access: there is no valgrind along PATH: install it: apt-get install valgrind" env PATH=/nowhere
cmd=true
mkdir fake
printf '#!/bin/sh\necho it is broken >&2\nexit 3\n' > fake/valgrind
chmod 755 fake/valgrind
refused "valgrind that fails" 125 "cannot count the accesses of 'true': valgrind ended with status 3 before the program began: mend what it says above, or leave out --exact" env PATH="$tmp/fake:$PATH"
like "what it said is above" "$(sed -n 1p err)" '^it is broken$'
printf '#!/bin/sh\nkill -KILL $$\n' > fake/valgrind
refused "valgrind that is killed" 137 "cannot count the accesses of 'true': valgrind was ended by signal 9 before the program began: run it again" env PATH="$tmp/fake:$PATH"
few() {
	(ulimit -v 500000 && exec "$@")
}
refused "too little address space" 125 "cannot count the accesses of 'true': valgrind ended with status [0-9]+ before the program began: mend what it says above, or leave out --exact" few
like "what the tool said is above" "$(cat err)" 'lift the limit with "ulimit -v unlimited'

# ---- what begins, and is not counted, is a report ----
"$HOTVAR" --exact --exact-from=request -o out -- true 2> err
is "a program that never asks for counting: CMD's status" "$?" 0
like "a program that never asks for counting: it is said" "$(tr -s '\n ' ' ' < out)" 'the program has not asked for it, with HOTVAR_START'
done_testing
