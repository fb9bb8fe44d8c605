#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# control-bytes.sh - names of files, symbols and generated code that hold what a terminal obeys: none of it gets there.
. "$top_srcdir/testsuite/lib.sh"

cd "$tmp" || exit 1
command -v objcopy > where || skip_all "no objcopy"
evil=$(printf 'x\033[2Jy\nz\302\233q') # ESC, newline, and CSI as one character (C1)
shown='x\\x1b\[2Jy\\x0az\\xc2\\x9bq'
cat > program.c << 'END'
int table[4096];
int main(void)
{
	for (long i = 0; i < 20000000; i++)
		table[i & 4095] += (int)i;
	return table[5] == 1;
}
END
check "a program" cc -O1 -fno-tree-vectorize -o program program.c
file=./f$evil
objcopy --redefine-sym "table=t$evil" --redefine-sym "main=m$evil" program "$file"

# plain TEXT NAME COMMAND...: NAME is in what it says, as it is shown, and no control byte
plain() {
	what=$1 name=$2
	shift 2
	"$@" > said 2>&1
	check "$what: the name" grep -q -- "$name" said
	is "$what: no control bytes" "$(grep -aP '[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|^zq?' said | head -n 4 | cat -v)" ""
}
at=$(nm program | sed -n 's/ B table$//p')
plain "sym -e" "t$shown\\[2\\].*f$shown\|t$shown+0x8.*f$shown" "$HOTVAR" sym -e "$file" "$(printf '%x' $((0x$at + 8)))"
plain "symbols" "f$shown" "$HOTVAR" symbols -v "$file"
plain "pages --symbols" "t$shown" "$HOTVAR" pages --symbols -- "$file"
plain "pages" "f$shown" "$HOTVAR" pages -- "$file"
plain "record" "r$shown" "$HOTVAR" record -o "r$evil" -- "$file"
plain "report" "t$shown" "$HOTVAR" report -i "r$evil"

# Two of one name, which --watch lists.
for i in 1 2; do
	echo "static int table[9]; int *one$i(void) { return table; }" > $i.c
	cc -O1 -c $i.c
	objcopy --redefine-sym "table=t$evil" $i.o
done
echo 'int main(void) { return 0; }' > 3.c
check "a program with two" cc -o two 1.o 2.o 3.c
plain "maps --watch" "two:t$shown@" "$HOTVAR" maps --watch "t$evil" -- ./two

# A process may call its code anything: /tmp/perf-PID.map, a line for each function.
cat > jit.c << 'END'
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>
int main(void)
{
	char name[64], *code = mmap(0, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	FILE *f;

	snprintf(name, sizeof(name), "/tmp/perf-%d.map", (int)getpid());
	f = fopen(name, "w");
	fprintf(f, "%lx 100 jx\033[2Jy\302\233q\n", (unsigned long)code);
	fclose(f);
	printf("%p\n", (void *)code);
	fflush(stdout);
	getchar();
	return remove(name);
}
END
check "generated code" cc -O1 -o jit jit.c
mkfifo in
./jit < in > at &
exec 3> in
until_true 30 grep -q 0x at
plain "sym -p" 'jx\\x1b\[2Jy\\xc2\\x9bq' "$HOTVAR" sym -p $! "$(cat at)"
exec 3>&-
wait
done_testing
