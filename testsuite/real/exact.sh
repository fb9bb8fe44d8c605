# SPDX-License-Identifier: GPL-2.0-or-later
# exact.sh - hotvar --exact of Lua under a small load: at least 99 % of all accesses are to something with a name.
. "$top_srcdir/testsuite/lib.sh"
. "$top_srcdir/testsuite/exact.sh"

HOTVAR_TEST_CACHE=${HOTVAR_TEST_CACHE:-$HOME/.cache/hotvar-testsuite}
export HOTVAR_TEST_CACHE

judge() {
	check "$1: 99 % of its accesses have names" python3 "$top_srcdir/testsuite/real/exact.py" "$tmp/report"
	cat "$tmp/check.out"
}

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

done_testing
