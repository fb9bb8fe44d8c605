#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# maps-watch - the first event that takes a watched range away is told, with its thread and call stack, and nothing before it.
. "$top_srcdir/testsuite/lib.sh"

watched=$TESTPROGS/watched
fixed=0x6d0000000000-0x6d0000004000
pids=
cleanup() {
	for p in $pids; do
		kill -9 "$p" 2> /dev/null
	done
	tap_cleanup
}
trap cleanup EXIT

# value KEY: of the watch record, the first of that name
value() {
	grep '^{"type":"watch"' "$tmp/out" | grep -Eo '"'"$1"'":("[^"]*"|[^],}]*)' | head -n 1 | cut -d: -f2- | tr -d '"'
}
# The frames' symbols, innermost first, of our own functions alone
frames() {
	grep '^{"type":"watch"' "$tmp/out" | grep -o '"symbol":"[^"]*"' | cut -d'"' -f4 |
		grep -x 'take_away\|middle\|outer\|act\|main' | tr '\n' ' '
}
# What nm says of where a frame is: the innermost of our file's, resolved without hotvar's names
function_of_first() {
	ip=$(grep '^{"type":"watch"' "$tmp/out" | tr '{' '\n' | grep '"symbol":"take_away"' | sed 's/.*"ip":"\(0x[0-9a-f]*\)".*/\1/')
	[ -n "$ip" ] && nm -n "$watched" | awk -v off="$((ip - $1))" '
		function hex(s,  n, i) { n = 0; for (i = 1; i <= length(s); i++) n = n * 16 + index("0123456789abcdef", substr(s, i, 1)) - 1; return n }
		hex($1) <= off && tolower($2) == "t" { name = $3 } END { print name }'
}

# start HOW: the program waits for a line; $pid, and $range as it prints it
mkfifo "$tmp/go"
start() {
	rm -f "$tmp/said"
	"$watched" "$1" < "$tmp/go" > "$tmp/said" &
	pid=$!
	pids="$pids $pid"
	exec 3> "$tmp/go"
	until_true 10 grep -q ' ' "$tmp/said"
	range=$(cut -d' ' -f1 "$tmp/said")
}
# watch RANGE...: attach, and let the program go on once hotvar is there
watch() {
	rm -f "$tmp/out"
	"$HOTVAR" maps --json -o "$tmp/out" -p $pid --watch "$@" 2> "$tmp/err" 3>&- &
	hotvar=$!
	until_true 10 grep -q "^TracerPid:.$hotvar\$" /proc/$pid/status
	# attached to it is not yet all: it must have stopped once, and go on
	until_true 10 sh -c "grep -q '^State:.S' /proc/$pid/status"
	begin=$(awk '/watched$/ { sub(/-.*/, ""); print "0x" $0; exit }' /proc/$pid/maps)
	echo go >&3
}
finish() {
	exec 3>&-
	wait $pid
	status=$?
}

# ends HOW EVENT CALL: it is told, while the program waits, which then runs on to its end
ends() {
	start "$1"
	watch "$range"
	wait $hotvar
	is "$1: status" $? 0
	is "$1: event, call, process" "$(value event) $(value syscall) $(value pid)" "$2 $3 $pid"
	is "$1: frames" "$(frames)" "${4-take_away middle outer act main }"
	case $2 in
	exec | exit) ;;
	*)
		is "$1: nm says the same of the first" "$(function_of_first "$begin")" take_away
		until_true 10 grep -q again "$tmp/said"
		is "$1: by the thread that did it" "$(value tid)" "$(sed -n 's/^again //p' "$tmp/said")"
		check "$1: the program runs on untraced" until_true 5 grep -q '^TracerPid:.0$' /proc/$pid/status
		;;
	esac
	finish
	is "$1: the program ends as ever" $status "${5-3}"
}
ends munmap unmap munmap
ends thread unmap munmap "take_away middle outer act "
ends mremap move mremap
ends dontunmap move mremap
ends fixed shrink mmap
ends brk shrink brk
ends shmdt unmap shmdt
ends exec exec execve "take_away middle outer act main " 0
ends exit exit exit "take_away middle outer act main " 7

# What is not taken away is no event: then its end is.
for how in protect child; do
	start $how
	watch "$range"
	until_true 10 grep -q again "$tmp/said"
	check "$how: nothing is told" sh -c "kill -0 $hotvar && [ ! -s '$tmp/out' ]"
	finish
	wait $hotvar
	is "$how: but its end" "$? $(value event) $(value pid)" "0 exit $pid"
done

# Memory that nothing is mapped in, and a watch that ends before the range does.
start munmap
watch 0x6c0000000000-0x6c0000001000
finish
wait $hotvar
is "nothing is there: status" "$? $(value hit)" "1 false"
start munmap
"$HOTVAR" maps -d 0.2 -p $pid --watch $fixed > "$tmp/out"
is "-d: status" $? 1
like "-d: is said" "$(cat "$tmp/out")" "^$fixed: nothing took it away\$"
finish

# A variable, by name.
start variable
watch victim
wait $hotvar
is "variable: status" $? 0
is "variable: its range is what the program says" "$(value start)-$(value end)" "$range"
is "variable: event, call" "$(value event) $(value syscall)" "unmap munmap"
is "variable: module" "$(value module)" "$(realpath "$watched")"
finish
start variable
watch 'watched:victim.rest.right'
until_true 10 grep -q again "$tmp/said"
# What is taken away is the second page, of 4096 bytes behind first: right comes after it.
check "a member: what is taken is another" sh -c "kill -0 $hotvar && [ ! -s '$tmp/out' ]"
finish
wait $hotvar
is "a member: its end" "$? $(value event)" "0 exit"
is "a member: its range" "$(($(value end) - $(value start))) $(($(value start) - ${range%%-*}))" "8192 12288"
start variable
for name in nonesuch victim.nonesuch other:victim; do
	timeout 20 "$HOTVAR" maps -p $pid --watch $name > "$tmp/out" 2> "$tmp/err"
	is "$name: status" $? 125
	like "$name: why" "$(cat "$tmp/err")" "^hotvar: cannot watch '$name': process $pid has no variable of that name"
done
finish

# Of a program that has none of that name, that is told in the end, and what mends it; its status is its own.
"$HOTVAR" maps --watch nonesuch -- sh -c 'exit 7' > "$tmp/out" 2>&1
is "nonesuch of a command: status" $? 7
like "nonesuch of a command: is said" "$(cat "$tmp/out")" "^nonesuch: was never there; check the name with nm"

# The bytes of a pointer are its own, and that is said, with what it points to.
cat > "$tmp/pointer.c" << 'END'
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>
char *pointer;
long number;
struct { int first; char *inside; } both;
int main(void)
{
	char c;

	/* between pages of another protection, so that nothing is merged with it */
	pointer = mmap(0, 12288, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pointer = both.inside = mmap(pointer + 4096, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	printf("0x%lx-0x%lx\n", (long)pointer, (long)pointer + 4096);
	fflush(stdout);
	return read(0, &c, 1) < 0;
}
END
${CC:-cc} -g -o "$tmp/pointer" "$tmp/pointer.c" || not_ok "pointer can be built"
"$tmp/pointer" < "$tmp/go" > "$tmp/said" &
pid=$!
pids="$pids $pid"
exec 3> "$tmp/go"
until_true 10 grep -q - "$tmp/said"
for name in pointer both.inside; do
	"$HOTVAR" maps -d 0.1 -p $pid --watch $name > "$tmp/out" 2> "$tmp/err"
	is "$name: what it points to is said, once" "$(sed "s/^hotvar: '$name' is a pointer: its own 8 bytes are watched, not .* give --watch //" "$tmp/err")" \
		"$(cat "$tmp/said")"
done
for name in number both.first; do
	"$HOTVAR" maps -d 0.1 -p $pid --watch $name > "$tmp/out" 2> "$tmp/err"
	is "$name is no pointer" "$(cat "$tmp/err")" ""
done
finish
"$HOTVAR" maps -o "$tmp/out" --watch pointer -- "$tmp/pointer" < /dev/null > "$tmp/said" 2> "$tmp/err"
is "a pointer of a command: is said, once" "$(grep -c "^hotvar: 'pointer' is a pointer: .*--watch START-END" "$tmp/err") $(wc -l < "$tmp/err")" "1 1"
"$HOTVAR" record -q -o "$tmp/rec" -- "$tmp/pointer" < /dev/null > "$tmp/said" 2> "$tmp/err"
"$HOTVAR" maps -i "$tmp/rec" --watch pointer > "$tmp/out" 2> "$tmp/err"
is "and of a recording" "$(grep -c "^hotvar: 'pointer' is a pointer: .*--watch START-END" "$tmp/err") $(wc -l < "$tmp/err")" "1 1"

# One of several: the module is named, or the source file.
for lib in a b; do
	printf 'static long same[1024] = { 1 };\nlong both[1024] = { 1 };\nlong *variable_%s(void) { return same; }\n' $lib > "$tmp/$lib.c"
	${CC:-cc} -g -shared -fPIC -o "$tmp/$lib.so" "$tmp/$lib.c" || not_ok "$lib.so can be built"
done
printf 'static long same[512] = { 1 };\nlong *more(void) { return same; }\n' > "$tmp/more.c"
${CC:-cc} -g -shared -fPIC -o "$tmp/b.so" "$tmp/b.c" "$tmp/more.c"
LD_PRELOAD="$tmp/a.so $tmp/b.so" "$watched" munmap < "$tmp/go" > "$tmp/said" &
pid=$!
pids="$pids $pid"
exec 3> "$tmp/go"
until_true 10 grep -q ' ' "$tmp/said"
for name in both same b.so:same; do
	timeout 20 "$HOTVAR" maps -p $pid --watch $name > "$tmp/out" 2> "$tmp/err"
	is "$name, of which there are several: status" $? 125
	case $name in
	both) want='a.so:both b.so:both' ;;
	same) want='a.so:same b.so:same@b.c b.so:same@more.c' ;;
	*) want='b.so:same@b.c b.so:same@more.c' ;;
	esac
	is "$name: which there are" "$(sed "s/^hotvar: cannot watch '$name': there are several; name one of them: //; s/, /\\n/g" "$tmp/err" | sort | tr '\n' ' ')" "$want "
done
for name in a.so:both b.so:both b.so:same@b.c same@more.c; do
	"$HOTVAR" maps --json -d 0.1 -o "$tmp/out" -p $pid --watch $name 2> "$tmp/err"
	is "$name: nothing takes it away" "$? $(value hit)" "1 false"
	file=${name%%:*}
	[ "$file" != "$name" ] || file=b.so
	symbol=${name#*:}
	symbol=${symbol%@*}
	base=$(awk -v f="$tmp/$file" '$6 == f { sub(/-.*/, "", $1); print "0x" $1; exit }' /proc/$pid/maps)
	is "$name: it is where nm says" "$(nm "$tmp/$file" | awk -v s="$symbol" '$3 == s { print "0x" $1 }' | while read -r at; do
		[ $((base + at)) -ne $(($(value start))) ] || echo yes
	done)" yes
done
is "of the files of one name: as large as it is there" $(($(value end) - $(value start))) 4096
finish

# A library that is loaded, and unloaded, later.
one=$(realpath "$TESTPROGS/libreload_one.so")
"$HOTVAR" maps --json -o "$tmp/out" --watch one_var -- "$TESTPROGS/reload" 1000 "$one" "$TESTPROGS/libreload_two.so" > "$tmp/said"
is "a library that is loaded later: its range is what the program says" "$(value start)" "$(head -n 1 "$tmp/said")"
is "a library that is loaded later: event, call, module" "$(value event) $(value syscall) $(value module)" "unmap munmap $one"
like "a library that is loaded later: by dlclose" "$(cat "$tmp/out")" '"symbol":"munmap".*"symbol":"_?_?dlclose.*"symbol":"main"'

# Waiting for news is poll(2), 7 here: what comes before that is over.  Read by this shell, whose child it is.
waits() {
	read -r call _ < "/proc/$hotvar/syscall" && [ "$call" = 7 ] || ! kill -0 $hotvar
}

# Sources that stop nothing: when, and who where that is known; never a stack.
for source in perf look; do
	start munmap
	"$HOTVAR" maps --json --source $source -o "$tmp/out" -p $pid --watch "$range" 2> "$tmp/err" 3>&- &
	hotvar=$!
	# The first look is what the range is compared with: it must have been.
	until_true 10 sh -c "ls -l /proc/$hotvar/fd 2> /dev/null | grep -q '/proc/$pid/\|perf_event' || ! kill -0 $hotvar"
	until_true 10 waits
	echo go >&3
	wait $hotvar
	rc=$?
	if [ $rc -eq 125 ]; then
		skip "$source: a watch" "$(head -n 1 "$tmp/err")"
	else
		is "$source: status" $rc 0
		like "$source: event" "$(value event)" "^(unmap|shrink)\$"
		case $(value syscall) in
		null) is "$source: by whom is not known" "$(value tid)" null ;;
		*) is "$source: by the thread that did it" "$(value syscall) $(value tid)" "munmap $(sed -n 's/^again //p' "$tmp/said")" ;;
		esac
		like "$source: no stack, and why" "$(cat "$tmp/out")" '"stack":\[\],"stack_ends":"this source stops nothing'
	fi
	finish
done

# Launched: served to its end, whose status is CMD's; told while it runs on.
"$HOTVAR" maps -o "$tmp/text" --watch $fixed -- "$watched" munmap < "$tmp/go" > "$tmp/said" &
hotvar=$!
exec 3> "$tmp/go"
until_true 10 grep -q ' ' "$tmp/said"
echo go >&3
check "launched: told at once" until_true 10 grep -q '#3 .* outer+0x' "$tmp/text"
like "launched: in words" "$(cat "$tmp/text")" \
	"^$fixed: unmapped, at [0-9]+\.[0-9]{6} s, by thread [0-9]+ \"watched\" of process [0-9]+\$"
exec 3>&-
wait $hotvar
is "launched: CMD's status" $? 3
printf 'go\n' | "$HOTVAR" maps --json -o "$tmp/out" --watch victim -- "$watched" variable > "$tmp/said"
is "launched, a variable: CMD's status" $? 3
is "launched, a variable: its range" "$(value start)-$(value end)" "$(sed -n '1s/ .*//p' "$tmp/said")"
is "launched, a variable: event, call" "$(value event) $(value syscall)" "unmap munmap"
printf 'go\n' | "$HOTVAR" maps --json -o "$tmp/out" --watch victim -- sh -c "'$watched' exit; exec '$watched' variable" > "$tmp/said"
is "executed by CMD: event, call" "$(value event) $(value syscall)" "unmap munmap"
is "executed by CMD: its range" "$(value start)-$(value end)" "$(sed -n 's/^\(0x.*\) .*/\1/p' "$tmp/said" | tail -n 1)"

# In a recording: without a stack.
for source in ptrace perf; do
	if ! printf 'go\n' | "$HOTVAR" record -q --source $source -o "$tmp/rec" -- "$watched" variable > "$tmp/said" 2> "$tmp/err"; then
		[ $? -eq 125 ] && skip "recorded by $source" "$(cat "$tmp/err")" && continue
	fi
	for input in "$tmp/rec" -; do
		"$HOTVAR" maps --json -i $input --watch victim < "$tmp/rec" > "$tmp/out"
		is "recorded by $source, -i ${input##*/}: status" $? 0
		like "recorded by $source, -i ${input##*/}: no stack, and why" "$(cat "$tmp/out")" '"stack":\[\],"stack_ends":"a recording has none'
		is "recorded by $source, -i ${input##*/}: range" "$(value start)-$(value end)" "$(sed -n '1s/ .*//p' "$tmp/said")"
		[ $source = perf ] && continue
		is "recorded by $source, -i ${input##*/}: event, call, thread" "$(value event) $(value syscall) $(value tid)" \
			"unmap munmap $(sed -n 's/^again //p' "$tmp/said")"
	done
done

"$HOTVAR" maps --watch 5 -p 1 2> "$tmp/err"
is "no range: status" $? 2
"$HOTVAR" maps --watch 2000-1000 -p 1 2> "$tmp/err"
is "the wrong way round: status" $? 2
for range in zz-yy 1000-yy zz-2000 1000- -2000 1000-2000- lib-a.so:zz-yy; do
	"$HOTVAR" maps "--watch=$range" -i "$tmp/rec" 2> "$tmp/err"
	is "$range: status" $? 2
	like "$range: is no range, and no name" "$(cat "$tmp/err")" "^hotvar: bad value '$range' for --watch: it takes two hexadecimal addresses, START-END"
done
for name in lib-a.so:both both@my-file.c 'of<-1>::value' lib-a.so:ns::value; do
	"$HOTVAR" maps "--watch=$name" -i "$tmp/rec" > "$tmp/out" 2> "$tmp/err"
	is "$name: may be a name: status" $? 1
	like "$name: but is none there" "$(cat "$tmp/out")" "^$name: was never there"
done
"$HOTVAR" maps -i "$tmp/rec" --watch victim > "$tmp/text"
like "a recording's watch in words says that there is no stack" "$(cat "$tmp/text")" '^  no call stack: a recording has none'
"$HOTVAR" maps -d 1 -i "$tmp/rec" > "$tmp/out" 2> "$tmp/err"
is "-d of a recording: status" $? 2
like "-d of a recording: why" "$(cat "$tmp/err")" "^hotvar: -d is for what runs"
"$HOTVAR" maps --source perf -i "$tmp/rec" > "$tmp/out" 2> "$tmp/err"
is "--source of a recording: status, no line" "$? $(wc -c < "$tmp/out")" "2 0"
like "--source of a recording: why" "$(cat "$tmp/err")" "^hotvar: --source is for what runs"
"$HOTVAR" maps --watch 1000-2000 --summary -i "$tmp/rec" 2> "$tmp/err"
is "two wishes: status" $? 2
done_testing
