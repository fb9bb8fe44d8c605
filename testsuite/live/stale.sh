# SPDX-License-Identifier: GPL-2.0-or-later
# stale.sh - a file that was changed after it was mapped gives no name, least of all a wrong one.
. "$top_srcdir/testsuite/lib.sh"
cd "$tmp" || exit 1
export XDG_CACHE_HOME="$tmp/cache"

# Two versions of a library: where one has "before" the other has "after".
cat > one.c <<'EOF'
int before[64] = { 1 }, end[64] = { 1 };
int *table(void) { return before; }
EOF
cat > two.c <<'EOF'
int pad[1000] = { 1 }, after[64] = { 1 }, end[64] = { 1 };
int *table(void) { return after; }
EOF
# Run COMMAND in the middle, if there is one; else run on and on.
cat > use.c <<'EOF'
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int *table(void);
static volatile int *lib;
volatile int own[64] = { 1 };
static void work(long n)
{
	while (n--) {
		lib[3]++;
		own[1]++;
	}
}
int main(int argc, char **argv)
{
	lib = table();
	printf("%p %p\n", (void *)&lib[3], (void *)&own[1]);
	fflush(stdout);
	do
		work(50000000);
	while (argc < 2);
	if (system(argv[1]))
		return 1;
	work(50000000);
	_exit(0);
}
EOF
cc=${CC:-cc}
fresh() {
	rm -f lib.so two.so use
	$cc -g -shared -fPIC -o lib.so one.c && $cc -g -shared -fPIC -o two.so two.c &&
		$cc -O1 -g -fPIE -pie -o use use.c ./lib.so && touch -d '1 hour ago' lib.so use two.so
}
if ! fresh > log 2>&1; then
	not_ok "the programs can be built" "$(cat log)"
	done_testing
	exit 1
fi
pid=
trap '[ -z "$pid" ] || kill -9 $pid 2> /dev/null; tap_cleanup' EXIT
start() {
	: > out
	./use > out &
	pid=$!
	until_true 10 test -s out
}
stop() {
	kill -9 "$pid"
	wait "$pid" 2> /dev/null
	pid=
}
# What sym and a measuring by each source say of the two variables.
ask() {
	# shellcheck disable=SC2046
	"$HOTVAR" sym -q --json -p "$pid" $(cat out) > sym
	for source in perf ptrace; do
		"$HOTVAR" -q --source $source --json --min-share 1 -d 0.3 -p "$pid" -o "$source" 2> err || cat err > "$source"
	done
}

start
ask
for by in sym perf ptrace; do
	like "not changed, $by: the library's name" "$(cat $by)" '"name":"before["[]'
	like "not changed, $by: the program's name" "$(cat $by)" '"name":"own["[]'
done
touch -d '1 hour' use
ask
for by in sym perf ptrace; do
	like "the program was touched, $by: it is said" "$(cat $by)" "\"symbol\":null.*\"module\":\"$tmp/use\".*\"reason\":\"stale-file\""
	unlike "the program was touched, $by: no name" "$(cat $by)" '"own"'
	like "the program was touched, $by: the library keeps its names" "$(cat $by)" '"name":"before["[]'
done
# Not by cp, which cuts the file to nothing first: the program would end by SIGBUS if it looked at it just then.
cat two.so 1<> lib.so
touch -d '1 hour' lib.so
ask
for by in sym perf ptrace; do
	like "written over in place, $by: it is said" "$(cat $by)" "\"symbol\":null.*\"module\":\"$tmp/lib.so\".*\"reason\":\"stale-file\""
	unlike "written over in place, $by: no name, no wrong one" "$(cat $by)" '"(name|symbol)":"(before|after|end|pad)"'
done
"$HOTVAR" -v -d 0.3 -p "$pid" 2> text
like "-v says which file and what to do" "$(tr -s '\n ' ' ' < text)" "no names: $tmp/lib.so: the file was changed after it was mapped: .*start the program again"
stop

# Without its name: all rows of the file say so, .bss too, of which most is anonymous memory.
$cc -O2 -g -o gone "$top_srcdir/examples/cache.c"
./gone 100000 > out &
pid=$!
while ! grep -q gone "/proc/$pid/maps"; do :; done
rm gone
"$HOTVAR" -q --json -d 0.3 -p "$pid" > /dev/null 2> json
"$HOTVAR" pages --json -p "$pid" --module "$tmp/gone" > pages
stop
like "removed: a variable of .bss" "$(cat json)" '"name":"slots"'
is "removed: no row leaves it out" "$(grep '"module":"[^"]*/gone"' json | grep -vc '"deleted":true')" 0
like "removed: its pages" "$(cat pages)" '"kind":"bss"'
is "removed: no region leaves it out" "$(grep '"type":"region"' pages | grep -vc '"deleted":true')" 0

# What is found out while it runs: the name it had when it was mapped, or none.
for source in perf ptrace; do
	fresh
	rm -rf cache
	"$HOTVAR" --source $source --json -o json -- ./use 'cp two.so lib.so' > out 2> err
	is "written over while it is measured, $source: it ends well" $? 0
	unlike "written over while it is measured, $source: no wrong name" "$(cat json)" '"(name|symbol)":"(after|end|pad)"'
done

done_testing
