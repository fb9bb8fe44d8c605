#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# ptrace-status - exit statuses, and what is said of a command that cannot be run.
. "$top_srcdir/testsuite/lib.sh"

tree=$TESTPROGS/tree

# status WANT TEXT COMMAND...
status() {
	want=$1 text=$2
	shift 2
	timeout 60 "$HOTVAR" maps -o "$tmp/maps" -- "$@" > "$tmp/out" 2> "$tmp/err"
	is "$text" $? "$want"
}
# refused WANT TEXT REGEX COMMAND...: one line, exit status, nothing run
refused() {
	want=$1 text=$2 regex=$3
	shift 3
	for how in "maps -o $tmp/maps" "--source ptrace" "--source perf"; do
		timeout 60 "$HOTVAR" $how -- "$@" > "$tmp/out" 2> "$tmp/err"
		rc=$?
		case $how in
		*perf) [ $rc -ne 125 ] || continue ;; # no perf here
		esac
		is "$text: status, $how" $rc "$want"
		like "$text: why, $how" "$(cat "$tmp/err")" "^hotvar: cannot run .*$regex"
		is "$text: one line, $how" "$(wc -l < "$tmp/err")" 1
	done
}

status 0 "exit 0" "$tree" status 0
status 255 "exit 255" "$tree" status 255
for sig in 1 2 3 6 9 11 15; do
	status $((128 + sig)) "killed by signal $sig" "$tree" kill $sig
done
status 3 "found along PATH" sh -c 'exit 3'

refused 127 "no such command" "no such command" no-such-command-anywhere
refused 127 "the nearest name is said" "did you mean 'true'" treu
refused 127 "no such file" "no such file" "$tmp/nothing"
refused 126 "a directory" "directory" "$tmp"
echo 'echo $1' > "$tmp/text"
chmod 644 "$tmp/text"
refused 126 "no x bit" "chmod \+x" "$tmp/text"
mkfifo -m 755 "$tmp/fifo"
refused 126 "a FIFO" "regular file" "$tmp/fifo"
head -c 100 "$tree" > "$tmp/cut"
printf 'a\0b' > "$tmp/binary"
printf '#!/no/such/interpreter -x\n' > "$tmp/script"
cp "$tree" "$tmp/arm"
printf '\267' | dd of="$tmp/arm" bs=1 seek=18 conv=notrunc 2> /dev/null
cp "$tree" "$tmp/busy"
chmod 755 "$tmp/cut" "$tmp/binary" "$tmp/script" "$tmp/arm" "$tmp/busy"
refused 126 "a damaged ELF file" "damaged" "$tmp/cut"
refused 126 "neither ELF nor text" "neither" "$tmp/binary"
refused 126 "an interpreter that is not there" "/no/such/interpreter" "$tmp/script"
refused 126 "another machine's program" "AArch64" "$tmp/arm"
exec 9>> "$tmp/busy"
refused 126 "a program that is being written" "open for writing" "$tmp/busy"
exec 9>&-
status 0 "and when it is not any more" "$tmp/busy" status 0

# What execvp(3) runs, runs.
chmod 755 "$tmp/text"
is "text without an interpreter line" "$("$HOTVAR" maps -o "$tmp/maps" -- "$tmp/text" hello)" hello
printf '#!/bin/sh\nexit 19\n' > "$tmp/script"
status 19 "a script" "$tmp/script"
: > "$tmp/empty"
chmod 755 "$tmp/empty"
status 0 "an empty file" "$tmp/empty"
(cd "$tmp" && env PATH=: "$HOTVAR" maps -o "$tmp/maps" -- script)
is "the folder one is in, by an empty PATH element" $? 19

if [ "$(id -u)" -ne 0 ] || ! su nobody -s /bin/sh -c "'$tree' status 0" 2> /dev/null; then
	skip "a set-user-ID program" "only root can make one for nobody, who must be able to run it"
else
	chmod 755 "$tmp"
	mkdir -m 777 "$tmp/nobody"
	cp "$(command -v id)" "$tmp/id"
	chmod 4755 "$tmp/id"
	if [ "$(su nobody -s /bin/sh -c "'$tmp/id' -u")" != 0 ]; then
		skip "a set-user-ID program" "$tmp is mounted nosuid"
	else
		is "set-user-ID: root runs it" "$("$HOTVAR" maps -o "$tmp/maps" -- "$tmp/id" -u)" 0
		is "set-user-ID: nobody runs it without its privileges" \
			"$(su nobody -s /bin/sh -c "'$HOTVAR' maps -o '$tmp/nobody/maps' -- '$tmp/id' -u" 2> "$tmp/err")" \
			"$(id -u nobody)"
		like "set-user-ID: which is said" "$(cat "$tmp/err")" 'set-user-ID.*without'
	fi
fi

# As where a user may have no more processes; root always may.
cat > "$tmp/nofork.c" <<'END'
#include <errno.h>
#include <sys/types.h>
pid_t fork(void)
{
	errno = EAGAIN;
	return -1;
}
END
"${CC:-cc}" -shared -fPIC -o "$tmp/nofork.so" "$tmp/nofork.c" || not_ok "a library whose fork() fails can be built"
for how in "maps -o $tmp/maps --source ptrace" "--source ptrace"; do
	# shellcheck disable=SC2086
	LD_PRELOAD=$tmp/nofork.so ASAN_OPTIONS=verify_asan_link_order=0 "$HOTVAR" $how -- true > "$tmp/out" 2> "$tmp/err"
	is "no process is to be had, $how" $? 125
	like "why, and what mends it, $how" "$(cat "$tmp/err")" '^hotvar: .*fork: Resource temporarily unavailable.*ulimit -u$'
done

# What a tracer takes with all that it starts cannot be traced again.
for how in "maps --source ptrace" pages; do
	# shellcheck disable=SC2086
	"$HOTVAR" maps --source ptrace -o "$tmp/maps" -- "$HOTVAR" $how -- true > "$tmp/out" 2> "$tmp/err"
	is "hotvar is traced itself, $how" $? 125
	like "by whom, and what mends it, $how" "$(cat "$tmp/err")" '^hotvar: .*: process [0-9]+ \(hotvar\) traces hotvar.*; run hotvar without that$'
done
"$HOTVAR" maps --source ptrace -o "$tmp/outer" -- "$HOTVAR" maps --json -o "$tmp/inner" -- true > "$tmp/out" 2> "$tmp/err"
is "hotvar is traced itself: another source does" "$? $(grep -c '"event":"exec"' "$tmp/inner")" "0 1"
done_testing
