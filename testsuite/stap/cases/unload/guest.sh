# SPDX-License-Identifier: GPL-2.0-or-later
# guest.sh - modules go while 64 threads map, processes come and go and signals fly: three at once, each as often as prepare.sh
# says, with the whole machine, and now and then with some of a storm as its target.
# needs: maps probes
# boot: 2048 slub_debug=FZU
/srv/unload/storm 8 > /out/unload/storm 2>&1 &
storm=$!

times=$(cat /srv/unload/times)
# rounds MODULE
rounds() {
	n=0 events=/tmp/events.${1##*/}
	while [ $n -lt "$times" ]; do
		n=$((n + 1))
		if [ $((n % 4)) -eq 2 ]; then
			staprun -b 1 -o /dev/null -c "/srv/unload/storm 2 $((n % 3 + 1))" "$1"
		else
			# Ended as soon as it has told something.
			rm -f "$events"
			staprun -b 1 -o "$events" "$1" &
			staprun=$!
			until [ -s "$events" ] || ! kill -0 $staprun 2> /dev/null; do usleep 5000; done
			kill -TERM $staprun
			wait $staprun
		fi > "$events.said" 2>&1
		rc=$?
		[ $rc -eq 0 ] || { echo "$1, round $n: status $rc"; cat "$events.said"; }
		echo >> /out/unload/rounds
		[ $((n % 4)) -ne 0 ] || tell "${1##*/} unloaded $n times"
	done
	rm -f "$events"*
}
rounds /srv/unload/few.ko > /out/unload/errors 2>&1 &
a=$!
rounds /srv/probes/probes.ko > /out/unload/errors.probes 2>&1 &
b=$!
rounds /srv/maps/events.ko > /out/unload/errors.events 2>&1
wait $a
wait $b
cat /out/unload/errors.* >> /out/unload/errors
kill -0 $storm || echo "the storm is over" >> /out/unload/errors
killall -9 storm 2> /dev/null
wait $storm
true
