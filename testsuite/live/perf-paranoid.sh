#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# perf-paranoid - kernel.perf_event_paranoid at 3, as Debian's kernels have it: nobody may sample, and stops take its place.
#
# What that level means is the distribution's patch; other kernels take 3 for 2.  So the refusal is a seccomp filter's, the
# number is a file's, mounted over the kernel's in a mount namespace of the test's own: nothing of the machine changes.
. "$top_srcdir/testsuite/lib.sh"

[ "$(id -u)" = 0 ] || skip_all "only root may mount a number over the kernel's"
command -v setpriv > /dev/null || skip_all "there is no setpriv"
echo 3 > "$tmp/three"
unshare -m sh -c "mount --bind '$tmp/three' /proc/sys/kernel/perf_event_paranoid" 2> "$tmp/err" ||
	skip_all "no mount namespace can be made here: $(tail -n 1 "$tmp/err")"
"$TESTPROGS/without" perf EACCES true || skip_all "no seccomp filter can be installed here"
mkdir "$tmp/bin" "$tmp/home"
cp "$HOTVAR" "$TESTPROGS/without" "$TESTPROGS/spin_threads" "$tmp/bin"
chmod 755 "$tmp" "$tmp/bin" "$tmp/bin"/*
chown nobody "$tmp/home"

# at_three COMMAND...: as nobody, where the level is 3 and perf is refused
at_three() {
	unshare -m sh -c 'mount --bind "$0" /proc/sys/kernel/perf_event_paranoid && exec "$@"' "$tmp/three" \
		env HOME="$tmp/home" XDG_CACHE_HOME="$tmp/home" setpriv --reuid 65534 --regid 65534 --clear-groups \
		"$tmp/bin/without" perf EACCES "$@"
}

was=$(cat /proc/sys/kernel/perf_event_paranoid)
at_three "$tmp/bin/hotvar" --source perf -o "$tmp/home/out" -- true 2> "$tmp/err"
is "--source perf fails" $? 125
is "with one line" "$(wc -l < "$tmp/err")" 1
like "that says the level and the command that mends it" "$(cat "$tmp/err")" \
	'kernel.perf_event_paranoid is 3; run "sysctl kernel.perf_event_paranoid=2" as root'

at_three "$tmp/bin/hotvar" --json -o "$tmp/home/json" -- "$tmp/bin/spin_threads" 2 400 > "$tmp/cmd" 2> "$tmp/err"
is "without --source the program runs" $? 0
like "to its end" "$(cat "$tmp/cmd")" '^cpu_ms [0-9]+$'
like "sampled by stops" "$(head -n 1 "$tmp/home/json")" '"source":"ptrace"'
like "and why is said" "$(cat "$tmp/home/json")" 'perf_event_paranoid is 3'
like "its variable is found" "$(cat "$tmp/home/json")" '"name":"spun"'
at_three "$tmp/bin/hotvar" -o "$tmp/home/text" -- "$tmp/bin/spin_threads" 1 50 > /dev/null 2>&1
like "in text, too" "$(tr -s '\n ' ' ' < "$tmp/home/text")" 'perf_event_paranoid is 3'

at_three "$tmp/bin/hotvar" doctor > "$tmp/doctor"
like "doctor names the level" "$(cat "$tmp/doctor")" 'perf_event_paranoid is 3: only root may sample'
like "and the command" "$(cat "$tmp/doctor")" 'sysctl kernel.perf_event_paranoid=2'
is "the machine's own level is as it was" "$(cat /proc/sys/kernel/perf_event_paranoid)" "$was"
done_testing
