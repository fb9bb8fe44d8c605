#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# accuracy.sh - samples against a count of every access: three programs of the accuracy suite, Lua, SQLite and redis under load.
# hotvar-test: alone
#
# Which shares come out depends on chance; what holds for nearly any run is asked for.  make check-accuracy does the whole.
# ACCURACY_REAL="lua redis" does a part.
. "$top_srcdir/testsuite/lib.sh"
. "$top_srcdir/testsuite/exact.sh"

HOTVAR_TEST_CACHE=${HOTVAR_TEST_CACHE:-$HOME/.cache/hotvar-testsuite}
export HOTVAR_TEST_CACHE

wanted() {
	case " ${ACCURACY_REAL:-$1} " in
	*" $1 "*) return 0 ;;
	esac
	return 1
}
# judge NAME [ERROR HELD]: $tmp/exact and $tmp/sampled
judge() {
	check "$1: shares are as far off as is said" python3 "$top_srcdir/testsuite/accuracy/compare.py" "$tmp/exact" "$tmp/sampled" "${2:-5}" "${3:-0.7}"
	grep '^#' "$tmp/check.out"
}

with_suite() {
	python3 "$top_srcdir/testsuite/accuracy/accuracy.py" --hotvar "$HOTVAR" --build "$tmp/build" --only lru,lu,regex \
		--work lru=40000000,lu=500,regex=90 --no-goals --no-cost --json "$tmp/found" > "$tmp/out" 2> "$tmp/err"
	is "three programs are measured" "$(grep -c '^ok' "$tmp/out")" "3"
	say() {
		python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["summary"]["tuning"][sys.argv[2]])' "$tmp/found" "$1"
	}
	check "intervals hold most exact shares: $(say held)" awk -v x="$(say held)" 'BEGIN { exit !(x >= 0.85) }'
	check "largest errors are 7 points at most, in the middle: $(say 'mean error')" awk -v x="$(say 'mean error')" 'BEGIN { exit !(x <= 7) }'
	check "the first five are mostly the first five: $(say 'top 5')" awk -v x="$(say 'top 5')" 'BEGIN { exit !(x >= 0.8) }'
}

with_lua() {
	lua=$(sh "$top_srcdir/testsuite/real/apt-source" lua5.4) || { not_ok "Lua's source package"; return; }
	mkdir "$tmp/lua" "$tmp/inc"
	echo '#define DEB_HOST_MULTIARCH "none"' > "$tmp/inc/lua5.4-deb-multiarch.h" # the package's own build makes it
	cat > "$tmp/load.lua" <<'END'
local function fib(k) if k < 2 then return k end return fib(k - 1) + fib(k - 2) end
local sum = 0
for r = 1, tonumber(arg[1]) do
	local t, s, n = {}, {}, 0
	for i = 1, 20000 do t[i] = (i * 7919 + r) % 10007 end
	table.sort(t)
	for i = 1, 2000 do s[#s + 1] = string.format("%d:%s", t[i], tostring(i * 1.5)) end
	local text = table.concat(s, ",")
	for w in text:gmatch("[^,]+") do n = n + #w end
	sum = sum + n + fib(20) + #text:upper():gsub("1", "2")
end
print(sum)
END
	# shellcheck disable=SC2010
	check "Lua builds" sh -c "cd '$tmp/lua' && ls '$lua'/src/*.c | grep -v '/luac\.c\$' | xargs -n 8 cc -O2 -g -DLUA_USE_LINUX -I'$tmp/inc' -w -c && cc -O2 -g ./*.o -o lua -lm -ldl"
	"$HOTVAR" --exact --exact-malloc=program --limit 0 --json -o "$tmp/exact" -- "$tmp/lua/lua" "$tmp/load.lua" 25 > "$tmp/out" 2>&1
	is "Lua does its work" "$(cat "$tmp/out")" "$("$tmp/lua/lua" "$tmp/load.lua" 25)"
	"$HOTVAR" --limit 0 --json -o "$tmp/sampled" -- "$tmp/lua/lua" "$tmp/load.lua" 250 > "$tmp/out" 2>&1
	is "and with samples" "$(cat "$tmp/out")" "$("$tmp/lua/lua" "$tmp/load.lua" 250)"
	judge Lua
}

with_sqlite() {
	if ! command -v tclsh > /dev/null; then
		skip SQLite "no tclsh here, which makes its one source file (apt-get install tcl)"
		return
	fi
	sqlite=$(sh "$top_srcdir/testsuite/real/sqlite-build") || { not_ok "SQLite builds from its source package"; return; }
	# load ROWS: the same for each number
	load() {
		sed "s/@ROWS@/$1/" > "$tmp/load.sql" <<'END'
CREATE TABLE item(id INTEGER PRIMARY KEY, name TEXT, price REAL, kind INTEGER);
CREATE TABLE kind(id INTEGER PRIMARY KEY, name TEXT);
BEGIN;
INSERT INTO kind SELECT value, 'kind ' || value FROM generate_series(1, 50);
INSERT INTO item SELECT value, printf('item %06d', value * 7919 % 1000003), value * 1.25, value % 50 + 1 FROM generate_series(1, @ROWS@);
COMMIT;
CREATE INDEX item_name ON item(name);
SELECT count(*), sum(price), max(name) FROM item WHERE name LIKE 'item 00%';
SELECT k.name, count(*), avg(i.price) FROM item i JOIN kind k ON k.id = i.kind GROUP BY k.id ORDER BY 3 DESC LIMIT 5;
UPDATE item SET price = price * 2 WHERE id % 3 = 0;
DELETE FROM item WHERE kind = 7;
SELECT name, price FROM item ORDER BY price DESC, name LIMIT 5;
PRAGMA integrity_check;
END
	}
	load 50000
	"$HOTVAR" --exact --exact-malloc=program --limit 0 --json -o "$tmp/exact" -- "$sqlite/sqlite3" :memory: < "$tmp/load.sql" > "$tmp/out" 2>&1
	is "SQLite does its work" "$(cat "$tmp/out")" "$("$sqlite/sqlite3" :memory: < "$tmp/load.sql" 2>&1)"
	load 500000
	"$HOTVAR" --limit 0 --json -o "$tmp/sampled" -- "$sqlite/sqlite3" :memory: < "$tmp/load.sql" > "$tmp/out" 2>&1
	is "and with samples" "$(cat "$tmp/out")" "$("$sqlite/sqlite3" :memory: < "$tmp/load.sql" 2>&1)"
	judge SQLite
}

# redis_under REPORT REQUESTS OPTION...: of hotvar's.  glibc moves memory by "rep movsb", which is one access for each byte, from a
# length on that depends on the processor; valgrind's is another one, where vectors do it.  So that both runs execute the
# same code, neither may.
redis_under() {
	report=$1
	requests=$2
	shift 2
	GLIBC_TUNABLES=glibc.cpu.x86_rep_movsb_threshold=1000000000 "$HOTVAR" "$@" --limit 0 --json -o "$report" -- "$redis/redis-server" --port 0 --unixsocket "$sock" --save '' --appendonly no \
		--daemonize no --dir "$tmp" --logfile "$tmp/redis.log" > "$tmp/out" 2>&1 &
	hotvar=$!
	if ! until_true 60 "$redis/redis-cli" -s "$sock" ping; then
		not_ok "redis answers" "$(tail -n 30 "$tmp/out" "$tmp/redis.log" 2>&1)"
		kill $hotvar 2> /dev/null
		return 1
	fi
	check "redis does its work ($*)" timeout 300 "$redis/redis-benchmark" -s "$sock" -q -c 20 -P 16 -r 10000 -n "$requests" \
		-t set,get,incr,lpush,lpop,hset,sadd
	"$redis/redis-cli" -s "$sock" shutdown nosave > /dev/null 2>&1
	wait $hotvar
}

# The load goes on in one way, so that a part of it has the same shares.  How far off samples are is shown and no test: README
# says it.  A third of a server's time is its own, over hundreds of functions with a few samples each.
with_redis() {
	redis=$(sh "$top_srcdir/testsuite/real/redis-build") || { not_ok "redis builds from its source package"; return; }
	sock=$tmp/redis.sock
	redis_under "$tmp/exact" 20000 --exact --exact-malloc=program && redis_under "$tmp/sampled" 200000 &&
		python3 "$top_srcdir/testsuite/accuracy/compare.py" "$tmp/exact" "$tmp/sampled" 100 0 | sed '/^#/!s/^/# redis: /'
}

for part in suite lua sqlite redis; do
	! wanted $part || with_$part
done
done_testing
