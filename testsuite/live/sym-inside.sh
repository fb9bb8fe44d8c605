# SPDX-License-Identifier: GPL-2.0-or-later
# sym-inside - an ELF file inside another: libraries that are mapped straight from an archive, at an offset of it.
. "$top_srcdir/testsuite/lib.sh"
. "$top_srcdir/testsuite/symlib.sh"

cat > "$tmp/q.c" << 'END'
int NAME(data)[10] = { 1 };
char NAME(small)[16];
char NAME(big)[3 * 4096];
int *const NAME(relro)[4] = { NAME(data) };
static int hidden[20];
int *NAME(fn)(int i) { return &hidden[i]; }
END
# What a loader does, but for relocations: nothing of the library is run.  l FILE OFFSET VADDR TEXT...; "," begins another
cat > "$tmp/l.c" << 'END'
#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "say.h"
#define DOWN(x) ((x) & ~4095ul)
static char *load(int fd, unsigned long offset)
{
	Elf64_Ehdr h;
	Elf64_Phdr ph[20];
	char *base;
	int i;

	if (pread(fd, &h, sizeof(h), offset) != sizeof(h) || h.e_phnum > 20 ||
	    pread(fd, ph, h.e_phnum * sizeof(*ph), offset + h.e_phoff) <= 0)
		exit(1);
	base = mmap(0, 1 << 20, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (i = 0; i < h.e_phnum; i++) {
		unsigned long from = DOWN(ph[i].p_vaddr), file = ph[i].p_vaddr + ph[i].p_filesz, all = ph[i].p_vaddr + ph[i].p_memsz;
		int prot = (ph[i].p_flags & PF_R ? PROT_READ : 0) | (ph[i].p_flags & PF_W ? PROT_WRITE : 0) | (ph[i].p_flags & PF_X ? PROT_EXEC : 0);

		if (ph[i].p_type != PT_LOAD)
			continue;
		if (ph[i].p_filesz && mmap(base + from, file - from, prot, MAP_PRIVATE | MAP_FIXED, fd, offset + DOWN(ph[i].p_offset)) == MAP_FAILED)
			exit(2);
		if (DOWN(all + 4095) > DOWN(file + 4095))
			mmap(base + DOWN(file + 4095), DOWN(all + 4095) - DOWN(file + 4095), prot, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	}
	return base;
}
int main(int argc, char **argv)
{
	volatile int *spin = NULL;
	int i = 1, k;

	while (i + 1 < argc) {
		int fd = open(argv[i], O_RDONLY);
		unsigned long offset = strtoul(argv[i + 1], 0, 16);
		char *base = strcmp(argv[i + 2], "read") ? load(fd, offset) :
			     mmap(0, 8192, PROT_READ, MAP_PRIVATE, fd, offset);

		for (i += 2; i + 1 < argc && strcmp(argv[i], ","); i += 2) {
			char *p = base + (strcmp(argv[i], "read") ? strtoul(argv[i], 0, 16) : 64);

			SAY(p, argv[i + 1]);
			if (!strcmp(argv[i + 1], "spin"))
				spin = (int *)p;
		}
		i++;
	}
	for (k = 0; spin && k < 300000000; k++)
		spin[k & 7]++;
	if (spin)
		return 0;
	done();
}
END
if ! build "libraries" sh -c "$CC -O0 -g -shared -fPIC '-DNAME(x)=one_##x' q.c -o one.so && $CC -O0 -shared -fPIC -Wl,-z,max-page-size=4096 '-DNAME(x)=two_##x' q.c -o two.so &&
	$CC -O0 l.c -o l"; then
	done_testing
	exit
fi
# put FILE AT-PAGE INTO
put() {
	dd if="$tmp/$1" of="$tmp/$3" bs=4096 seek="$2" conv=notrunc 2> /dev/null
}
printf 'PK\003\004 an archive' > "$tmp/a b.apk"
put one.so 5 "a b.apk"
put two.so 40 "a b.apk"
printf 'PK\005\006 its end' >> "$tmp/a b.apk"
cp "$tmp/l" "$tmp/tail"
put two.so 100 tail
touch -d '1 hour ago' "$tmp/a b.apk" "$tmp/tail" "$tmp/one.so" "$tmp/two.so"

# all LIBRARY PREFIX FILE: the arguments for the loader, one a line
vaddr() {
	nm "$tmp/$1" | sed -n "s/^0*\\([0-9a-f]*\\) . $2\$/\\1/p"
}
all() {
	while read -r name more kind section; do
		printf '%x\n%s\n' $((0x$(vaddr "$1" "$name") + more)) "$name$([ "$more" = 0 ] || printf '+%#x' "$more")  $kind  $section  $tmp/$3"
	done << END
$2_data 4 data .data
$2_small 15 bss .bss
$2_big 12287 bss .bss
$2_relro 0 $4 .data.rel.ro
$2_fn 1 text .text
hidden 79 bss .bss
END
}
# loaded TEXT FILE OFFSET LIBRARY PREFIX [FILE OFFSET LIBRARY PREFIX]
loaded() {
	text=$1
	shift
	{
		while [ $# -gt 0 ]; do
			printf '%s\n' "$tmp/$1" "$2"
			all "$3" "$4" "$1$([ "$2" = 0 ] || echo "@0x$2")" relro
			[ $# -lt 5 ] || echo ,
			shift 4
		done
	} > "$tmp/args"
	oldifs=$IFS
	IFS='
'
	# shellcheck disable=SC2046
	set -- $(cat "$tmp/args")
	IFS=$oldifs
	start "$tmp/l" "$@" && agree "$text"
}
loaded "a library in an archive" "a b.apk" 5000 one.so one
# what the memory map itself does not have is not made up
"$HOTVAR" sym -q --json -p "$pid" "$(sed -n 's/ one_data.*//p' "$tmp/out")" > "$tmp/json"
like "as JSON: the real file, and the offset" "$(cat "$tmp/json")" "\"name\":\"one_data\\[1\\]\",\"symbol\":\"one_data\",.*\"module\":\"$tmp/a b.apk\",\"elf_offset\":\"0x5000\",.*\"build_id\":\"$(readelf -n "$tmp/one.so" | sed -n 's/.*Build ID: //p')\".*\"decl\":\"q.c:1\""
offset=$(readelf -SW "$tmp/one.so" | awk -v v="$(vaddr one.so one_data)" '{ sub(/^ *\[ *[0-9]*\] */, "") } $1 == ".data" { print $3, $4 }')
like "the byte's place in the archive" "$(cat "$tmp/json")" "\"file_offset\":\"$(printf '%#x' $((0x5000 + 0x${offset#* } + 0x$(vaddr one.so one_data) + 4 - 0x${offset% *})))\""
stop
loaded "two of one archive" "a b.apk" 5000 one.so one "a b.apk" 28000 two.so two
stop
loaded "behind a program, in its file" tail 64000 two.so two
stop
loaded "the archive and the file itself" "a b.apk" 28000 two.so two one.so 0 one.so one
stop

# mapped to be read, like any data: nothing of it is loaded
start "$tmp/l" "$tmp/a b.apk" 5000 read "a b.apk[0x5040]  file  $tmp/a b.apk@0x5000  (not-loaded)" , \
	"$tmp/a b.apk" 4000 read "a b.apk[0x4040]  file  $tmp/a b.apk  (no-elf)" && agree "mapped to be read"
stop

# changed after it was mapped
loaded "mapped" "a b.apk" 5000 one.so one
touch -d '1 hour' "$tmp/a b.apk"
like "changed since: no names" "$(sym -p "$pid" "$(sed -n 's/ one_data.*//p' "$tmp/out")")" '\(stale-file\)$'
stop
touch -d '1 hour ago' "$tmp/a b.apk"

# ---- -e ----
is "-e FILE@OFFSET takes link-time addresses" "$(sym -e "$tmp/a b.apk@0x28000" "$(vaddr two.so two_big)")" "two_big  bss  .bss  $tmp/a b.apk@0x28000"
cp "$tmp/one.so" "$tmp/a b.apk@0x28000"
is "a file of that very name goes first" "$(sym -e "$tmp/a b.apk@0x28000" "$(vaddr one.so one_big)")" "one_big  bss  .bss  $tmp/a b.apk@0x28000"
rm "$tmp/a b.apk@0x28000"
for bad in "a b.apk@0x4000:there is no ELF file" "a b.apk@0x5001:No such file.*multiple of 0x1000" "a b.apk@0xffffffffff000:there is no ELF file" \
	"a b.apk@20480:No such file.*hexadecimal: .*/a b.apk@0x5000\$" "a b.apk@20481:No such file.*multiple of 0x1000" "a b.apk:it is no ELF file"; do
	"$HOTVAR" sym -e "$tmp/${bad%%:*}" 0 > "$tmp/got" 2>&1
	is "refused: ${bad%%:*}" "$? $(grep -c "^hotvar: cannot .*${bad#*:}" "$tmp/got")" "125 1"
done

# ---- a report, and a recording of it ----
"$HOTVAR" record -q -o "$tmp/rec" -- "$tmp/l" "$tmp/a b.apk" 5000 "$(vaddr one.so one_data)" spin > "$tmp/out" 2> "$tmp/err"
"$HOTVAR" report -i "$tmp/rec" --json > "$tmp/json"
like "a report has the names" "$(grep '"name":"one_data"' "$tmp/json")" "\"rank\":[123],.*\"module\":\"$tmp/a b.apk\",\"kind\":\"data\",\"size\":40,"

done_testing
