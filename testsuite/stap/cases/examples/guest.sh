# SPDX-License-Identifier: GPL-2.0-or-later
# guest.sh - every example, each on a program of which it is known what is right.

# with RUN EXAMPLE COMMAND [OPTION=VALUE...]: as `run`, with what stap's -G would set
with() {
	begin_run "$1"
	rm -f /ram/slow
	name=$1 module=$(module_of "$2") command=$3
	shift 3
	timeout 100 staprun -b 32 -o "$OUT/events" -c "$command" "$module" "$@" > "$OUT/stdout" 2> "$OUT/stderr"
	end_run "$name" $?
}

mkdir /ram
mount -t ramfs ram /ram
with mapwatch mapwatch "/srv/examples/buffers variable"
with hotlock hotlock /srv/examples/locks most=9
with unmap-mapped unmapwatch "/srv/examples/buffers mapped" bytes=3000000
with unmap-variable unmapwatch "/srv/examples/buffers variable" variable=ring all=1
with unmap-none unmapwatch "/srv/examples/buffers variable" variable=rings
with unmap-unasked unmapwatch "/srv/examples/buffers variable"
with hotvar hotvar /srv/examples/spin
with hotvar-members hotvar /srv/examples/spin members=1 top=5
with hotvar-faults hotvar "/srv/examples/copies /ram/slow" faults=1
with whofaults whofaults "/srv/examples/copies /ram/slow" top=100
with cowwatch cowwatch "/srv/examples/copies /ram/slow"
with hotpages hotpages "/srv/examples/copies /ram/slow"
umount /ram

# attach RUN EXAMPLE PID [OPTION=VALUE...]: to a running process, ended by ^C when the script has said something
attach() {
	begin_run "$1"
	name=$1 module=$(module_of "$2") pid=$3
	shift 3
	timeout -s INT 200 staprun -b 32 -o "$OUT/events" -x "$pid" "$module" "$@" > "$OUT/stdout" 2> "$OUT/stderr" &
	staprun=$!
	until_true 100 test -s "$OUT/events"
	kill -INT $staprun
	wait $staprun
	end_run "$name" $?
}

/srv/examples/spin 1000 &
spin=$!
attach attach-hotvar hotvar $spin every=1
attach attach-hotpages hotpages $spin every=1
attach attach-unmapwatch unmapwatch $spin variable=hot_table
kill $spin
