# SPDX-License-Identifier: GPL-2.0-or-later
# redis.sh - a real server under load: its own variables are what hotvar names.
#
# Redis from the distribution's source package, built with -O2 -g, is loaded by its own redis-benchmark over a unix
# socket; what its variables are and in which section they lie is read from its symbol table by readelf.
. "$top_srcdir/testsuite/lib.sh"

redis=$(sh "$top_srcdir/testsuite/real/redis-build") || {
	not_ok "redis builds from its source package"
	done_testing
	exit 1
}
ok "redis builds from its source package"

sock=$tmp/redis.sock
cli() {
	timeout 20 "$redis/redis-cli" -s "$sock" "$@"
}
server() {
	"$@" "$redis/redis-server" --port 0 --unixsocket "$sock" --save '' --appendonly no --daemonize no --dir "$tmp" --logfile "$tmp/redis.log"
}
# load REQUESTS: what a cache is asked, bounded
load() {
	timeout 100 "$redis/redis-benchmark" -s "$sock" -q -c 20 -P 16 -r 100000 -n "$1" -t set,get,incr,lpush,lpop,hset,sadd > "$tmp/load.out" 2>&1
}

# Prints "rank name kind section" of the fifteen hottest static and thread-local variables, the section from readelf -SW and -sW.
cat > "$tmp/hottest.py" <<'EOF'
import json, os, subprocess, sys
report, exe = sys.argv[1], os.path.realpath(sys.argv[2])
run = lambda *a: subprocess.run(a, check=True, capture_output=True, text=True).stdout
sections = {}
for line in run("readelf", "-SW", exe).splitlines():
    line = line.strip()
    if line.startswith("[") and line[1:3].strip().isdigit():
        f = line.split("]", 1)[1].split()
        sections[line[1:3].strip()] = f[0]
at = {}
for line in run("readelf", "-sW", exe).splitlines():
    f = line.split()
    if len(f) == 8 and f[3] in ("OBJECT", "TLS"):
        at.setdefault(f[7].split("@")[0], set()).add(sections.get(f[6]))
records = [json.loads(line) for line in open(report)]
assert records[0]["type"] == "meta" and records[0]["schema"] == 1, records[0]
total = [r for r in records if r["type"] == "total"]
assert len(total) == 1 and total[0]["samples"] > 100, total
rows = [r for r in records if r["type"] == "variable"]
assert [r["rank"] for r in rows] == list(range(1, len(rows) + 1))
assert all(rows[i]["share"] >= rows[i + 1]["share"] for i in range(len(rows) - 1))
static = [r for r in rows if r["symbol"] is not None and r["kind"] in ("data", "bss", "rodata", "relro", "tls")]
want = {"data": {".data"}, "bss": {".bss"}, "rodata": {".rodata"}, "relro": {".data.rel.ro"}, "tls": {".tbss", ".tdata"}}
for i, r in enumerate(static[:15]):
    good = ""
    if os.path.realpath(r["module"]) == exe:
        good = "as readelf" if at.get(r["symbol"], set()) & want[r["kind"]] else "NOT as readelf: %s" % at.get(r["symbol"])
    print(i + 1, r["name"], r["kind"], "%.4f" % r["share"], good)
EOF

# judge WHAT: the report in $tmp/report
judge() {
	if ! /usr/bin/python3 "$tmp/hottest.py" "$tmp/report" "$redis/redis-server" > "$tmp/top" 2> "$tmp/top.err"; then
		not_ok "$1: the report can be read" "$(cat "$tmp/top.err")" "$(head -c 2000 "$tmp/report")"
		return
	fi
	ok "$1: the report can be read"
	top=$(cat "$tmp/top")
	sed 's/^/# /' "$tmp/top"
	like "$1: server is among the fifteen hottest static variables" "$top" '^[0-9]+ server bss '
	like "$1: used_memory is" "$top" '^[0-9]+ used_memory (bss|data) '
	like "$1: redisCommandTable is" "$top" '^[0-9]+ redisCommandTable(\[[^ ]*)? (data|relro) '
	unlike "$1: each is in the section where readelf has it" "$top" 'NOT as readelf'
}

# ---- hotvar starts the server ------------------------------------------------------------------------------

server "$HOTVAR" -q --json -o "$tmp/report" -- > "$tmp/hotvar.out" 2>&1 &
hotvar=$!
if until_true 30 cli ping; then
	check "under hotvar: the load runs" load 300000
	cli shutdown nosave > /dev/null 2>&1
	wait $hotvar
	is "under hotvar: exit status is the server's" $? 0
	is "under hotvar: nothing is said" "$(cat "$tmp/hotvar.out")" ""
	judge "under hotvar"
else
	not_ok "the server answers under hotvar" "$(cat "$tmp/hotvar.out" "$tmp/redis.log" 2>&1 | tail -n 30)"
	kill $hotvar 2> /dev/null
fi

# ---- hotvar joins a running one ----------------------------------------------------------------------------

server env > /dev/null 2>&1 &
shell_pid=$! # of the shell that waits for the server
if until_true 30 cli ping; then
	redis_pid=$(cli info server | tr -d '\r' | sed -n 's/^process_id://p')
	load 4000000 & # until the server goes away
	timeout 60 "$HOTVAR" -q --json -o "$tmp/report" -p "$redis_pid" -d 8 > "$tmp/hotvar.out" 2>&1
	is "-p -d 8: exit status" $? 0
	is "-p -d 8: nothing is said" "$(cat "$tmp/hotvar.out")" ""
	judge "-p -d 8"
	is "the server still answers" "$(cli ping)" PONG
	is "and is not traced any more" "$(sed -n 's/^TracerPid:[^0-9]*//p' "/proc/$redis_pid/status")" 0
	cli shutdown nosave > /dev/null 2>&1
	wait $shell_pid
	is "and ends as it should" $? 0
else
	not_ok "the server answers" "$(tail -n 30 "$tmp/redis.log" 2>&1)"
	kill $shell_pid 2> /dev/null
fi

done_testing
