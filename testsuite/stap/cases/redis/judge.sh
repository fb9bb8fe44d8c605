# SPDX-License-Identifier: GPL-2.0-or-later
# judge.sh - the server's own variables and the module's are named, each in the section that readelf has it in.
d=$out/redis
is "$suite: redis: staprun ends well" "$(cat "$d/status")" 0
unlike "$suite: redis: no error, nothing skipped" "$(cat "$d/stderr")" 'ERROR|skipped|MAXACTION|overflow'
like "$suite: redis: nothing is lost" "$(tail -n 1 "$d/events")" 'lost: 0$'
is "$suite: redis: the module was loaded" "$(tr -d '\r' < "$d/module")" OK
is "$suite: redis: and did its work" "$(tr -dc 0-9 < "$d/sweeps")" 300
section_of() {
	n=$(readelf -sW "$dir/$1" | awk -v name="$2" '$4 == "OBJECT" && $8 == name { print $7; exit }')
	readelf -SW "$dir/$1" | sed -n "s/^ *\[ *$n\] *\([^ ]*\).*/\1/p"
}
for v in redis-server:server redis-server:used_memory libhotplug.so:hotplug_counters; do
	file=${v%:*} name=${v#*:}
	like "$suite: redis: $name is named, with samples" "$(cat "$d/events")" \
		"^ *[0-9]+\.[0-9]% +[1-9][0-9]* .* (private|both) +$(section_of "$file" "$name") +$name \[/srv/redis/$file\]\$"
done
say "redis: $(head -n 1 "$d/events")"
sed -n 's/^/# /; 2,12p' "$d/events"
[ -z "${LAB_KEEP-}" ] || cp "$d/events" "$LAB_KEEP/redis.txt"
