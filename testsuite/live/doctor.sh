#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# doctor - what "hotvar doctor" prints, against what /proc and the tools say.
. "$top_srcdir/testsuite/lib.sh"

"$HOTVAR" doctor > "$tmp/text"
status=$?
check "the status is 0 or 1" test $status -le 1
"$HOTVAR" doctor --json > "$tmp/json"
is "the same with --json" $? $status
if command -v python3 > /dev/null; then
	check "each line is a JSON object with a type" python3 -c '
import json, sys
rows = [json.loads(l) for l in open(sys.argv[1])]
assert rows[0]["type"] == "meta" and rows[0]["command"] == "doctor"
checks = [r for r in rows if r["type"] == "check"]
assert len({c["name"] for c in checks}) == len(checks) > 10
for c in checks:
    assert c["ok"] in (True, False, None) and c["detail"]
    assert c["fix"] is None or c["fix"]
' "$tmp/json"
else
	skip "each line is a JSON object with a type" "no python3"
fi

# answer NAME: true, false or null
answer() {
	sed -n 's/^{"type":"check","name":"'"$1"'","ok":\([a-z]*\).*/\1/p' "$tmp/json"
}

is "proc" "$(answer proc)" true
level=$(cat /proc/sys/kernel/perf_event_paranoid 2> /dev/null)
if [ -n "$level" ]; then
	like "the paranoid level is named" "$(cat "$tmp/text")" "perf_event_paranoid is $level:"
else
	is "no paranoid level is known" "$(answer perf-paranoid)" null
fi
like "a cache folder that cannot be: what to do is said to the end" "$(XDG_CACHE_HOME=/proc/none "$HOTVAR" doctor --json | grep '"name":"cache"')" \
	'export XDG_CACHE_HOME=DIR, a folder of your own"'
want=false
command -v valgrind > /dev/null && [ -x "$top_builddir/runtime/valgrind/lib/hotvar-amd64-linux" ] && want=true
is "valgrind" "$(answer valgrind)" $want
want=false
[ -e /proc/modules ] && [ "$(cat /proc/sys/kernel/modules_disabled)" != 1 ] && want=true
grep -q '\[integrity\]\|\[confidentiality\]' /sys/kernel/security/lockdown 2> /dev/null && want=false
grep -q Y /sys/module/module/parameters/sig_enforce 2> /dev/null && want=false
is "modules for stap" "$(answer stap-modules)" $want
want=false
[ -r "/lib/modules/$(uname -r)/build/Makefile" ] && want=true
is "the kernel's headers for stap" "$(answer stap-headers)" $want
want=false
[ "$(stat -L -c %u:%A /var/cache/hotvar 2> /dev/null | grep -c '^0:d....-..-.')" -eq 1 ] && want=true
is "the folder of images for the kernel" "$(answer stap-images)" $want
want=false
grep -Eq '\[(always|madvise)\]' /sys/kernel/mm/transparent_hugepage/enabled 2> /dev/null && want=true
is "huge pages" "$(answer huge-pages)" $want
want=false
command -v stap > /dev/null && want=true
[ -f "$top_builddir/tapset/vma_runtime.stp" ] || want=false
is "systemtap" "$(answer systemtap)" $want
want=false
[ -r /sys/kernel/tracing/events ] && [ -x /sys/kernel/tracing/events ] && want=true
is "tracefs" "$(answer tracefs)" $want
# CAP_PERFMON and CAP_BPF, types of the kernel's, and no lockdown of its memory
want=false
caps=0x$(sed -n 's/^CapEff:[^0-9a-f]*//p' /proc/self/status)
[ $((caps >> 38 & 3)) -eq 3 ] && [ -e /sys/kernel/btf/vmlinux ] && want=true
grep -q '\[confidentiality\]' /sys/kernel/security/lockdown 2> /dev/null && want=false
is "the program that tells mapping calls" "$(answer bpf-calls)" $want
want=false
can_fetch=false
grep -q '^#define HAVE_DEBUGINFOD' "$top_builddir/config.h" && ldconfig -p | grep -q 'libdebuginfod\.so\.1 ' && can_fetch=true
[ -n "$DEBUGINFOD_URLS" ] && want=$can_fetch
is "debuginfod" "$(answer debuginfod)" $want
is "set, it is found" "$(DEBUGINFOD_URLS=x "$HOTVAR" doctor --json | sed -n 's/^{"type":"check","name":"debuginfod","ok":\([a-z]*\).*/\1/p')" $can_fetch

(ulimit -n 64 && "$HOTVAR" doctor --json) > "$tmp/json"
is "few open files are said" "$(answer fd-limit)" false

# Whose parent is gone; one that has ended and waits for init to notice is none.
orphans() {
	ps -eo stat=,ppid=,args= | awk '$1 !~ /^Z/ && $2 == 1 && / doctor/ && /hotvar/'
}
is "no child is left" "$(orphans)" ""
"$HOTVAR" doctor extra 2> "$tmp/err"
is "an argument is bad usage" $? 2
is "said in one line" "$(wc -l < "$tmp/err")" 1
done_testing
