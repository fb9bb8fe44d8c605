# SPDX-License-Identifier: GPL-2.0-or-later
# guest.sh - the module goes while 64 threads map, processes come and go and signals fly: with the storm as its target, and
# with the whole machine, in turn.
# needs: maps
(
	/srv/unload/storm 8
	echo "status $?"
) > /out/unload/storm 2>&1 &
storm=$!
n=0
# On a busy machine fewer rounds: 30, or those of a minute.
up() {
	cut -d . -f 1 /proc/uptime
}
until=$(($(up) + 60))
while [ $n -lt 30 ] && [ "$(up)" -lt $until ]; do
	n=$((n + 1))
	if [ $((n % 2)) -eq 0 ]; then
		staprun -b 8 -o /dev/null -c "/srv/unload/storm 2 $((n % 3 + 1))" /srv/maps/events.ko > /tmp/said 2>&1
	else
		# Ended as soon as it has told something.
		rm -f /tmp/events
		staprun -b 8 -o /tmp/events /srv/maps/events.ko > /tmp/said 2>&1 &
		staprun=$!
		until [ -s /tmp/events ] || ! kill -0 $staprun 2> /dev/null; do usleep 20000; done
		kill -TERM $staprun
		wait $staprun
	fi
	rc=$?
	[ $rc -eq 0 ] || { echo "round $n: status $rc"; cat /tmp/said; }
	tell "unload round $n $rc"
done > /out/unload/errors 2>&1
kill -0 $storm || echo "the storm is over" >> /out/unload/errors
killall -9 storm 2> /dev/null
wait $storm
echo $n > /out/unload/rounds
rm -f /tmp/events
