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
# Of this one the first thread has ended, another waits.
cat > leave2.c << 'C'
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
static void *wait_for_end(void *arg)
{
	char c;

	while (read(3, &c, 1) > 0)
		;
	_exit(0);
	return arg;
}
static int has_ended(pid_t pid)
{
	char path[64], text[256] = "";
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	f = fopen(path, "r");
	if (f) {
		if (!fgets(text, sizeof(text), f))
			text[0] = 0;
		fclose(f);
	}
	return strstr(text, ") Z ") != NULL;
}
int main(void)
{
	pid_t pid = fork();
	pthread_t t;

	if (!pid) {
		setsid();
		if (pthread_create(&t, NULL, wait_for_end, NULL))
			_exit(1);
		pthread_exit(NULL);
	}
	printf("%d\n", (int)pid);
	while (!has_ended(pid))
		usleep(1000);
	return 4;
}
C
check "the program builds" "${CC:-cc}" -O1 -o leave leave.c
check "the other builds, too" "${CC:-cc}" -O1 -pthread -o leave2 leave2.c
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
left -o report -- ./leave2
like "one whose first thread has ended" "$status $said" "^4 .*note: process $(cat out), which CMD started, ran on"
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
left advise -o report -- ./leave2
like "advise: one whose first thread has ended" "$said" "ran on when it had ended: .*'hotvar advise -p $(cat out)'"
left advise --json -o report -- ./leave 2
like "advise --json" "$said" "\"left\":2,\"left_one\":($(sed -n '1{h;d};2{H;x;s/\n/|/gp}' out))\b"
left advise -o report -- ./leave 0
unlike "advise: none" "$said" "ran on"
done_testing
