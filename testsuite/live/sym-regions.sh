#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# sym-regions - memory that is no file's, or not the file's any more: heap, stack, shm, [vdso], huge text, data of other machines.
. "$top_srcdir/testsuite/lib.sh"
. "$top_srcdir/testsuite/symlib.sh"

# ---- regions, and the fields of a record ----
cat > "$tmp/r.c" << 'END'
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/auxv.h>
#include "say.h"
static char *fill(char *p) { return memset(p, 1, 4096); }
int main(void)
{
	int fd = memfd_create("my name", 0), id = shmget(IPC_PRIVATE, 4096, 0600), zero = open("/dev/zero", O_RDWR);
	int rw = PROT_READ | PROT_WRITE;
	char *heap = malloc(100), local;

	if (ftruncate(fd, 8192))
		return 1;
	SAY(heap, "[heap]  heap  (no-file)");
	SAY(&local, "[stack]  stack  (no-file)");
	SAY(fill(mmap(0, 4096, rw, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)), "[anon]  anon  (no-file)");
	SAY(fill(mmap(0, 4096, rw, MAP_SHARED | MAP_ANONYMOUS, -1, 0)), "[shm]  shm  /dev/zero (deleted)  (no-file)");
	SAY(fill(mmap(0, 4096, rw, MAP_SHARED, fd, 0)), "[shm]  shm  /memfd:my name (deleted)  (no-file)");
	SAY(fill(mmap(0, 4096, rw, MAP_PRIVATE, fd, 4096)), "[shm]  shm  /memfd:my name (deleted)  (no-file)");
	SAY(fill(mmap(0, 4096, rw, MAP_PRIVATE, zero, 0)), "[anon]  anon  /dev/zero  (no-file)");
	if (id >= 0) {
		char *p = shmat(id, 0, 0);

		shmctl(id, IPC_RMID, 0);
		SAY(fill(p), "[shm]  shm  /SYSV00000000 (deleted)  (no-file)");
	}
	SAY(16, "[unmapped]  unmapped  (unmapped)");
	SAY(-16L, "[unmapped]  unmapped  (unmapped)");
	done();
}
END
if build "regions" "$CC" -O0 r.c -o r; then
	start "$tmp/r" && {
		agree "regions"
		addr=$(sed -n 's/ .*memfd.*//p;' "$tmp/out" | head -n 1)
		"$HOTVAR" sym -q --json -p "$pid" "$addr" > "$tmp/json"
		like "a shared page is not private" "$(cat "$tmp/json")" '"private":false'
		addr=$(sed -n 's/ \[heap\].*//p' "$tmp/out")
		"$HOTVAR" sym -q --json -p "$pid" "$addr" > "$tmp/json"
		like "the heap is" "$(cat "$tmp/json")" '"symbol":null,.*"private":true,"reason":"no-file"'
		for s in '[vvar]' '[vvar_vclock]'; do
			addr=$(awk -v s="$s" '$6 == s { sub(/-.*/, "", $1); print "0x" $1 }' "/proc/$pid/maps")
			[ -z "$addr" ] || is "$s has no names" "$(sym -p "$pid" "$addr")" "$s  vvar  $s  (no-file)"
		done
		addr=$(awk '$6 == "[vsyscall]" { sub(/-.*/, "", $1); print "0x" $1 }' "/proc/$pid/maps")
		[ -z "$addr" ] || is "[vsyscall] has no names" "$(sym -p "$pid" "$addr")" "[vsyscall]  vsyscall  [vsyscall]  (no-file)"
	}
	stop
fi

# ---- [vdso]: its symbols come from memory, whatever lies in a file of that name ----
cat > "$tmp/vdso.c" << 'END'
#include <elf.h>
#include <sys/auxv.h>
#include "say.h"
int main(int argc, char **argv)
{
	const char *p = (const char *)getauxval(AT_SYSINFO_EHDR);
	FILE *f = fopen(argv[argc - 1], "w");

	if (!p || !f || fwrite(p, 1, 4096, f) != 4096)
		return 1;
	fwrite(p + 4096, 1, 4096, f); /* it may be one page only */
	fclose(f);
	printf("%p base\n", (void *)p);
	done();
}
END
if build "[vdso]" "$CC" -O0 vdso.c -o vdso && start "$tmp/vdso" "$tmp/dump"; then
	base=$(sed -n 's/ base//p' "$tmp/out")
	nm -D "$tmp/dump" 2> /dev/null | sed 's/@.*//' | awk '$2 ~ /^[TW]$/ { print $1, $3 }' > "$tmp/vsyms"
	if [ -s "$tmp/vsyms" ]; then
		cp "$tmp/r" "$tmp/[vdso]" 2> /dev/null
		while read -r v s; do
			got=$(cd "$tmp" && sym -p "$pid" "$(printf '%#x' $((base + 0x$v + 1)))")
			same=$(awk -v v="$v" '$1 == v { printf "%s%s", n++ ? "|" : "", $2 }' "$tmp/vsyms")
			like "[vdso] $s" "$got" "^($same)\\+0x1  vdso  \\.text  \\[vdso\\]\$"
		done < "$tmp/vsyms"
	else
		skip "[vdso]" "nm cannot read this kernel's"
	fi
	stop
fi

# ---- huge pages for text and data: the names stay ----
cat > "$tmp/huge.c" << 'END'
#define _GNU_SOURCE
#include <string.h>
#include <sys/mman.h>
#include "say.h"
int table[5000] = { 1 };
int zeros[5000];
int work(int x) { return x + table[x]; }
static void renew(void *at, int prot)
{
	char *page = (char *)((unsigned long)at & ~4095ul);
	static char copy[4096];

	memcpy(copy, page, 4096);
	mmap(page, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	memcpy(page, copy, 4096);
	mprotect(page, 4096, prot);
}
int main(void)
{
	renew(&table[2000], PROT_READ | PROT_WRITE);
	renew((void *)work, PROT_READ | PROT_EXEC);
	SAY(&table[2000], "table+0x1f40  data  .data");
	SAY(work, "work  text  .text");
	SAY(&zeros[4000], "zeros+0x3e80  bss  .bss");
	done();
}
END
if build "remapped" "$CC" -O0 -falign-functions=4096 huge.c -o huge && start "$tmp/huge"; then
	sed -i "/\(table\|work\)/s|\$|  $tmp/huge  (remapped)|; /zeros/s|\$|  $tmp/huge|" "$tmp/out"
	agree "remapped pages keep their names"
	"$HOTVAR" sym -q --json -p "$pid" "$(sed -n 's/ table.*//p' "$tmp/out")" > "$tmp/json"
	like "and are said to be so" "$(cat "$tmp/json")" '"kind":"data","name":"table","symbol":"table","offset":8000,"size":20000,"section":"\.data",.*"file_offset":null,.*"remapped":true'
	stop
fi

# ---- a file of another byte order, a file that is only read ----
cat > "$tmp/data.c" << 'END'
#include <fcntl.h>
#include <sys/mman.h>
#include "say.h"
int main(int argc, char **argv)
{
	int i;

	for (i = 1; i + 1 < argc; i += 2) {
		char *p = mmap(0, 4096, PROT_READ, MAP_PRIVATE, open(argv[i], O_RDONLY), 0);

		if (p == MAP_FAILED)
			return 1;
		printf("%p %s\n", (void *)(p + 0x40), argv[i + 1]);
	}
	done();
}
END
if build "mapped files" "$CC" -O0 data.c -o data; then
	echo "just text, long enough to be mapped" > "$tmp/a text"
	: > "$tmp/empty"
	cp "$tmp/data" "$tmp/copy"
	printf '\177ELF\002\002\001' | dd of="$tmp/copy" conv=notrunc 2> /dev/null # big-endian now
	printf '\000\003\000\025' | dd of="$tmp/copy" bs=1 seek=16 conv=notrunc 2> /dev/null
	head -c 300 "$tmp/data" > "$tmp/cut"
	touch -d '1 hour ago' "$tmp/copy" "$tmp/cut" "$tmp/a text" "$tmp/data"
	start "$tmp/data" "$tmp/a text" "a text[0x40]  file  $tmp/a text  (no-elf)" \
		"$tmp/copy" "copy[0x40]  file  $tmp/copy  (bad-elf)" "$tmp/cut" "cut[0x40]  file  $tmp/cut  (bad-elf)" \
		"$tmp/data" "data[0x40]  file  $tmp/data  (not-loaded)" && agree "files mapped to be read"
	stop
	if have clang && have ld.lld && echo 'int be_var = 1;' > "$tmp/b.c" &&
		build "big-endian" clang --target=powerpc64-linux-gnu -c -fPIC b.c -o b.o &&
		build "big-endian" ld.lld -m elf64ppc -shared b.o -o libbe.so; then
		touch -d '1 hour ago' "$tmp/libbe.so"
		start "$tmp/data" "$tmp/libbe.so" "libbe.so[0x40]  file  $tmp/libbe.so  (bad-elf)" && agree "a real big-endian file"
		stop
		"$HOTVAR" sym -e "$tmp/libbe.so" 0 > "$tmp/got" 2>&1
		is "and with -e" "$?" 125
		like "it is refused by name" "$(cat "$tmp/got")" "^hotvar: cannot use '.*libbe.so': it is a big-endian ELF file"
	fi
fi

done_testing
