#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# daemon.sh - a command that ends and leaves processes behind: that they were measured up to then is said, by number.
. "$top_srcdir/testsuite/lib.sh"
cd "$tmp" || exit 1
export XDG_CACHE_HOME="$tmp/cache"

"$HOTVAR" record -q --source perf -o probe.rec -- true 2> err || skip_all "$(cat err)"

# The process that is left waits until its end of the pipe is closed; it is CMD's own child, and ready when CMD ends.
cat > leave.c << 'C'
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	for (int i = 0; i < atoi(argv[1]); i++) {
		pid_t pid = fork();
		char c;

		if (!pid) {
			setsid();
			while (read(3, &c, 1) > 0)
				;
			_exit(0);
		}
		fprintf(stdout, "%d\n", (int)pid);
	}
	fflush(stdout);
	return argc > 2 ? atoi(argv[2]) : 0;
}
C
check "the program builds" "${CC:-cc}" -O1 -o leave leave.c
mkfifo end
# left COMMAND...: what is said, in $said
left() {
	exec 4<> end
	"$HOTVAR" "$@" > out 2> err 3< end 4>&-
	status=$?
	exec 4>&-
	said=$(cat report err 2> /dev/null | tr -s '\n ' ' ')
}
left -o report -- ./leave 1 4
is "CMD's status" $status 4
like "one that is left" "$said" "note: process $(cat out), which CMD started, ran on when CMD had ended, and was measured up to then"
left -o report -- ./leave 3
like "three" "$said" "note: 3 processes that CMD started ran on when it had ended, .*; one is ($(sed -n '1{h;d};2{H;d};H;${x;s/\n/|/gp}' out))"
left -o report -- ./leave 0
unlike "none" "$said" "ran on"
left -o report -- sh -c "$tmp/leave 1 & wait; exit 5"
like "one of a child's" "$said" "note: process $(cat out), which CMD started, ran on"
rm -f report
left maps --source perf -o maps -- ./leave 1
like "maps --source perf" "$said" "hotvar: note: process $(cat out), which CMD started, ran on"
left advise -o report -- ./leave 1 4
is "advise: CMD's status" $status 4
like "advise: one that is left" "$said" "not known: what 1 process did that it started and that ran on when it had ended: .*'hotvar advise -p $(cat out)'"
left advise --json -o report -- ./leave 2
like "advise --json" "$said" "\"left\":2,\"left_one\":($(sed -n '1{h;d};2{H;x;s/\n/|/gp}' out))\b"
left advise -o report -- ./leave 0
unlike "advise: none" "$said" "ran on"
done_testing
