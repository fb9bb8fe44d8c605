# SPDX-License-Identifier: GPL-2.0-or-later
# guest.sh - 32-bit targets, and calls under the numbers of x32; the examples on a 32-bit program.
# needs: maps examples
# boot: 2048 slub_debug=FZU kfence.sample_interval=20 syscall.x32=y
for mode in ops threads vfork exec; do
	run $mode maps/events "/srv/bits32/maps32 $mode"
done
run x32 maps/events /srv/bits32/x32

# One that runs already; then several, and no target.
export OUT=/out/$case/attach
mkdir -p "$OUT"
/srv/bits32/maps32 wait &
target=$!
start attach maps/events -x $target
: > "$OUT/go"
wait $target
finish
start machine maps/events
/srv/bits32/maps32 ops &
one=$!
/srv/bits32/maps32 threads &
two=$!
/srv/bits32/maps32 vfork
wait $one $two
finish

# with RUN EXAMPLE COMMAND [OPTION=VALUE...]: as `run`, with what stap's -G would set
with() {
	begin_run "$1"
	name=$1 module=$(module_of "examples/$2") command=$3
	shift 3
	timeout 100 staprun -b 32 -o "$OUT/events" -c "$command" "$module" "$@" > "$OUT/stdout" 2> "$OUT/stderr"
	end_run "$name" $?
}
program=/srv/bits32/examples32
with hotlock hotlock "$program locks" most=9
with unmap-variable unmapwatch "$program variable" variable=ring all=1
with hotvar hotvar "$program spin"
with hotvar-faults hotvar "$program copies" faults=1
with whofaults whofaults "$program copies" top=100
with cowwatch cowwatch "$program copies"
with hotpages hotpages "$program copies"
