#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# proc-namespace.sh - /proc is of another PID namespace: what it calls 3 is not our process 3, so it is not looked at.
. "$top_srcdir/testsuite/lib.sh"

other() {
	unshare -p -f "$@" 2>&1
}
in_ours() {
	unshare -p -f unshare --mount-proc "$@" 2>&1
}
in_ours true > /dev/null || skip_all "unshare -p and --mount-proc are not to be had: $(in_ours true)"
cd "$tmp" || exit 1
because='/proc is of another PID namespace, and calls processes by other numbers; run: unshare --mount-proc hotvar ...'

is "sym -p" "$(other "$HOTVAR" sym -p 1 0x1000)" "hotvar: cannot follow process 1: $because"
is "pages -- CMD" "$(other "$HOTVAR" pages -- true)" "hotvar: cannot follow true: $because"
is "advise -- CMD" "$(other "$HOTVAR" advise -- true)" "hotvar: cannot follow true: $because"
for source in ptrace perf look; do
	is "maps by $source -- CMD" "$(other "$HOTVAR" maps --source $source -- true)" "hotvar: cannot follow processes: $because"
done
is "record -- CMD" "$(other "$HOTVAR" record -o rec -- true)" "hotvar: cannot follow processes: $because"
other "$HOTVAR" doctor > said
check "doctor" grep -q 'no.*/proc is of another PID namespace' said
check "doctor: how it is mended" grep -q 'to mend it: unshare --mount-proc hotvar' said
in_ours "$HOTVAR" maps --json -- true > said
check "and so it runs" grep -q '"event":"exec"' said

done_testing
