# SPDX-License-Identifier: GPL-2.0-or-later
# exact-heap.sh - hotvar --exact: objects of the heap by where they were allocated, against what the program counts itself.
. "$top_srcdir/testsuite/lib.sh"
. "$top_srcdir/testsuite/exact.sh"

objects() {
	python3 "$top_srcdir/testsuite/exact/heap.py" "$@"
}
# row NAME: the line of the row whose name begins so
row() {
	grep "\"name\":\"$1" "$tmp/report"
}
# value KEY: a number in the lines read
value() {
	sed -n "s/.*\"$1\":\([0-9]*\).*/\1/p"
}

"$HOTVAR" record -q --exact -o "$tmp/rec" -- "$TESTPROGS/heap_objects" > "$tmp/expected" 2> "$tmp/err"
is "a program with many kinds of objects" "$? $(cat "$tmp/err")" "0 "
"$HOTVAR" report --json -i "$tmp/rec" > "$tmp/report"
"$HOTVAR" report --by member --json -i "$tmp/rec" > "$tmp/parts"
check "objects, bytes, accesses and their offsets, threads, what was never touched: as the program says" objects "$tmp/expected" "$tmp/report" "$tmp/parts"
is "rows together have all accesses" "$(value reads < "$tmp/report" | awk '{ n += $1 } END { print n }') $(value writes < "$tmp/report" | awk '{ n += $1 } END { print n }')" \
	"$(value reads < "$tmp/parts" | awk '{ n += $1 } END { print n }') $(value writes < "$tmp/parts" | awk '{ n += $1 } END { print n }')"
like "the stack that allocated" "$(row heap:grow)" '"stacks":1,"stack":\[\{"function":"grow","file":"heap_objects.c","line":[0-9]*,"module":"[^"]*/heap_objects","vaddr":"0x[0-9a-f]*"\},\{"function":"main",[^]]*\]'
like "it ends with main" "$(row heap:grow)" '"function":"main",[^}]*\}\]'
like "as text" "$("$HOTVAR" report -v --limit 0 -i "$tmp/rec" | tr -s ' \n' ' ')" 'heap:churn@heap_objects.c:[0-9]*: 1600 objects of 24 bytes, 38400 in all; 0 of 0 bytes there at the end; never read 25600 bytes, never written 25600; by churn \(heap_objects.c:[0-9]*\)'
"$HOTVAR" report --per-process --json -i "$tmp/rec" > "$tmp/report"
is "a child's accesses of its parent's objects, apart" "$(row heap:forked | sed -n 's/.*"reads":\([0-9]*\),"writes":\([0-9]*\),.*"objects_total":\([0-9]*\),.*/\1 \2 \3/p' | sort | tr '\n' ' ')" "1 10 10 10 0 0 "

"$HOTVAR" --exact --json -o "$tmp/report" -- "$TESTPROGS/heap_objects" killed > "$tmp/expected" 2> "$tmp/err"
is "a program that is killed" $? 137
check "nothing is lost by it" objects "$tmp/expected" "$tmp/report"

"$HOTVAR" --exact --json -o "$tmp/report" -- "$TESTPROGS/heap_random" "${HEAP_SEED:-1}" "${HEAP_STEPS:-6000}" > "$tmp/expected" 2> "$tmp/err"
check "objects that come, grow, move and go at random in three threads, accessed at random: as a model has it" objects "$tmp/expected" "$tmp/report"

if readelf -SW "$TESTPROGS/heap_objects" | grep -q debug_addr; then
	skip "an inlined function's objects have its name" "valgrind cannot read this debug information"
else
	"$HOTVAR" --exact --json -o "$tmp/report" -- "$TESTPROGS/heap_objects" inlined > "$tmp/expected" 2> "$tmp/err"
	check "an inlined function's objects have its name" objects "$tmp/expected" "$tmp/report"
fi

"$HOTVAR" --exact --exact-malloc=program --json -o "$tmp/report" -- "$TESTPROGS/heap_objects" nodes > "$tmp/out" 2> "$tmp/err"
is "with its own malloc there are no objects, but [heap]" "$(grep -c '"name":"heap:' "$tmp/report") $(grep -c '"name":"\[heap\]"' "$tmp/report")" "0 1"
"$HOTVAR" --exact --exact-malloc= -- true 2> "$tmp/err"
is "whose malloc is asked for" "$? $(grep -c 'exact-malloc' "$tmp/err")" "2 1"

# A malloc that the program brings along: valgrind finds public ones by itself, others by the name of their library.
cat > "$tmp/own.c" <<'END'
#include <stddef.h>
static _Alignas(16) char room[1 << 20];
static size_t used;
void *malloc(size_t n) { void *p = room + used; used += (n + 31) & ~(size_t)15; return p; }
void free(void *p) { (void)p; }
void *calloc(size_t n, size_t m) { return malloc(n * m); }
void *realloc(void *p, size_t n) { (void)p; return malloc(n); }
END
cat > "$tmp/user.c" <<'END'
#include <stdio.h>
#include <stdlib.h>
int main(void)
{
	volatile long *p = malloc(80);
	for (int i = 0; i < 70; i++) p[3] = i;
	printf("%ld\n", p[3]);
	return 0;
}
END
check "a library with a malloc" "${CC:-cc}" -O1 -g -fno-builtin -shared -fPIC -o "$tmp/libown.so" "$tmp/own.c"
check "a program that uses it" "${CC:-cc}" -O1 -g -fno-builtin -o "$tmp/user" "$tmp/user.c" "$tmp/libown.so" "-Wl,-rpath,$tmp"
"$HOTVAR" --exact --json -o "$tmp/report" -- "$tmp/user" > "$tmp/out" 2> "$tmp/err"
is "it is replaced" "$(cat "$tmp/out") $(row heap:main@user.c:5 | value writes)" "69 70"
"$HOTVAR" --exact --exact-malloc=nouserintercepts --json -o "$tmp/report" -- "$tmp/user" > "$tmp/out" 2> "$tmp/err"
is "or not: then it is that library's memory" "$(cat "$tmp/out") $(grep -c '"name":"room","symbol":"room","module":"[^"]*libown.so"' "$tmp/report") $(row heap: | grep -c .)" "69 1 0"

# C++.
if command -v c++ > "$tmp/where"; then
	cat > "$tmp/new.cc" <<'END'
#include <cstdio>
#include <memory>
#include <string>
#include <vector>
struct alignas(128) wide { long v[16]; };
struct node { long key; node *next; ~node() { __asm__ volatile("" : : "r"(this)); } };
__attribute__((noinline)) static node *many(int n) { return new node[n](); }
__attribute__((noinline)) static void fill(std::vector<long> &v) { for (long i = 0; i < 100; i++) v.push_back(i); }
int main()
{
	node *p = many(10);
	for (int i = 0; i < 10; i++) for (int k = 0; k < 5; k++) { *(volatile long *)&p[i].key = k; }
	delete[] p;
	std::vector<long> v;
	fill(v);
	wide *w = new wide;
	for (int i = 0; i < 30; i++) { *(volatile long *)&w->v[3] = i; }
	std::printf("%ld %d\n", v[99], (int)((unsigned long)w % 128));
	delete w;
	return 0;
}
END
	check "a program in C++" c++ -std=c++17 -O1 -g -o "$tmp/new" "$tmp/new.cc"
	"$HOTVAR" --exact --json -o "$tmp/report" -- "$tmp/new" > "$tmp/out" 2> "$tmp/err"
	is "aligned new is aligned" "$(cat "$tmp/out")" "99 0"
	is "an array: its elements, and their number before them" "$(row heap:many@new.cc:7 | value objects_total) $(row heap:many@new.cc:7 | value bytes_total) $(row heap:many@new.cc:7 | value objects_live)" "1 168 0"
	is "an aligned object" "$(row heap:main@new.cc:16 | value writes) $(row heap:main@new.cc:16 | value bytes_total)" "30 128"
	if readelf -SW "$tmp/new" | grep -q debug_addr; then
		skip "what a vector allocates is called after who fills it" "valgrind cannot read this debug information"
	else
		is "what a vector allocates is called after who fills it" "$(row heap:fill@new.cc:8 | value objects_total) $(row heap:fill@new.cc:8 | value bytes_total)" "8 2040"
	fi
else
	skip "a program in C++" "there is no c++"
fi

done_testing
