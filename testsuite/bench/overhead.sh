# SPDX-License-Identifier: GPL-2.0-or-later
# overhead.sh - what `hotvar -- CMD` costs CMD, from its start to the report, at 1 kHz.
#
# cpu      a program that only computes, against itself without hotvar
# getppid  a program that only makes a system call which changes no map, against itself
# mmap     a program that only maps and unmaps, against strace stopping at the same calls
set -e
compare=$top_srcdir/testsuite/bench/compare
loop=$TESTPROGS/loop
tmp=$(mktemp -d "${TMPDIR:-/tmp}/hotvar-bench.XXXXXX")
trap 'rm -rf "$tmp"' EXIT
export XDG_CACHE_HOME="$tmp/cache"

hotvar="$HOTVAR -q -F 1000 -o $tmp/report --"
$hotvar "$loop" cpu 1000 > /dev/null # fills the cache of symbol images, as any second run finds it

$compare hotvar-cpu 5 1.03 $hotvar "$loop" cpu 1200000000 ::: "$loop" cpu 1200000000
$compare hotvar-getppid 5 1.05 $hotvar "$loop" getppid 15000000 ::: "$loop" getppid 15000000
if command -v strace > /dev/null; then
	$compare hotvar-mmap 5 0.5 $hotvar "$loop" mmap 40000 ::: \
		strace -f --seccomp-bpf -e trace=mmap,munmap,mremap,brk,mprotect,execve,clone,clone3,fork,vfork,shmat,shmdt -o /dev/null "$loop" mmap 40000
else
	echo "overhead.sh: no strace to compare with: apt-get install strace" >&2
	exit 1
fi
