#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# pages-touched.sh - touched pages, against the program's own knowledge of what it touched.
. "$top_srcdir/testsuite/lib.sh"

command -v python3 > /dev/null || skip_all "no python3"
oracle="$top_srcdir/testsuite/live/pages_oracle.py"
TMPDIR=$tmp
export TMPDIR

# Referenced kB of the area at address $2 of process $1 are 0: its bits are cleared.
is_cleared() {
	[ "$(sed -n "/^$2-/,/^VmFlags/s/^Referenced: *//p" "/proc/$1/smaps")" = "0 kB" ]
}

# attached WHO [COMMAND...]
attached() {
	who=$1
	shift
	mkfifo "$tmp/$who.in"
	"$@" "$TESTPROGS/pages" touch < "$tmp/$who.in" > "$tmp/$who" 2>&1 &
	exec 3> "$tmp/$who.in"
	until_true 30 grep -q '^region idle' "$tmp/$who"
	pid=$(sed -n 's/^pid //p' "$tmp/$who")
	"$@" "$HOTVAR" pages -p "$pid" -d 1000 --json < /dev/null > "$tmp/$who.json" 2> "$tmp/$who.err" &
	hotvar=$!
	until_true 30 is_cleared "$pid" "$(sed -n 's/^region idle 0x//p' "$tmp/$who")"
	echo go >&3
	until_true 30 grep -q '^region populate' "$tmp/$who"
	sed -i '/^region idle/d' "$tmp/$who"
	kill -INT $hotvar
	wait $hotvar
	is "$who: ^C ends the measuring, not the process" "$? $(cat "$tmp/$who.err")" "0 "
	check "$who: what was touched meanwhile" python3 "$oracle" told "$tmp/$who" "$tmp/$who.json"
	check "$who: numbers hold together" python3 "$oracle" sane "$tmp/$who.json"
	exec 3>&-
}

# launched WHO [COMMAND...]
launched() {
	who=$1
	shift
	"$@" "$HOTVAR" pages --json -o "$tmp/$who.of-cmd" -- "$TESTPROGS/pages" regions launched < /dev/null > "$tmp/$who.cmd" 2> "$tmp/$who.err"
	is "$who: CMD ends as it does" "$? $(cat "$tmp/$who.err")" "0 "
	check "$who: what CMD has touched since its start" python3 "$oracle" told "$tmp/$who.cmd" "$tmp/$who.of-cmd"
	"$@" "$HOTVAR" pages --by page --json -o "$tmp/$who.pages" -- "$TESTPROGS/pages" regions launched < /dev/null > "$tmp/$who.cmd" 2> "$tmp/$who.err"
	check "$who: page by page" python3 "$oracle" told "$tmp/$who.cmd" "$tmp/$who.pages"
	check "$who: numbers hold together" python3 "$oracle" sane "$tmp/$who.of-cmd"
	start=$(sed -n 's/^region populate \(0x[0-9a-f]*\) .*/\1/p' "$tmp/$who.cmd")
	like "$who: a page made beforehand may be touched or not" \
		"$(grep "\"addr\":\"$(printf '0x%x' $((start + 4096)))\"" "$tmp/$who.pages")" '"touched":null,"written":true'
}

unprivileged="setpriv --reuid=65534 --regid=65534 --clear-groups"
chmod 777 "$tmp"
if [ "$(id -u)" = 0 ]; then
	attached root
	launched root
	if ! command -v setpriv > /dev/null; then
		skip "as nobody" "no setpriv"
	elif [ "$(cat /proc/sys/kernel/perf_event_paranoid 2> /dev/null || echo 4)" -gt 2 ]; then
		skip "as nobody" "kernel.perf_event_paranoid refuses page faults"
	else
		XDG_CACHE_HOME="$tmp/nobodys-cache"
		export XDG_CACHE_HOME
		attached nobody $unprivileged
		launched nobody $unprivileged
	fi
else
	attached user
	launched user
fi

# What is unmapped is given back: the time line falls, the peak stays.
mkfifo "$tmp/phases.in"
"$TESTPROGS/pages" phases < "$tmp/phases.in" > "$tmp/phases" &
exec 3> "$tmp/phases.in"
until_true 30 grep -q '^ready' "$tmp/phases"
pid=$(sed -n 's/^pid //p' "$tmp/phases")
"$HOTVAR" pages -p "$pid" --interval 0.05 --json < /dev/null > "$tmp/line" 2> "$tmp/line.err" &
hotvar=$!
# told: what data of all modules is touched at least, moment by moment; a line that is not yet whole is none
told() {
	sed -n 's/^{"type":"moment".*"all":true,"class":"data".*"touched\(_least\)*":\([0-9][0-9]*\),.*"written".*}$/\2/p' "$tmp/line"
}
last() { told | tail -n 1; }
moments() { told | grep -c .; }
more_moments() { [ "$(moments)" -ge $(($1 + 2)) ]; }
until_true 30 more_moments 0
echo >&3
until_true 30 grep -q '^phase 0' "$tmp/phases"
until_true 30 more_moments "$(moments)"
high=$(last)
echo >&3
until_true 30 grep -q '^phase 1' "$tmp/phases"
until_true 30 more_moments "$(moments)"
low=$(last)
kill -INT $hotvar
wait $hotvar
exec 3>&-
peak=$(sed -n 's/^{"type":"peak".*"class":"data".*"touched\(_least\)*":\([0-9][0-9]*\),.*"written".*/\2/p' "$tmp/line")
is "a time line: what is touched is there, what is unmapped is not, and the peak" \
	"$([ "${high:-0}" -ge 300 ] && [ "${low:-999}" -le $((${high:-0} - 200)) ] && [ "${peak:-0}" -ge "$high" ] && echo so)" so
[ "${high:-0}" -ge 300 ] && [ "${low:-999}" -le $((${high:-0} - 200)) ] && [ "${peak:-0}" -ge "$high" ] ||
	{ echo "high $high, low $low, peak $peak"; tail -n 9 "$tmp/line"; cat "$tmp/line.err"; } | sed 's/^/# /'

"$HOTVAR" pages -q -o /dev/null -- sh -c 'exit 7'
is "CMD's exit status" $? 7
"$HOTVAR" pages -q -o /dev/null -- sh -c 'kill -TERM $$'
is "and its signal" $? 143
"$HOTVAR" pages -o "$tmp/none" -- "$tmp/nothing-there" 2> /dev/null
is "what cannot be found" "$? $(ls "$tmp/none" 2> /dev/null)" "127 "
"$HOTVAR" pages -o "$tmp/none" -- "$tmp" 2> /dev/null
is "what cannot be run" "$?" 126
"$HOTVAR" pages --json --interval 0.05 -o "$tmp/moments" -- "$TESTPROGS/pages" regions < /dev/null > /dev/null
is "moments end with the peak" "$? $(grep -c '"type":"peak","seconds"' "$tmp/moments") $(tail -n 1 "$tmp/moments" | grep -c '"class":"code"')" "0 2 1"
check "a moment's modules add up to all" python3 - "$tmp/moments" <<-'EOF'
	import json, sys
	moments = [r for r in map(json.loads, open(sys.argv[1])) if r["type"] == "moment"]
	for t in {r["seconds"] for r in moments}:
	    for c in "code", "data":
	        rows = [r for r in moments if r["seconds"] == t and r["class"] == c]
	        for key in "pages", "present", "private":
	            of = [sum(r[key] or 0 for r in rows if ("all" in r) == whole) for whole in (False, True)]
	            assert of[0] == of[1], (t, c, key, of)
	assert moments
EOF
done_testing
