# SPDX-License-Identifier: GPL-2.0-or-later
# run-tls - reports name thread-local variables, of the program and of libraries, those of all threads together.
. "$top_srcdir/testsuite/lib.sh"
. "$top_srcdir/testsuite/symlib.sh"

# A round of the library: two accesses to each element that is next.
cat > "$tmp/lib.c" << 'END'
__thread __attribute__((tls_model("initial-exec"))) long lib_own[64];
void lib_run(long n)
{
	for (long i = 0; i < n; i++) {
		lib_own[i & 63] += i;
		__asm__ volatile("" : : : "memory");
	}
}
END
# One loop each, as long: a scalar, an array, a member of a struct, a static of a function, and the library's.
cat > "$tmp/main.c" << 'END'
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>
#define LOOP(what) for (long i = 0; i < n; i++) { what += i; __asm__ volatile("" : : : "memory"); }
struct stats { long hits, misses; };
__thread long single;
__thread long before[3], many[64] = { 1 };
static __thread struct stats stats;
#ifdef LIB
void lib_run(long n);
#else
#define lib_run(n) (void)(n)
#endif
#ifndef ROUNDS
#define ROUNDS 1
#endif
static void *run(void *arg)
{
	static __thread long inner[2];
	long n = 30000000;

	for (int round = 0; round < ROUNDS; round++) {
		LOOP(single)
		LOOP(many[i & 63])
		LOOP(stats.misses)
		LOOP(inner[1])
	}
#ifndef CHILD
	lib_run(2 * n);
#endif
	return (void *)(single + many[3] + stats.misses + inner[1]);
}
int main(void)
{
	pthread_t t;

	if (pthread_create(&t, NULL, run, NULL))
		return 1;
	run(NULL);
	if (pthread_join(t, NULL))
		return 1;
#ifdef CHILD
	pid_t child = fork();
	int status;

	if (!child) {
		lib_run(60000000);
		_exit(0);
	}
	return waitpid(child, &status, 0) != child || status;
#endif
	return 0;
}
END
# rows TEXT N OPTION...: the program's N rows are nearly all, and alike
rows() {
	text=$1 want=$2
	shift 2
	"$HOTVAR" --json -q -o "$tmp/json" "$@" > "$tmp/out" 2> "$tmp/err"
	is "$text: runs" "$? $(cat "$tmp/err")" "0 "
	grep '@tls' "$tmp/json" | sed -n 's/.*"name":"\([^"]*\)".*"kind":"\([a-z]*\)".*"share":\([0-9.e-]*\).*/\1 \2 \3/p' |
		awk -v n="$want" '$3 > 0.01 { print $1, $2, ($3 * n > 0.6 && $3 * n < 1.5 ? "about 1 of " n : $3) }' | sort > "$tmp/got"
}
if ! build "a program with threads" "$CC" -O1 -g -pthread main.c -o pie; then
	done_testing
	exit
fi
four='inner@tls tls about 1 of 4
many@tls tls about 1 of 4
single@tls tls about 1 of 4
stats@tls tls about 1 of 4'
rows "PIE" 4 -- "$tmp/pie"
is "PIE: four variables of two threads, in four rows" "$(sed 's/inner\.[0-9]*/inner/' "$tmp/got")" "$four"
rows "PIE, by ptrace" 4 --source ptrace -- "$tmp/pie"
is "by ptrace: the same" "$(sed 's/inner\.[0-9]*/inner/' "$tmp/got")" "$four"
rows "by member" 4 --by member -- "$tmp/pie"
is "by member" "$(sed 's/inner\.[0-9]*/inner/' "$tmp/got")" "$(echo "$four" | sed 's/^inner@tls/&[]/; s/^many@tls/&[]/; s/^stats@tls/&.misses/')"
like "symbol, size and threads" "$(grep '"name":"stats@tls' "$tmp/json")" '"symbol":"stats",.*"kind":"tls","size":16,.*"threads":2'
build "not position-independent" "$CC" -O1 -g -no-pie -fno-pie -pthread main.c -o nopie && {
	rows "not position-independent" 4 -- "$tmp/nopie"
	is "not position-independent: the same" "$(sed 's/inner\.[0-9]*/inner/' "$tmp/got")" "$four"
}
build "static" "$CC" -O1 -g -static -pthread main.c -o static && {
	rows "static" 4 -- "$tmp/static"
	is "static: the same" "$(sed 's/inner\.[0-9]*/inner/' "$tmp/got")" "$four"
}
build "stripped" strip -s "$tmp/pie" -o stripped && {
	"$HOTVAR" --json -q -o "$tmp/json" -- "$tmp/stripped" > "$tmp/out" 2>&1
	like "stripped: no names, the module alone" "$(cat "$tmp/json")" '"name":"stripped:\[tls\]","symbol":null,.*"kind":"tls"'
	unlike "and no wrong ones" "$(cat "$tmp/json")" '@tls'
}
# The library's loop is the last thing a program does that has run for long: where its block is must be known by then.
if build "a library" sh -c "$CC -O1 -g -shared -fPIC lib.c -o liblib.so && $CC -O1 -g -DLIB -DROUNDS=3 -pthread main.c -o withlib -L. -llib -Wl,-rpath,$tmp"; then
	rows "a library" 5 -- "$tmp/withlib"
	is "a library's, and the program's" "$(sed 's/ .*//; s/inner\.[0-9]*/inner/' "$tmp/got" | tr '\n' ' ')" "inner@tls lib_own@tls many@tls single@tls stats@tls "
	unlike "and none is left without a name" "$(cat "$tmp/json")" '"name":"\[tls\]","symbol":null,.*"share":0\.[0-9]*[1-9]'
	like "each in its own module" "$(grep '"name":"lib_own@tls"' "$tmp/json")" "\"module\":\"$tmp/liblib.so\""
	"$HOTVAR" record -q -o "$tmp/rec" -- "$tmp/withlib" > "$tmp/out" 2>&1
	"$HOTVAR" report -i "$tmp/rec" --json > "$tmp/json"
	is "a recording has the program's" "$(grep -c '"name":"[a-z.0-9]*@tls","symbol".*"module":"[^"]*/withlib"' "$tmp/json")" 4
	like "and the library's" "$(cat "$tmp/json")" '"name":"lib_own@tls","symbol":"lib_own","module":"[^"]*/liblib.so"'
	build "a child" "$CC" -O1 -g -DLIB -DROUNDS=3 -DCHILD -pthread main.c -o child -L. -llib "-Wl,-rpath,$tmp" && {
		rows "a child" 5 -- "$tmp/child"
		like "a child's, which ends at once, is where its parent has it" "$(cat "$tmp/json")" '"name":"lib_own@tls","symbol":"lib_own"'
		unlike "and nothing of it has no name" "$(cat "$tmp/json")" '"name":"\[tls\]","symbol":null,.*"share":0\.[0-9]*[1-9]'
	}
fi
done_testing
