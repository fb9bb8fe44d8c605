# SPDX-License-Identifier: GPL-2.0-or-later
# maps.sh - what `hotvar maps` costs the program, by each source, against nothing and against strace.
#
# pair     nanoseconds added to a pair of mmap and munmap, at 100, 10,000 and 60,000 areas: how they grow; and against strace
# call     a system call that maps nothing, against itself
# serve    a request to a small server that maps now and then, against itself
# Each number is CPU time, of the program and of what follows it (against strace: time that passes), and the least of some rounds, in which all take turns.
set -e
cost=$TESTPROGS/map_cost rounds=${ROUNDS:-5}
tmp=$(mktemp -d "${TMPDIR:-/tmp}/hotvar-bench.XXXXXX")
trap 'rm -rf "$tmp"' EXIT
maps="$HOTVAR maps -q -o /dev/null --source"

# take NAME COMMAND...: one number more for NAME
take() {
	name=$1
	shift
	"$@" > "$tmp/out" 2> "$tmp/err" || { echo "maps.sh: $* failed: $(cat "$tmp/err")" >&2; exit 1; }
	tail -n 1 "$tmp/out" >> "$tmp/$name"
}
# least NAME: CPU time; soonest NAME: time that passes
least() { cut -d ' ' -f 1 "$tmp/$1" | sort -n | head -n 1; }
soonest() { cut -d ' ' -f 2 "$tmp/$1" | sort -n | head -n 1; }

limit=$(cat /proc/sys/vm/max_map_count)
most=60000
[ "$limit" -gt 62000 ] || most=$((limit - 3000))
have_strace=
command -v strace > /dev/null && have_strace=1
i=0
while [ $i -lt $rounds ]; do
	i=$((i + 1))
	for n in 100 10000 $most; do
		take plain-$n "$cost" pairs $n 8000
		take ptrace-$n $maps ptrace -- "$cost" pairs $n 8000
		take perf-$n $maps perf -- "$cost" pairs $n 8000
	done
	if [ -n "$have_strace" ]; then
		# long enough for the two to have come to one CPU
		take strace strace -f -e trace=memory --seccomp-bpf -o /dev/null "$cost" pairs 100 40000
		take long-ptrace $maps ptrace -- "$cost" pairs 100 40000
		take long-plain "$cost" pairs 100 40000
	fi
	take calls "$cost" calls 1000000
	take serve "$cost" serve 20000
	for s in ptrace perf look; do
		take calls-$s $maps $s -- "$cost" calls 1000000
		take serve-$s $maps $s -- "$cost" serve 20000
	done
done

for s in ptrace perf; do
	for n in 10000 $most; do
		awk -v name="maps-pair-$s-$n" -v a="$(($(least $s-$n) - $(least plain-$n)))" -v b="$(($(least $s-100) - $(least plain-100)))" \
			'BEGIN { printf "bench %s ratio %.2f goal <= 1.5\n# %d ns added, %d at 100 areas\n", name, a / b, a, b }'
	done
done
if [ -n "$have_strace" ]; then
	awk -v a="$(($(soonest long-ptrace) - $(soonest long-plain)))" -v b="$(($(soonest strace) - $(soonest long-plain)))" \
		-v c="$(($(least long-ptrace) - $(least long-plain)))" -v d="$(($(least strace) - $(least long-plain)))" \
		'BEGIN { printf "bench maps-pair-strace ratio %.2f goal <= 0.5\n# %d ns added, %d by strace; of CPU time %d and %d\n", a / b, a, b, c, d }'
else
	echo "maps.sh: no strace to compare with: apt-get install strace" >&2
fi
for s in ptrace perf look; do
	awk -v s=$s -v a="$(least calls-$s)" -v b="$(least calls)" 'BEGIN { printf "bench maps-call-%s ratio %.3f goal <= 1.05\n# %d ns, %d alone\n", s, a / b, a, b }'
done
for s in perf look; do
	awk -v s=$s -v a="$(least serve-$s)" -v b="$(least serve)" 'BEGIN { printf "bench maps-serve-%s ratio %.3f goal <= 1.01\n# %d ns, %d alone\n", s, a / b, a, b }'
done
awk -v a="$(least serve-ptrace)" -v b="$(least serve)" 'BEGIN { printf "# maps-serve-ptrace %.3f\n", a / b }'
