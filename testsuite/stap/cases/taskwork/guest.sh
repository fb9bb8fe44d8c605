# SPDX-License-Identifier: GPL-2.0-or-later
# guest.sh - a module has a work done by a thread on the other processor, with stap's task works as mended and as they were.
# boot: 512 --guilty slub_debug=FZU
for m in mended unmended; do
	/srv/taskwork/busy &
	busy=$!
	begin_run $m
	taskset 1 staprun -b 1 -o "$OUT/events" -x $busy $m.ko > "$OUT/stdout" 2> "$OUT/stderr" &
	staprun=$!
	until_true 300 begun
	# What waits for ever to be unloaded cannot be killed either.
	kill -TERM $staprun
	until_true 120 sh -c "! grep -qv ') Z ' /proc/$staprun/stat"
	echo $? > "$OUT/ends"
	end_run $m 0
	kill -9 $busy
done
true
