# SPDX-License-Identifier: GPL-2.0-or-later
# exact-limits.sh - hotvar --exact: what valgrind cannot do is said, and what was counted stays; ^C and -d end it whole.
. "$top_srcdir/testsuite/lib.sh"
. "$top_srcdir/testsuite/exact.sh"

cat > "$tmp/does.c" <<'END'
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
volatile long var;
int main(int argc, char **argv)
{
	int status;

	for (int i = 0; i < 100; i++)
		var++;
	if (argc < 2)
		return 0;
	if (!strcmp(argv[1], "run")) {
		if (!fork()) {
			execv(argv[2], argv + 2);
			printf("execv: %s\n", strerror(errno));
			return 9;
		}
		wait(&status);
		printf("status %d\n", WEXITSTATUS(status));
	} else if (!strcmp(argv[1], "limit")) {
		struct rlimit l;

		getrlimit(RLIMIT_AS, &l);
		l.rlim_cur = 1000 << 20;
		if (argc > 2)
			l.rlim_max = l.rlim_cur;
		setrlimit(RLIMIT_AS, &l);
		memset(malloc(50 << 20), 1, 50 << 20);
		puts("done");
	} else if (!strcmp(argv[1], "unknown")) {
		puts("before");
		fflush(stdout);
		__asm__ volatile(".byte 0x62, 0xf1, 0x7d, 0x48, 0xfe, 0xc0"); /* vpaddd %zmm0, %zmm0, %zmm0 */
	} else if (!strcmp(argv[1], "forever")) {
		puts("ready");
		fflush(stdout);
		for (;;)
			pause();
	}
	for (int i = 0; i < 100; i++)
		var++;
	return 0;
}
END
check "a program that does what valgrind cannot" "${CC:-cc}" -O1 -g -w -static -o "$tmp/does" "$tmp/does.c"
exact() { # ARGUMENT...
	"$HOTVAR" --exact --json -o "$tmp/report" -- "$tmp/does" "$@" > "$tmp/out" 2> "$tmp/err"
}
note() {
	sed -n 's/.*"type":"meta".*"note":"\([^"]*\)".*/\1/p' "$tmp/report"
}

# A 32-bit program, which needs no library: it writes a line and ends with 7.
cat > "$tmp/small.s" <<'END'
	.globl _start
_start:	mov $4, %eax
	mov $1, %ebx
	mov $text, %ecx
	mov $6, %edx
	int $0x80
	mov $1, %eax
	mov $7, %ebx
	int $0x80
text:	.ascii "small\n"
END
if as --32 -o "$tmp/small.o" "$tmp/small.s" 2> /dev/null && ld -m elf_i386 -o "$tmp/small" "$tmp/small.o" 2> /dev/null && "$tmp/small" > /dev/null; [ $? = 7 ]; then
	exact run "$tmp/small" argument
	is "a 32-bit child runs" "$(cat "$tmp/out" "$tmp/err")" "small
status 7"
	is "and the rest is counted" "$(count var)" "200 200 1"
	like "it is said" "$(note)" "1 processes ran on without being counted, being 32-bit programs \(.*/small\)"
else
	skip "a 32-bit child" "this kernel or assembler has no 32-bit programs"
fi
if cp "$tmp/does" "$tmp/setuid" && chown 65534 "$tmp/setuid" 2> /dev/null && chmod 4755 "$tmp/setuid"; then
	exact run "$tmp/setuid"
	is "a set-user-ID child" "$(cat "$tmp/out")" "execv: Permission denied
status 9"
	like "why is said" "$(note)" "1 times a set-user-ID program or one with capabilities was not run \(.*/setuid\)"
	is "what its parent did is counted" "$(count var | cut -d ' ' -f 1)" 200
else
	skip "a set-user-ID child" "only root can give a file away"
fi

exact run /proc/self/exe
like "a child that executes its own file by /proc: it is said that valgrind may not" "$(note)" "1 times a program executed itself by /proc/self/exe"
is "what its parent did is counted, and what the child did, if it could" "$(count var | sed -n '/^[23]00 [23]00 1$/=')" 1

exact limit
is "a program that limits its address space" "$? $(cat "$tmp/out" "$tmp/err")" "0 done"
like "it is said" "$(note)" "own limit of its address space \(RLIMIT_AS\) was lifted"
is "all is counted" "$(count var)" "200 200 1"

exact unknown
is "an instruction that valgrind does not know" "$? $(cat "$tmp/out")" "132 before"
like "it is said" "$(note)" "ended by SIGILL: valgrind may not know an instruction"
is "what was done before is counted" "$(count var)" "100 100 1"

# The terminal sends ^C to all of its foreground job.
setsid env --default-signal=INT "$HOTVAR" --exact --json -o "$tmp/report" -- "$tmp/does" forever > "$tmp/out" 2> "$tmp/err" &
pid=$!
until_true 60 grep -q ready "$tmp/out" || not_ok "it gets ready"
kill -INT -$pid
wait $pid
is "^C ends CMD" $? 130
is "and nothing is lost" "$(count var)" "100 100 1"

for options in "--exact --source perf" "--source ptrace --exact" "--exact --source auto"; do
	# shellcheck disable=SC2086
	"$HOTVAR" $options -- "$tmp/does" > "$tmp/out" 2> "$tmp/err"
	is "$options" "$? $(grep -c 'contradict each other' "$tmp/err")" "2 1"
done
"$HOTVAR" --source exact --exact --json -o "$tmp/report" -- "$tmp/does"
is "--source exact --exact" "$(count var)" "100 100 1"

wrong=
for n in 4 5 6 7 8 9 10 11; do
	(ulimit -n $n; exec "$HOTVAR" --exact -o "$tmp/report" -- true) > "$tmp/err" 2>&1 < /dev/null
	[ $? -ne 125 ] || grep -q 'Too many open files.*ulimit -n' "$tmp/err" || wrong="$wrong; $n: $(cat "$tmp/err")"
done
is "too few descriptors: the reason is the right one" "$wrong" ""

done_testing
