# SPDX-License-Identifier: GPL-2.0-or-later
# sym-tls - thread-local variables of every thread, of the program, of libraries and of what is loaded later.
. "$top_srcdir/testsuite/lib.sh"
. "$top_srcdir/testsuite/symlib.sh"

cat > "$tmp/lib.c" << 'END'
struct both { long a, b[3]; };
__thread struct both NAME(shared) = { 1, { 2 } };
static __thread int NAME(hidden)[5];
void *NAME(where)(int i) { return i ? (void *)&NAME(hidden)[4] : (void *)&NAME(shared).b[1]; }
END
cat > "$tmp/main.c" << 'END'
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include "say.h"
#ifdef ONE
void *one_where(int);
#endif
static void *(*two_where)(int);
struct stats { long hits, misses; };
__thread struct stats stats = { 7, 8 };
static __thread char name[40];
__thread long big[2000] __attribute__((aligned(64)));
static pthread_barrier_t barrier, turn;
static void say(void)
{
	SAY(&stats.misses, "stats@tls.misses  tls  MAIN");
	SAY(&name[39], "name@tls[39]  tls  MAIN");
	SAY(&big[1999], "big@tls[1999]  tls  MAIN");
#ifdef ONE
	SAY(one_where(0), "one_shared@tls.b[1]  tls  ONE");
	SAY(one_where(1), "one_hidden@tls[4]  tls  ONE");
	SAY(&errno, "errno@tls  tls  LIBC");
#endif
	if (two_where) {
		SAY(two_where(0), "two_shared@tls.b[1]  tls  TWO");
		SAY(two_where(1), "two_hidden@tls[4]  tls  TWO");
	}
}
static void *thread(void *arg)
{
	for (long i = 0; i < 3; i++) {
		if (i == (long)arg)
			say();
		pthread_barrier_wait(&turn);
	}
	pthread_barrier_wait(&barrier);
	return NULL;
}
int main(int argc, char **argv)
{
	pthread_t t;
	void *two = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
	pthread_barrier_init(&barrier, NULL, 4);
	pthread_barrier_init(&turn, NULL, 4);
	if (two)
		*(void **)&two_where = dlsym(two, "two_where");
	for (long i = 0; i < 3; i++)
		pthread_create(&t, NULL, thread, (void *)i);
	for (int i = 0; i < 3; i++)
		pthread_barrier_wait(&turn);
	say();
	SAY(malloc(100), "[heap]  heap    (no-file)");
	done();
}
END
mkdir "$tmp/gnu2"
if ! build "thread-local memory" sh -c "$CC -O1 -g -shared -fPIC '-DNAME(x)=one_##x' lib.c -o libone.so &&
	$CC -O1 -g -shared -fPIC '-DNAME(x)=two_##x' lib.c -o libtwo.so"; then
	done_testing
	exit
fi
libc=$(ldd /bin/ls | sed -n 's/.*libc\.so\.6 => \([^ ]*\) .*/\1/p')
[ -n "$libc" ] && libc=$(readlink -f "$libc")
# errno is a static name of libc's: known with its symbol table, else unnamed
tls_agree() {
	sed -n 's/^\(0x[0-9a-f]*\) .*/\1/p' "$tmp/out" > "$tmp/addrs"
	sed -n 's/^0x[0-9a-f]* //p' "$tmp/out" | sed "s|  MAIN\$|  $tmp/$2|; s|  ONE\$|  $tmp/libone.so|; s|  TWO\$|  $tmp/libtwo.so|; s|  LIBC\$|  $libc|" | grep -v '^\[heap\]' > "$tmp/want"
	"$HOTVAR" sym -q -p "$pid" < "$tmp/addrs" 2> "$tmp/sym.err" | sed 's/^0x[0-9a-f]*  //' | grep -v '^\[heap\]' |
		sed "s|^\\[tls\\]  tls  $libc  (stripped)\$|errno@tls  tls  $libc|" > "$tmp/got"
	if [ "$(grep -c . "$tmp/want")" -ge "$3" ] && cmp -s "$tmp/want" "$tmp/got"; then
		ok "$1"
	else
		not_ok "$1" "$(diff "$tmp/want" "$tmp/got")" "$(cat "$tmp/sym.err")"
	fi
}
build "dynamic" "$CC" -O1 -g -DONE main.c -o dyn -L. -lone -Wl,-rpath,"$tmp" -pthread -ldl && {
	start "$tmp/dyn" && {
		tls_agree "the program, a library, libc; four threads" dyn 24
		"$HOTVAR" sym -q --json -p "$pid" "$(sed -n 's/ stats@tls.*//p' "$tmp/out" | head -n 1)" > "$tmp/json"
		like "JSON" "$(cat "$tmp/json")" '"kind":"tls","name":"stats@tls\.misses","symbol":"stats","offset":8,"size":16.*"binding":"global",.*"decl":"main.c:[0-9]*".*"thread":"0x[0-9a-f]*"'
		is "each thread has its own" "$(sed -n 's/ stats@tls.*//p' "$tmp/out" | "$HOTVAR" sym -q --json -p "$pid" | sed -n 's/.*"thread":"\([^"]*\)".*/\1/p' | sort -u | grep -c .)" 4
		stop
	}
	start "$tmp/dyn" "$tmp/libtwo.so" && {
		tls_agree "a library that is loaded later" dyn 32
		stop
	}
	linker=$(readelf -lW "$tmp/dyn" | sed -n 's/.*interpreter: \(.*\)\]/\1/p')
	start "$linker" "$tmp/dyn" "$tmp/libtwo.so" && {
		tls_agree "a program that the dynamic linker was told to start" dyn 32
		stop
	}
}
build "static" "$CC" -O1 -g -static main.c -o stat -pthread && start "$tmp/stat" && {
	tls_agree "static" stat 12
	stop
}
build "not position-independent" "$CC" -O2 -g -no-pie -fno-pie -DONE main.c -o nopie -L. -lone -Wl,-rpath,"$tmp" -pthread -ldl && start "$tmp/nopie" "$tmp/libtwo.so" && {
	tls_agree "not position-independent" nopie 32
	stop
}
# TLS descriptors: the other way to get at the same places
build "TLS descriptors" sh -c "for n in one two; do $CC -O1 -g -mtls-dialect=gnu2 -shared -fPIC \"-DNAME(x)=\${n}_##x\" lib.c -o gnu2/lib\$n.so || exit; done
	$CC -O1 -g -mtls-dialect=gnu2 -DONE main.c -o gnu2d -Lgnu2 -lone -Wl,-rpath,'$tmp' -pthread -ldl && readelf -rW gnu2/libone.so | grep -q TLSDESC && mv gnu2/lib*.so ." && {
	start "$tmp/gnu2d" "$tmp/libtwo.so" && {
		tls_agree "TLS descriptors" gnu2d 32
		stop
	}
}
if have clang && build "clang and lld" clang -O1 -g -fuse-ld=lld -DONE main.c -o lld -L. -lone -Wl,-rpath,"$tmp" -pthread -ldl; then
	start "$tmp/lld" "$tmp/libtwo.so" && {
		tls_agree "clang and lld" lld 32
		stop
	}
fi
done_testing
