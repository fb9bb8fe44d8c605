# SPDX-License-Identifier: GPL-2.0-or-later
# guest.sh - a real server under load, which loads a module meanwhile; hotvar.stp names its variables and the module's.
begin_run redis
sock=/tmp/redis.sock
cli() {
	timeout 100 /srv/redis/redis-cli -s $sock "$@"
}
timeout 300 staprun -b 32 -o "$OUT/events" -c "/srv/redis/redis-server --port 0 --unixsocket $sock --appendonly no \
	--enable-module-command yes --daemonize no --dir /tmp --logfile $OUT/redis.log" /srv/redis/hotvar.ko top=200 \
	> "$OUT/stdout" 2> "$OUT/stderr" &
staprun=$!
until_true 100 cli ping
timeout 100 /srv/redis/redis-benchmark -s $sock -q -c 4 -P 16 -r 1000 -n 40000 -t set,get > "$OUT/load" 2>&1
cli module load /srv/redis/libhotplug.so > "$OUT/module"
cli -r 300 hotplug.sweep | tail -n 1 > "$OUT/sweeps"
cli config set save '' > /dev/null
cli shutdown nosave
wait $staprun
end_run redis $?
