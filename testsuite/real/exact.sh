# SPDX-License-Identifier: GPL-2.0-or-later
# exact.sh - hotvar --exact of Lua, SQLite and redis under a small load: at least 99 % of all accesses are to something with a name.
#
# Built with -O2 -g from the distribution's source packages.  The rest is listed by name and reason.  EXACT_REAL="sqlite redis" does a part.
. "$top_srcdir/testsuite/lib.sh"
. "$top_srcdir/testsuite/exact.sh"

HOTVAR_TEST_CACHE=${HOTVAR_TEST_CACHE:-$HOME/.cache/hotvar-testsuite}
export HOTVAR_TEST_CACHE

wanted() {
	case " ${EXACT_REAL:-$1} " in
	*" $1 "*) return 0 ;;
	esac
	return 1
}
judge() {
	check "$1: 99 % of its accesses have names" python3 "$top_srcdir/testsuite/real/exact.py" "$tmp/report"
	cat "$tmp/check.out"
}

with_lua() {
	lua=$(sh "$top_srcdir/testsuite/real/apt-source" lua5.4)
	mkdir "$tmp/lua" "$tmp/inc"
	echo '#define DEB_HOST_MULTIARCH "none"' > "$tmp/inc/lua5.4-deb-multiarch.h" # the package's own build makes it
	cat > "$tmp/load.lua" <<'END'
local t = {}
for i = 1, 20000 do t[i] = (i * 7919) % 10007 end
table.sort(t)
local s = {}
for i = 1, 2000 do s[#s + 1] = string.format("%d:%s", t[i], tostring(i * 1.5)) end
local text, n = table.concat(s, ","), 0
for w in text:gmatch("[^,]+") do n = n + #w end
local function fib(k) if k < 2 then return k end return fib(k - 1) + fib(k - 2) end
print(n, fib(20), #text:upper():gsub("1", "2"))
END
	# shellcheck disable=SC2010
	check "Lua builds" sh -c "cd '$tmp/lua' && ls '$lua'/src/*.c | grep -v '/luac\.c\$' | xargs -n 8 cc -O2 -g -DLUA_USE_LINUX -I'$tmp/inc' -w -c && cc -O2 -g ./*.o -o lua -lm -ldl"
	"$HOTVAR" --exact --limit 0 --json -o "$tmp/report" -- "$tmp/lua/lua" "$tmp/load.lua" > "$tmp/out" 2>&1
	is "Lua does its work" "$(cat "$tmp/out")" "$("$tmp/lua/lua" "$tmp/load.lua")"
	judge Lua
}

with_sqlite() {
	if ! command -v tclsh > /dev/null; then
		skip SQLite "no tclsh here, which makes its one source file (apt-get install tcl)"
		return
	fi
	sqlite=$(sh "$top_srcdir/testsuite/real/sqlite-build") || { not_ok "SQLite builds from its source package"; return; }
	cat > "$tmp/load.sql" <<'END'
PRAGMA journal_mode = WAL;
CREATE TABLE item(id INTEGER PRIMARY KEY, name TEXT, price REAL, kind INTEGER);
CREATE TABLE kind(id INTEGER PRIMARY KEY, name TEXT);
BEGIN;
INSERT INTO kind SELECT value, 'kind ' || value FROM generate_series(1, 50);
INSERT INTO item SELECT value, printf('item %05d', value * 7919 % 10007), value * 1.25, value % 50 + 1 FROM generate_series(1, 10000);
COMMIT;
CREATE INDEX item_name ON item(name);
SELECT count(*), sum(price), max(name) FROM item WHERE name LIKE 'item 0%';
SELECT k.name, count(*), avg(i.price) FROM item i JOIN kind k ON k.id = i.kind GROUP BY k.id ORDER BY 3 DESC LIMIT 5;
UPDATE item SET price = price * 2 WHERE id % 3 = 0;
DELETE FROM item WHERE kind = 7;
SELECT name, price FROM item ORDER BY price DESC, name LIMIT 5;
WITH RECURSIVE f(a, b) AS (SELECT 0, 1 UNION ALL SELECT b, a + b FROM f LIMIT 60) SELECT max(a) FROM f;
PRAGMA integrity_check;
END
	"$sqlite/sqlite3" "$tmp/native.db" < "$tmp/load.sql" > "$tmp/want" 2>&1
	like "SQLite has what the load asks for" "$(tail -n 1 "$tmp/want")" '^ok$'
	"$HOTVAR" --exact --limit 0 --json -o "$tmp/report" -- "$sqlite/sqlite3" "$tmp/counted.db" < "$tmp/load.sql" > "$tmp/out" 2>&1
	is "SQLite does its work" "$(cat "$tmp/out")" "$(cat "$tmp/want")"
	judge SQLite
}

with_redis() {
	redis=$(sh "$top_srcdir/testsuite/real/redis-build") || { not_ok "redis builds from its source package"; return; }
	sock=$tmp/redis.sock
	"$HOTVAR" --exact --limit 0 --json -o "$tmp/report" -- "$redis/redis-server" --port 0 --unixsocket "$sock" --save '' --appendonly no \
		--daemonize no --dir "$tmp" --logfile "$tmp/redis.log" > "$tmp/out" 2>&1 &
	hotvar=$!
	if ! until_true 60 "$redis/redis-cli" -s "$sock" ping; then
		not_ok "redis answers" "$(tail -n 30 "$tmp/out" "$tmp/redis.log" 2>&1)"
		kill $hotvar 2> /dev/null
		return
	fi
	check "redis does its work" timeout 200 "$redis/redis-benchmark" -s "$sock" -q -c 20 -P 16 -r 10000 -n 10000 \
		-t set,get,incr,lpush,lpop,hset,sadd,zadd
	"$redis/redis-cli" -s "$sock" shutdown nosave > /dev/null 2>&1
	wait $hotvar
	is "redis ends as it should" $? 0
	is "and says nothing" "$(cat "$tmp/out")" ""
	judge redis
}

for program in lua sqlite redis; do
	! wanted $program || with_$program
done
done_testing
