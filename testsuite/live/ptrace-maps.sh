#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# ptrace-maps - the events of `hotvar maps`, applied to an empty list, give what the program saw of itself.
. "$top_srcdir/testsuite/lib.sh"

# compare TEXT LOG EVENTS [MARK]
compare() {
	text=$1
	shift
	said=$("$TESTPROGS/check_maps" "$@" 2>&1)
	case $said in
	*"checkpoints, 0 wrong"*) ok "$text: $said" ;;
	*) not_ok "$text" "$said" ;;
	esac
}

# Whatever engine records it, a recording of a launched program begins with its exec too.
for source in ptrace perf; do
	if ! "$HOTVAR" record -q --source $source -o "$tmp/rec.$source" -- true 2> "$tmp/err"; then
		skip "a recording by $source begins with the exec" "$(cat "$tmp/err")"
		continue
	fi
	"$HOTVAR" maps --json -i "$tmp/rec.$source" > "$tmp/maps.$source"
	like "a recording by $source begins with the exec" "$(sed -n 2p "$tmp/maps.$source")" '"event":"exec"'
	unlike "and not with hotvar's own areas" "$(cat "$tmp/maps.$source")" "\"path\":\"$(realpath "$HOTVAR")\""
done

mkdir "$tmp/dir"

"$HOTVAR" maps --json -o "$tmp/gated" -- "$TESTPROGS/map_changes" "$tmp/gated.log" "$tmp/dir"
is "launched: the program succeeds" $? 0
compare "launched" "$tmp/gated.log" "$tmp/gated"
like "launched: nothing was lost" "$(tail -n 1 "$tmp/gated")" '"lost_maps":0,"lost_tasks":0,"lost_memory":0'
like "the first line is meta" "$(head -n 1 "$tmp/gated")" \
	'^\{"type":"meta","schema":1,"tool":"hotvar","version":"[^"]+","command":"maps"\}$'
is "launched: the first event is its exec" "$(sed -n '2s/.*"event":"\([a-z]*\)","syscall":"\([a-z]*\)"}$/\1 \2/p' "$tmp/gated")" "exec execve"
unlike "launched: hotvar's own areas are not told" "$(cat "$tmp/gated")" "\"path\":\"$(realpath "$HOTVAR")\""
# A checker that cannot fail proves nothing: one event less must be noticed.
grep -v '"event":"unmap","syscall":"munmap"' "$tmp/gated" > "$tmp/less"
unlike "a stream without its munmaps is found wrong" "$("$TESTPROGS/check_maps" "$tmp/gated.log" "$tmp/less")" ' 0 wrong'

"$TESTPROGS/ungated" true
if [ $? -eq 77 ]; then
	skip "without a gate" "no seccomp filter can be installed here"
else
	"$TESTPROGS/ungated" "$HOTVAR" maps --json -o "$tmp/ungated" -- "$TESTPROGS/map_changes" \
		"$tmp/ungated.log" "$tmp/dir" 2> "$tmp/err"
	compare "where seccomp is refused" "$tmp/ungated.log" "$tmp/ungated"
	like "which is said" "$(cat "$tmp/err")" 'gate was refused'
fi

# Attached, before it begins and while it sleeps in a read.
mkfifo "$tmp/go"
"$TESTPROGS/map_changes" "$tmp/attached.log" "$tmp/dir" wait < "$tmp/go" &
pid=$!
exec 3> "$tmp/go"
"$HOTVAR" maps --json -o - -p $pid > "$tmp/attached" &
hotvar=$!
until_true 10 grep -q '"event":"initial".*vsyscall' "$tmp/attached" ||
	until_true 10 grep -q '"event":"initial".*"kind":"stack"' "$tmp/attached"
echo go >&3
exec 3>&-
wait $pid
is "attached: the program succeeds" $? 0
wait $hotvar
is "attached: hotvar ends with it" $? 0
compare "attached" "$tmp/attached.log" "$tmp/attached"

"$TESTPROGS/map_changes32" "$tmp/plain32.log"
if [ $? -ne 32 ]; then
	skip "32-bit" "this kernel runs no 32-bit programs"
else
	"$HOTVAR" maps --json -o "$tmp/32" -- "$TESTPROGS/map_changes32" "$tmp/32.log"
	is "32-bit: the status is the program's" $? 32
	compare "32-bit" "$tmp/32.log" "$tmp/32" 0x50000000
fi

# Text says the same.
"$HOTVAR" maps -- "$TESTPROGS/tree" mmap 1 2> "$tmp/text"
like "text: a map" "$(cat "$tmp/text")" '^ +[0-9]+\.[0-9]{6} +[0-9]+ #1 +map +mmap +0x[0-9a-f]+-0x[0-9a-f]+ rw-p 0x0 anon$'
like "text: the exit" "$(tail -n 1 "$tmp/text")" ' exit +exit +status 0$'

# A recording says what was said live.
"$HOTVAR" record -q -o "$tmp/rec" --source ptrace -- "$TESTPROGS/map_changes" "$tmp/rec.log" "$tmp/dir"
is "recorded: the program succeeds" $? 0
"$HOTVAR" maps --json -i "$tmp/rec" > "$tmp/replayed"
is "replayed" $? 0
compare "replayed" "$tmp/rec.log" "$tmp/replayed"

if [ "$(id -u)" -ne 0 ]; then
	skip "as nobody" "only root can become nobody"
else
	chmod 755 "$tmp"
	mkdir -m 777 "$tmp/nobody"
	if su nobody -s /bin/sh -c '"$0" true' "$TESTPROGS/ungated" 2> "$tmp/su"; then
		su nobody -s /bin/sh -c '"$0" maps --json -o "$2/events" -- "$1" "$2/log" "$2"' \
			"$HOTVAR" "$TESTPROGS/map_changes" "$tmp/nobody"
		is "as nobody: the program succeeds" $? 0
		compare "as nobody" "$tmp/nobody/log" "$tmp/nobody/events"
	else
		skip "as nobody" "nobody cannot run what was built here: $(head -n 1 "$tmp/su")"
	fi
fi
done_testing
