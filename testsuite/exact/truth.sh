# SPDX-License-Identifier: GPL-2.0-or-later
# truth.sh - hotvar --exact against a trace of every access, by totals and variable: each program that does the same in two runs.
#
# With threads: each variable, and a sum that is the total; what libc does in them is different from run to run, for lackey, too
# (ends.sh and live/exact-heap.sh hold what is lost there).  The other programs of testsuite/programs wait for a line, a clock or another
# process, say their process's number, read their own /proc/self/maps, in which valgrind's tools are not alike, or only run another.
# EXACT_ONLY="hot_scan loop" does a part; EXACT_MORE="FILE.c:ARG ..." does others too, which are built as the first lot is.
. "$top_srcdir/testsuite/lib.sh"
. "$top_srcdir/testsuite/exact.sh"

wanted() {
	case " ${EXACT_ONLY:-$1} " in
	*" $1 "*) return 0 ;;
	esac
	return 1
}

# Linked to fixed addresses, so that nm's are those of the trace.
built() { # SOURCE
	flags=$(sed -n 's,^/\* hotvar-cflags: \(.*\) \*/$,\1,p' "$1")
	# shellcheck disable=SC2086
	check "$name builds" "${CC:-cc}" ${flags:--O2 -g} -fno-pie -no-pie -I"$top_srcdir" -I"$top_srcdir/testsuite/programs" -I"$(dirname "$1")" \
		-o "$tmp/$name" "$1" -ldl -lm -pthread
}

for source in "$top_srcdir"/testsuite/programs/hot_*.c; do
	name=$(basename "$source" .c)
	wanted "$name" || continue
	built "$source"
	truth "$name" "$tmp/$name" 1
done

# NAME ARGUMENTS; "+NAME": variables only
while read -r name arguments; do
	truth_of=
	case $name in
	+*) truth_of=variables ;;
	esac
	name=${name#+}
	wanted "$name" || continue
	[ -x "$tmp/$name" ] || built "$top_srcdir/testsuite/programs/$name.c"
	# shellcheck disable=SC2086
	truth "$name $(echo "$arguments" | sed "s,$TESTPROGS/,,g")" "$tmp/$name" $arguments
done << END
access_kinds
elf_many 50
+exec_chain 3 0
+exact_threads 40 100 4
fork_many 20
heap_churn churn 3000
heap_churn live 3000
heap_objects nodes grow shrink aligned wide kernel
heap_objects forked zeros huge mapping moving named inlined
+heap_objects handed threads many
loop cpu 500
loop getppid 100
loop mmap 50
mixes 100
reload 50 $TESTPROGS/libreload_one.so $TESTPROGS/libreload_two.so
storm loads 20 $TESTPROGS/libreload_one.so $TESTPROGS/libreload_two.so
storm forks 20 1
touch_pages
tree forks 10
tree vforks 3
tree kill 9
END
truth_of=

for more in ${EXACT_MORE:-}; do
	name=$(basename "${more%:*}" .c)
	wanted "$name" || continue
	built "${more%:*}"
	truth "$name" "$tmp/$name" "${more##*:}"
done
done_testing
