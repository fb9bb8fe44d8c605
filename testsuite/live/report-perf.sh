#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# report-perf.sh - text of perf script as a source of accesses: of perf mem record, as perf prints it, and of page faults, by perf itself.
. "$top_srcdir/testsuite/lib.sh"

cp "$TESTPROGS/first_touch" "$tmp/prog" || exit 1
cd "$tmp" || exit 1
fields="-F +pid,+addr --show-mmap-events --show-task-events"

# row NAME FILE: its JSON; field KEY: of that on stdin; un FILE: samples that are in no row
row() { grep "\"type\":\"variable\".*\"name\":\"$1\"" "$2"; }
un() { sed -n 's/.*"unattributed":{\([^}]*\)}.*/\1/p' "$1"; }
field() { sed -n "s/.*\"$1\":\(\"[^\"]*\"\|[^,}]*\)[,}].*/\1/p"; }

# ---- perf mem record: no PMU is needed for its text ----
base=$((0x555500000000))
addr() { printf '%x' $((base + 0x$(nm prog | sed -n "s/^\([0-9a-f]*\) . $1\$/\1/p") + $2)); }
# The map of the program as a loader would have it. maps DEVICE-AND-INODE
maps() {
	readelf -lW prog | awk '$1 == "LOAD" { print $2, $3, $5, $6, $7 $8 }' | while read -r offset vaddr filesz memsz flags; do
		start=$((base + (vaddr & ~4095)))
		end=$((base + ((vaddr + filesz + 4095) & ~4095)))
		last=$((base + ((vaddr + memsz + 4095) & ~4095)))
		case $flags in R*E*) prot=r-xp ;; RW*) prot=rw-p ;; *) prot=r--p ;; esac
		record="            prog   700/700       0.001000: PERF_RECORD_MMAP2 700/700:"
		printf '%s [0x%x(0x%x) @ %#x %s]: %s %s\n' "$record" $start $((end - start)) $((offset & ~4095)) "$1" $prot "$tmp/prog"
		[ $last -le $end ] || printf '%s [0x%x(0x%x) @ 0 00:00 0 0]: rw-p //anon\n' "$record" $end $((last - end))
	done
}
# sample TIME EVENT ADDR SOURCE WORDS LATENCY
sample() {
	printf '%16s %7d/%-7d [%03d] %12s: %10d %s: %16s %16s %s %16d %16x %s\n' prog 700 "${tid:-701}" 3 "$1" 1000 "$2" "$3" "$4" "$5" "$6" \
		$((base + 0x1234)) "main+0x10 ($tmp/prog)"
}
mem() {
	echo "            prog   700/700       0.000900: PERF_RECORD_COMM exec: prog:700/700"
	[ -z "$1" ] || maps "$1"
	echo "            prog   700/700       0.002000: PERF_RECORD_FORK(700:701):(700:700)"
	l1='|OP LOAD|LVL L1 or L1 hit|SNP None|TLB L1 hit|LCK N/A|BLK  N/A'
	for i in 1 2 3; do sample 2.00000$i cpu/mem-loads,ldlat=30/P "$(addr big $i)" 229100142 "$l1" 37; done
	for i in 4 5; do
		tid=$((696 + i))
		sample 2.00000$i cpu/mem-loads,ldlat=30/P "$(addr twice 16)" 651800842 '|OP LOAD|LVL L3 or L3 hit|SNP HitM|TLB L2 miss|LCK N/A|BLK  N/A' 300
	done
	tid=
	sample 2.000006 cpu/mem-stores/P "$(addr big 9)" 202000144 '|OP STORE|LVL L1 or L1 hit|SNP N/A|TLB N/A|LCK Yes|BLK  N/A' 0
	for i in 0 1 2; do
		tid=$((700 + i % 2))
		sample 2.00000$((7 + i)) cpu/mem-stores/P "$(addr twice 16)" 202000144 '|OP STORE|LVL L1 or L1 hit|SNP N/A|TLB N/A|LCK Yes|BLK  N/A' 0
	done
	sample 2.000010 cpu/mem-loads,ldlat=30/P 0 229100142 "$l1" 9
}
identity=$(stat -c '%d %i' prog | { read -r dev ino; printf '%02x:%02x %s 0' $((dev >> 8 & 4095)) $((dev & 255 | (dev >> 12 & 0xfff00))) "$ino"; })
mem "$identity" > mem.txt
touch -d '+1 hour' mem.txt
"$HOTVAR" report --json -i mem.txt > mem.json 2> err
is "text of perf mem record is a report" $? 0
is "... with the variable and its samples" "$(row big mem.json | field samples) $(row twice mem.json | field samples)" "4 5"
is "... where it is" "$(row big mem.json | field kind) $(row twice mem.json | field kind)" '"bss" "bss"'
is "... its share of the accesses" "$(row big mem.json | field share)" 0.4
is "... its share of the cycles" "$(row twice mem.json | field time_share)" 0.833333
is "... their mean" "$(row big mem.json | field latency_mean) $(row twice mem.json | field latency_mean)" "37 300"
is "... lines modified in another core's cache" "$(row big mem.json | field hitm) $(row twice mem.json | field hitm)" "0 2"
is "... how many write, of one that three times reads" "$(row big mem.json | field write_share)" 0.25
is "... and what has no address" "$(un mem.json)" '"no-address":1'
"$HOTVAR" report --sort time --by member --per-process -i mem.txt > mem.out 2> err
like "other options have their meaning, for people too" "$(sed -n 3p mem.out)" '^ +1 +50\.0% .* 83\.3% .* 300 +2 +bss +twice\[\].*prog.*\(prog 700\)'
grep -v mem-loads mem.txt > stores.txt # which have no latency
"$HOTVAR" report --sort time -i stores.txt > stores.out 2> err
is "... but none that does nothing" "$? $(wc -c < stores.out)" "2 0"
like "... and it is said why" "$(cat err)" '^hotvar: --sort time .* tell of no time'
"$HOTVAR" report -i stores.txt > stores.out 2> err
like "... without it there is a report" "$? $(sed -n 3p stores.out)" '^0 +1 .* - .* twice '
"$HOTVAR" report --by cacheline --json -i mem.txt > lines.json 2> err
like "the cache line that is fought for is known, too" "$(cat lines.json)" '"hitm":2000[,}].*"twice|"twice.*"hitm":2000[,}]'
build_id=$(readelf -n prog | sed -n 's/.*Build ID: //p')
mem "<$build_id>" > by-id.txt
"$HOTVAR" report --json -i by-id.txt > by-id.json 2> err
is "a build-id is as good as an inode" "$(row big by-id.json | field samples)" 4
mem "<0011223344556677889900112233445566778899>" > other.txt
"$HOTVAR" report --json -i other.txt > other.json 2> err
is "of another build-id it has no names" "$(row big other.json)" ""
mem "${identity% * *} 1 0" > other.txt
"$HOTVAR" report -v -i other.txt > other.out 2> err
unlike "of another inode neither" "$(cat other.out)" ' big '
like "... and why is said" "$(tr -s '\n ' ' ' < other.out)" 'is not the one that was mapped'
touch -d '-1 hour' mem.txt
"$HOTVAR" report -v -i mem.txt > stale.out 2> err
unlike "nor of a file that was changed after the text was made" "$(cat stale.out)" ' big '
touch -d '+1 hour' mem.txt
sed 's/$/\r/' mem.txt > crlf.txt
"$HOTVAR" report --json -i - < crlf.txt | sed 1d > crlf.json
sed 1d mem.json > rest.json
is "through a pipe, with the line ends of Windows, it is the same" "$(cat crlf.json)" "$(cat rest.json)"
mem "" > mapless.txt
"$HOTVAR" report --json -i mapless.txt > mapless.json 2> err
is "without a map they are counted as such" "$(un mapless.json)" '"no-address":1,"no-map":9'

# ---- what it is not ----
echo 'hello world' > hello.txt
"$HOTVAR" report -i hello.txt > out 2> err
is "what is none of perf's is refused" "$? $(grep -c 'nor as text of perf script' err)" "125 1"
"$HOTVAR" advise -i mem.txt > out 2> err
is "who reads recordings alone says so of text" "$? $(grep -c 'text of perf script is for hotvar report alone' err)" "125 1"
sed 's/ 2291.*//; s/ 65.*//; s/ 202.*//' mapless.txt > short.txt
"$HOTVAR" report -i short.txt > out 2> err
is "without a field that is needed: where, and what to type" "$? $(grep -c 'short.txt:[0-9]*:[0-9]*: .*perf script -F +pid,+addr' err)" "125 1"
printf 'PERFILE2h\000\000\000' > perf.data
"$HOTVAR" report -i perf.data > out 2> err
is "perf's own format: what to type" "$? $(grep -c 'perf script .* -i perf.data > perf.txt' err)" "125 1"

# ---- Arm's SPE, and a program that is none of x86 ----
spe="perf script --itrace=M -F +pid,+addr,+data_src,+weight"
# record EVENTS ADDR SOURCE WORDS LATENCY: what perf makes of one
record() {
	for event in $1; do sample 2.000001 "$event" "$2" "$3" "$4" "$5"; done
}
maps "$identity" > spe.txt
hit='|OP LOAD|LVL L1 or L1 hit|SNP None|TLB Walker hit|LCK N/A|BLK  N/A'
for i in 1 2 3; do record "l1d-access tlb-access memory instructions" "$(addr big $i)" 288100142 "$hit" 7; done >> spe.txt
record "l1d-miss l1d-access llc-miss llc-access tlb-miss tlb-access memory instructions" "$(addr twice 16)" 1a90101042 \
	'|OP LOAD|LVL Local RAM or RAM hit|SNP None|TLB Walker miss|LCK N/A|BLK  N/A' 180 >> spe.txt
record "memory instructions" "$(addr twice 16)" 1e88080024 '|OP STORE|LVL N/A|SNP N/A|TLB Walker hit|LCK N/A|BLK  N/A' 12 >> spe.txt
record instructions 0 1 '|OP N/A|LVL N/A|SNP N/A|TLB N/A|LCK N/A|BLK  N/A' 3 >> spe.txt
touch -d '+1 hour' spe.txt
"$HOTVAR" report --json -i spe.txt > spe.json 2> err
is "Arm's SPE: an access is one, in however many samples perf tells of it" "$(row big spe.json | field samples) $(row twice spe.json | field samples) $(un spe.json)" "3 2 "
is "... its latency, and which write" "$(row twice spe.json | field latency_mean) $(row twice spe.json | field write_share)" "96 0.5"
is "... and which missed the TLB" "$(row big spe.json | field tlb_misses) $(row twice spe.json | field tlb_misses)" "0 1"
grep -v 'memory:' spe.txt > instructions.txt
touch -d '+1 hour' instructions.txt
"$HOTVAR" report --json -i instructions.txt | sed 1d > instructions.json
sed 1d spe.json > rest.json
is "... where there are instructions alone it is the same" "$(cat instructions.json)" "$(cat rest.json)"
grep -v 'memory:\|instructions:' spe.txt > neither.txt
"$HOTVAR" report -i neither.txt > out 2> err
is "... and where there is neither it is said how to make the text" "$? $(grep -c -F -e "$spe" err)" "125 1"
# The same file, as if for another machine, with a build-id of its own, by which perf knows it.
printf '\267\000' > machine # 183, EM_AARCH64, in e_machine
cp prog arm
dd if=machine of=arm bs=1 seek=18 conv=notrunc 2> log
note=$(readelf -SW prog | sed -n 's/.* \.note\.gnu\.build-id *NOTE *[0-9a-f]* \([0-9a-f]*\) .*/\1/p')
printf '\001\002' | dd of=arm bs=1 seek=$((0x$note + 16)) conv=notrunc 2> log # behind three numbers and "GNU"
sed "s|$tmp/prog|$tmp/arm|; s|@ \(0x*[0-9a-f]*\) $identity|@ \1 <0102${build_id#????}>|" spe.txt > arm.txt
"$HOTVAR" report -v -i arm.txt > arm.out 2> err
like "a file for another machine has no names, and its accesses are in the report" "$? $(sed -n '3,$p' arm.out | grep -c 'big\|twice'); $(sed -n 3p arm.out)" '^0 0; +1 +100\.0% .* anon +\[anon\]$'
like "... and why is said" "$(tr -s '\n ' ' ' < arm.out)" 'arm: the file is an ELF file for another machine than x86'
sed "s|$tmp/prog|$tmp/arm|; s|$identity|$(stat -c '%i' arm | sed "s|.*|${identity%% *} & 0|")|" spe.txt > arm-inode.txt
touch -d '+1 hour' arm-inode.txt
"$HOTVAR" report -v -i arm-inode.txt > arm.out 2> err
like "... likewise where it is known by its inode" "$? $(tr -s '\n ' ' ' < arm.out)" '^0 .*arm: .*ELF file for another machine'

# ---- page faults, by perf itself ----
text="page faults by perf"
if ! command -v perf > /dev/null; then
	skip "$text" "perf is not installed (apt-get install linux-perf)"
elif ! perf record -q -e page-faults -c 1 -d -o faults.data ./prog > log 2>&1 || [ ! -s faults.data ]; then
	skip "$text" "perf record does not work here: $(tail -n 1 log)"
else
	# shellcheck disable=SC2086
	perf script $fields -i faults.data > faults.txt 2> log
	"$HOTVAR" report --json -i faults.txt > faults.json 2> err
	is "$text: each page of each variable, as often as the program knows" \
		"$(row big faults.json | field samples) $(row twice faults.json | field samples)" "200 100"
	is "... neither read nor written, since perf does not tell" "$(row big faults.json | field write_share)" null
	"$HOTVAR" report --json --limit 1 -i faults.txt > some.json 2> err
	like "... and time, which it does not tell either, is not 0 of what is left out" "$(tail -n 1 some.json)" '"hidden":\{[^}]*"time_share":null'
	perf script -F +pid,+addr -i faults.data > told.txt 2> log
	"$HOTVAR" report --json --limit 0 -i told.txt > told.json 2> err
	like "without the map names are perf's, and said to be" "$(cat told.json)" '"name":"_DYNAMIC".*"told_by":"perf"'
	like "... which is noted" "$(sed -n 1p told.json)" 'does not tell what is mapped'
	perf script -i faults.data > plain.txt 2> log
	"$HOTVAR" report -i plain.txt > out 2> err
	is "what perf script prints by itself has no address" "$? $(grep -c 'has no address of data' err)" "125 1"
	perf record -q -g -e page-faults -c 1 -d -o chains.data ./prog > log 2>&1
	# shellcheck disable=SC2086
	perf script $fields -i chains.data 2> log | "$HOTVAR" report --json -i - > chains.json 2> err
	is "with call chains it is the same" "$(row big chains.json | field samples) $(row twice chains.json | field samples)" "200 100"
fi
done_testing
