# SPDX-License-Identifier: GPL-2.0-or-later
# maps.sh - what `hotvar maps` costs the program, by each source, against nothing and against strace.
#
# pair     nanoseconds added to a pair of mmap and munmap, at 100, 10,000 and 60,000 areas: how they grow; and against strace
# call     a system call that maps nothing, against itself
# serve    a request to a small server that maps now and then, against itself
# Each number is CPU time, of the program and of what follows it, and the least of some rounds, in which all take turns.
#
# A pair's by perf: as many pairs as fit in a second, so that all that hotvar does ten times a second is in it, looks at the map
# among it.  What it does at the beginning is not, if it comes before the areas are made (100 ms), nor what it does when the program
# has ended: the last tick's changes.  By pairs that are over in 0.1 to 0.3 s, a fast machine's 80,000, it is luck what of that falls
# into them, and the looks of the beginning are most of what they are charged with.
#
# The server's by perf is nearer to 1 than two runs are alike.  It is put together of two that can be told apart: what hotvar itself
# takes of a CPU for each second that the server does, the median of many runs of half a second, with hotvar's beginning and first
# look in it; and how much slower the server is, by the time of 500 requests in a row, in the soonest tenth of a run: of many runs, each
# against the mean of the one before and the one after it, the median.  (Of the least of all runs it was 0.96 to 1.03 where nothing
# had changed: one run at a moment when the CPU was fast decides it.)  Beside it stands the same for the server by itself, the
# one after against the one before.  Ten times a second hotvar wakes,
# whatever the server has done since, and it is told of what all processes of the machine map: so what else is at work there
# counts, too, and more the less of a CPU is left to the server.
#
# The program that is measured stays on the last CPU (taskset), hotvar and strace go where the kernel puts them: where a CPU of a
# virtual machine shares a core with strangers, the same loop takes 1.9 to 3.4 us on one and always 3.0 on the other.
#
# Goals are held by the source that can meet them, perf; what ptrace cannot do is printed beside.  The kernel takes the slower
# way into each system call of a task that has any seccomp filter (SYSCALL_WORK_SECCOMP), so that one which allows
# everything costs as much: maps-call-ptrace-filter measures the gate against a filter that only refuses perf_event_open.  A stop
# of a ptraced task is two switches of context, and hotvar needs the same two for a call, entry and exit, as strace does.
set -e
rounds=${ROUNDS:-5}
cpu=$(sed -n 's/^Cpus_allowed_list:.*[^0-9]//p' /proc/self/status)
tmp=$(mktemp -d "${TMPDIR:-/tmp}/hotvar-bench.XXXXXX")
trap 'rm -rf "$tmp"' EXIT
cost="taskset -c $cpu $TESTPROGS/map_cost"
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
		take plain-$n $cost pairs $n 1000ms
		take ptrace-$n $maps ptrace -- $cost pairs $n 20000
		take perf-$n $maps perf -- $cost pairs $n 1000ms
	done
	if [ -n "$have_strace" ]; then
		# long enough for the two to have come to one CPU
		take long-perf $maps perf -- $cost pairs 100 40000
		take strace strace -f -e trace=memory --seccomp-bpf -o /dev/null $cost pairs 100 40000
		take long-ptrace $maps ptrace -- $cost pairs 100 40000
		take long-plain $cost pairs 100 40000
	fi
	for n in 1 2 3; do
		take calls $cost calls 1000000
		take calls-filter "$TESTPROGS/without" perf EPERM $cost calls 1000000
		take serve $cost serve 20000 # by perf: below
		for s in ptrace perf perf-returns look; do
			take calls-$s $maps $s -- $cost calls 1000000
			[ $s = perf ] || take serve-$s $maps $s -- $cost serve 20000
		done
	done
done
i=0
while [ $i -lt $((rounds * 14)) ]; do
	i=$((i + 1))
	take before $cost serve 50000
	take followed $maps perf -- $cost serve 50000
	take after $cost serve 50000
done
median() { sort -n | awk '{ v[NR] = $1 } END { print (v[int((NR + 1) / 2)] + v[int(NR / 2) + 1]) / 2 }'; }
# part NAME: of hotvar
part() { cut -d ' ' -f 4 "$tmp/$1" | median; }
# beside EXPRESSION: of 500 requests in $b(efore), $f(ollowed) and $a(fter)
beside() { paste -d ' ' "$tmp/before" "$tmp/followed" "$tmp/after" | awk '{ b = $3; f = $7; a = $11; print '"$1"' }' | median; }

for s in ptrace perf; do
	for n in 10000 $most; do
		awk -v name="maps-pair-$s-$n" -v a="$(($(least $s-$n) - $(least plain-$n)))" -v b="$(($(least $s-100) - $(least plain-100)))" \
			'BEGIN { printf "bench %s ratio %.2f goal <= 1.5\n# %d ns added, %d at 100 areas\n", name, a / b, a, b }'
	done
done
if [ -n "$have_strace" ]; then
	plain=$(least long-plain) plain_soonest=$(soonest long-plain)
	awk -v p="$(($(least long-perf) - plain))" -v s="$(($(least strace) - plain))" -v t="$(($(least long-ptrace) - plain))" \
		-v ps="$(($(soonest long-perf) - plain_soonest))" -v ss="$(($(soonest strace) - plain_soonest))" -v ts="$(($(soonest long-ptrace) - plain_soonest))" '
		BEGIN {
			printf "bench maps-pair-strace ratio %.2f goal <= 0.5\n", p / s
			printf "# added to a pair, CPU time: perf %d ns, ptrace %d, strace %d; time that passes: perf %d, ptrace %d, strace %d\n", p, t, s, ps, ts, ss
		}'
else
	echo "skip maps-pair-strace: no strace to compare with: apt-get install strace"
fi
for s in perf look; do
	awk -v s=$s -v a="$(least calls-$s)" -v b="$(least calls)" 'BEGIN { printf "bench maps-call-%s ratio %.3f goal <= 1.05\n# %d ns, %d alone\n", s, a / b, a, b }'
done
awk -v f="$(beside '2 * f / (b + a)')" -v n="$(beside 'a / b')" -v p="$(part followed)" 'BEGIN {
	printf "bench maps-serve-perf ratio %.4f goal <= 1.01\n# the server %.4f, hotvar %.4f; the server by itself, after against before: %.4f\n", f + p, f, p, n }'
awk -v a="$(least calls-ptrace)" -v b="$(least calls-filter)" -v c="$(least calls)" -v r="$(least calls-perf-returns)" 'BEGIN {
	printf "bench maps-call-ptrace-filter ratio %.3f goal <= 1.05\n# %d ns, %d under another filter, %d alone: %.2f and %.2f; perf-returns %.2f\n", a / b, a, b, c, a / c, b / c, r / c }'
awk -v a="$(least serve-ptrace)" -v r="$(least serve-perf-returns)" -v l="$(least serve-look)" -v b="$(least serve)" 'BEGIN {
	printf "# maps-serve-ptrace %.3f, maps-serve-perf-returns %.3f, maps-serve-look %.3f\n", a / b, r / b, l / b }'
