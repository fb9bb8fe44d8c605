# SPDX-License-Identifier: GPL-2.0-or-later
# ptrace.sh - what watching the map call by call costs: `hotvar maps`.
#
# getppid  a program that only makes a system call which changes no map, against itself: the price of the gate
# mmap     a program that only maps and unmaps, against strace stopping at the same calls: the stops are the price, and both have two
#          a call; half of strace's is what --source perf holds, in maps.sh
set -e
compare=$top_srcdir/testsuite/bench/compare
loop=$TESTPROGS/loop

maps="$HOTVAR maps --source ptrace -q -o /dev/null --"
$compare maps-getppid 5 1.5 $maps "$loop" getppid 5000000 ::: "$loop" getppid 5000000
if command -v strace > /dev/null; then
	$compare maps-mmap 3 1.1 $maps "$loop" mmap 20000 ::: \
		strace -f --seccomp-bpf -e trace=mmap,munmap,mremap,brk,mprotect,execve,clone,clone3,fork,vfork,shmat,shmdt -o /dev/null "$loop" mmap 20000
else
	echo "ptrace.sh: no strace to compare with: apt-get install strace" >&2
	exit 1
fi
