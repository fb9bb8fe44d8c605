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
		lib_run(200000000);
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
# A part that counts, or a place that was not read in time.  Where one sample falls in libc, code beside it that addresses thread-local
# memory by a register has a small part too, and no sample tells of which variable: that has no name.
unnamed='"name":"\[tls\]","symbol":null,.*("share":0\.(0[1-9]|[1-9])|"reason":"no-access")'
# The library's loop is the last thing a program does that has run for long: where its block is must be known by then.
if build "a library" sh -c "$CC -O1 -g -shared -fPIC lib.c -o liblib.so && $CC -O1 -g -DLIB -DROUNDS=3 -pthread main.c -o withlib -L. -llib -Wl,-rpath,$tmp"; then
	rows "a library" 5 -- "$tmp/withlib"
	is "a library's, and the program's" "$(sed 's/ .*//; s/inner\.[0-9]*/inner/' "$tmp/got" | tr '\n' ' ')" "inner@tls lib_own@tls many@tls single@tls stats@tls "
	unlike "and none is left without a name" "$(cat "$tmp/json")" "$unnamed"
	like "each in its own module" "$(grep '"name":"lib_own@tls"' "$tmp/json")" "\"module\":\"$tmp/liblib.so\""
	"$HOTVAR" record -q -o "$tmp/rec" -- "$tmp/withlib" > "$tmp/out" 2>&1
	"$HOTVAR" report -i "$tmp/rec" --json > "$tmp/json"
	is "a recording has the program's" "$(grep -c '"name":"[a-z.0-9]*@tls","symbol".*"module":"[^"]*/withlib"' "$tmp/json")" 4
	like "and the library's" "$(cat "$tmp/json")" '"name":"lib_own@tls","symbol":"lib_own","module":"[^"]*/liblib.so"'
	build "a child" "$CC" -O1 -g -DLIB -DROUNDS=3 -DCHILD -pthread main.c -o child -L. -llib "-Wl,-rpath,$tmp" && {
		rows "a child" 5 -- "$tmp/child"
		like "a child's, which ends at once, is where its parent has it" "$(cat "$tmp/json")" '"name":"lib_own@tls","symbol":"lib_own"'
		unlike "and nothing of it has no name" "$(cat "$tmp/json")" "$unnamed"
	}
fi
# Variables whose address is in a register: of the program by a pointer, of a library that is loaded later by a call.
cat > "$tmp/far.c" << 'END'
__thread long far_many[64];
static __thread struct { long hits, misses; } far_stats;
void far_run(long n)
{
	long *many = far_many, *misses = &far_stats.misses;

	__asm__("" : "+r"(many), "+r"(misses)); /* once, not each time */
	for (long i = 0; i < n; i++) {
		many[i & 63] += i;
		__asm__ volatile("" : : : "memory");
	}
	/* a load behind its own store takes as long as one round above, or five times that, by the processor */
	for (long i = 0; i < n / 5 * 2; i++) {
		*misses += i;
		__asm__ volatile("" : : : "memory");
	}
}
END
cat > "$tmp/by-address.c" << 'END'
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
static __thread long near_many[64];
static void (*far_run)(long);
static __attribute__((noinline)) void walk(long *p, long n)
{
	for (long i = 0; i < n; i++) {
		p[i & 63] += i;
		__asm__ volatile("" : : : "memory");
	}
}
static void *run(void *arg)
{
	for (int round = 0; round < 3; round++) {
		walk(near_many, 100000000);
		far_run(100000000);
	}
	return arg;
}
int main(int argc, char **argv)
{
	pthread_t t;
	void *lib = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;

	if (!lib)
		return 1;
	*(void **)&far_run = dlsym(lib, "far_run");
	if (pthread_create(&t, NULL, run, NULL))
		return 1;
	run(NULL);
	return pthread_join(t, NULL);
}
END
# whose the time is, since it is names that count here
where() {
	text=$1
	shift
	"$HOTVAR" --json -q -o "$tmp/json" "$@" -- "$tmp/by-address" "$tmp/libfar.so" > "$tmp/out" 2> "$tmp/err"
	is "$text: runs" "$? $(cat "$tmp/err")" "0 "
	named
}
named() {
	sed -n 's/.*"name":"\([^"]*\)".*"module":\([^,]*\),.*"time_share":\([0-9.e-]*\).*/\1 \2 \3/p' "$tmp/json" | awk '$3 > 0.04 { print $1, $2 }' | sort > "$tmp/got"
}
three="far_many@tls \"$tmp/libfar.so\"
far_stats@tls \"$tmp/libfar.so\"
near_many@tls \"$tmp/by-address\""
if build "by address" sh -c "$CC -O1 -g -shared -fPIC far.c -o libfar.so && $CC -O1 -g -pthread by-address.c -o by-address -ldl"; then
	where "by address"
	is "by address: two threads' variables, and nothing else" "$(cat "$tmp/got")" "$three"
	where "by address, by ptrace" --source ptrace
	is "by address, by ptrace: the same" "$(cat "$tmp/got")" "$three"
	"$HOTVAR" record -q -o "$tmp/rec" -- "$tmp/by-address" "$tmp/libfar.so" > "$tmp/out" 2>&1
	mv "$tmp/by-address" "$tmp/away"
	rm "$tmp/libfar.so"
	"$HOTVAR" report -i "$tmp/rec" --json > "$tmp/json"
	named
	is "by address: a recording has them" "$(cat "$tmp/got")" "$three"
	mv "$tmp/away" "$tmp/by-address"
	build "by descriptors" sh -c "$CC -O1 -g -mtls-dialect=gnu2 -shared -fPIC far.c -o libfar.so && readelf -rW libfar.so | grep -q TLSDESC" && {
		where "by descriptors"
		is "by descriptors: the same" "$(cat "$tmp/got")" "$three"
	}
	# too large for what is below the thread pointer, and yet addressed from there
	cat > "$tmp/large.c" << 'END'
__thread long large_pad[40000], large_one;
void far_run(long n)
{
	long off;

	__asm__ volatile("lea large_one@tlsdesc(%%rip), %%rax\n\tcall *large_one@tlscall(%%rax)" : "=a"(off) : : "cc", "memory");
	for (long i = 0; i < n; i++)
		__asm__ volatile("addq %1, %%fs:(%0)" : : "r"(off), "r"(i) : "memory");
	large_pad[3]++;
	large_one++;
}
END
	build "from the thread pointer" "$CC" -O1 -g -mtls-dialect=gnu2 -shared -fPIC large.c -o libfar.so && {
		where "from the thread pointer"
		like "from the thread pointer: of a library that is loaded later" "$(cat "$tmp/got")" "^large_one@tls \"$tmp/libfar.so\"\$"
	}
fi
done_testing
