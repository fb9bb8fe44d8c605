#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# pages.sh - hotvar pages against the program's own knowledge and an independent reading of /proc.
. "$top_srcdir/testsuite/lib.sh"

command -v python3 > /dev/null || skip_all "no python3"
oracle="$top_srcdir/testsuite/live/pages_oracle.py"
TMPDIR=$tmp
export TMPDIR

# Two huge pages are enough, and root may reserve them for the time of the test.
reserve=/proc/sys/vm/nr_hugepages
had=$(cat $reserve 2> /dev/null)
if [ "${had:-0}" -lt 4 ] && [ -w $reserve ]; then
	trap '[ -z "$had" ] || echo "$had" > $reserve; tap_cleanup' EXIT
	echo 4 > $reserve 2> /dev/null
fi

# start NAME MODE [COMMAND...]: run the program, its stdin a pipe that ends with this script; wait for READY in its output
start() {
	name=$1 mode=$2
	shift 2
	mkfifo "$tmp/$name.in"
	# a file of its own, which no other process maps
	cp "$TESTPROGS/pages" "$tmp/$name.program"
	"$@" "$tmp/$name.program" "$mode" < "$tmp/$name.in" > "$tmp/$name" 2> "$tmp/$name.err" &
	eval "exec $fd> \"\$tmp/$name.in\""
	until_true 30 grep -q "$ready" "$tmp/$name"
	pid=$(sed -n 's/^pid //p' "$tmp/$name")
}

# Every field, as whoever runs this and, if that is root, as nobody on its own process.
all_fields() {
	who=$1 rights=
	[ "$who" = root ] || rights=user
	shift
	"$@" "$HOTVAR" pages -p "$pid" --json > "$tmp/regions.$who" 2> "$tmp/err" || not_ok "$who: hotvar pages" "$(cat "$tmp/err")"
	check "$who: regions as the program knows them" python3 "$oracle" told "$tmp/$name" "$tmp/regions.$who"
	check "$who: regions as /proc has them" python3 "$oracle" compare "$pid" "$tmp/regions.$who" $rights
	"$@" "$HOTVAR" pages -p "$pid" --by page --json > "$tmp/pages.$who" 2> "$tmp/err" || not_ok "$who: hotvar pages --by page" "$(cat "$tmp/err")"
	check "$who: pages as the program knows them" python3 "$oracle" told "$tmp/$name" "$tmp/pages.$who"
	cat "$tmp/pages.$who" >> "$tmp/regions.$who"
	check "$who: pages as /proc has them" python3 "$oracle" compare "$pid" "$tmp/regions.$who" $rights
	"$@" "$HOTVAR" pages -p "$pid" --symbols --json > "$tmp/symbols.$who" 2>&1
	check "$who: sections and symbols as readelf and nm have them" python3 "$oracle" names "$tmp/$name.program" "$tmp/symbols.$who"
	like "$who: a variable's pages" "$("$@" "$HOTVAR" pages -p "$pid" --variable three_pages --json 2>&1)" \
		"\"addr\":\"$(printf '0x%x' $(($(sed -n 's/^variable three_pages //p' "$tmp/$name") + 4096)))\".*\"written\":true.*\"symbols\":\\[\"three_pages\"\\]"
	is "$who: and no others" "$("$@" "$HOTVAR" pages -p "$pid" --variable three_pages --json 2> /dev/null | grep -c '"type":"page"')" 3
	for rows in --summary "--by module"; do
		"$@" "$HOTVAR" pages -p "$pid" $rows --json > "$tmp/groups" 2>&1
		is "$who: $rows adds up to the regions" \
			"$(python3 - "$tmp/groups" "$tmp/regions.$who" <<-'EOF'
			import json, sys
			groups, regions = ([json.loads(line) for line in open(f)] for f in sys.argv[1:])
			def total(rows, kind):
			    return {k: sum(r[k] or 0 for r in rows if r["type"] == kind)
			            for k in ("pages", "present", "written", "private", "shared", "huge", "zero", "anon", "swapped")}
			print("alike" if total(groups, "group") == total(regions, "region") == total(groups, "total") else
			      [total(groups, "group"), total(regions, "region"), total(groups, "total")])
			EOF
			)" alike
	done
}

if [ "$(id -u)" = 0 ]; then
	fd=3 ready=ready start mine regions
	all_fields root
	exec 3>&-
	if grep -q '^region hugetlb' "$tmp/mine"; then
		ok "huge pages of hugetlbfs were among them"
	else
		skip "huge pages of hugetlbfs" "there are none (vm.nr_hugepages)"
	fi
	if grep -q '^region uffd' "$tmp/mine"; then
		ok "pages that userfaultfd protects were among them"
	else
		skip "pages that userfaultfd protects" "there is none here, or it protects no pages"
	fi
	like "root: mapcounts are told" "$(cat "$tmp/pages.root")" '"mapcount":1'
	chmod 777 "$tmp"
	if command -v setpriv > /dev/null; then
		fd=4 ready=ready start nobodys regions setpriv --reuid=65534 --regid=65534 --clear-groups
		XDG_CACHE_HOME="$tmp/nobodys-cache" all_fields nobody setpriv --reuid=65534 --regid=65534 --clear-groups
		unlike "nobody: mapcounts are not" "$(cat "$tmp/pages.nobody")" '"mapcount":[0-9]'
		like "nobody: another's process is refused with what to do" \
			"$(setpriv --reuid=65534 --regid=65534 --clear-groups "$HOTVAR" pages -p $$ 2>&1)" 'as that user or as root'
		exec 4>&-
	else
		skip "as nobody" "no setpriv"
	fi
else
	fd=3 ready=ready start mine regions
	all_fields user
	exec 3>&-
fi

# A page that a child has copied is its own, in both.
fd=5 ready='region child' start family fork
for who in parent child; do
	of=$pid
	[ $who = parent ] || of=$(sed -n 's/^child //p' "$tmp/family")
	"$HOTVAR" pages -p "$of" --json > "$tmp/$who.json" 2>&1
	check "after fork: the $who" python3 "$oracle" told "$tmp/family" "$tmp/$who.json" $who
	"$HOTVAR" pages -p "$of" --by page --json >> "$tmp/$who.json" 2>&1
	check "after fork: the $who, as /proc has it" python3 "$oracle" compare "$of" "$tmp/$who.json"
done
exec 5>&-

# At random, against a model: each page of each region.
bad=0
for seed in 1 2 3 4 5 6; do
	"$HOTVAR" pages --json -o "$tmp/random.json" -- "$TESTPROGS/pages" random $seed < /dev/null > "$tmp/random" 2> "$tmp/err" &&
		python3 "$oracle" told "$tmp/random" "$tmp/random.json" > "$tmp/out" || bad="$bad seed $seed: $(cat "$tmp/out" "$tmp/err")"
done
is "reads, writes and discards at random" "$bad" 0

# An address space that changes all the time.
fd=6 ready=churning start busy churn
bad=0
for i in 1 2 3 4 5 6 7 8; do
	"$HOTVAR" pages -p "$pid" --json > "$tmp/busy.json" 2> "$tmp/err" && python3 "$oracle" sane "$tmp/busy.json" > "$tmp/out" || bad="$bad $(tail -n 3 "$tmp/out" "$tmp/err")"
	"$HOTVAR" pages -p "$pid" --symbols --json > "$tmp/busy.json" 2> "$tmp/err" || bad="$bad $(cat "$tmp/err")"
done
is "a process that maps, unmaps and forks meanwhile" "$bad" 0
exec 6>&-

# One that ends meanwhile is no crash.
bad=0
for i in 1 2 3 4 5 6 7 8 9 10; do
	(exec sh -c 'kill -STOP $$') &
	pid=$!
	until_true 30 grep -q '^State:.T' /proc/$pid/status
	"$HOTVAR" pages -p $pid --by page --symbols > "$tmp/out" 2>&1 &
	viewer=$!
	kill -KILL $pid
	wait $viewer
	case $? in 0 | 1 | 125) ;; *) bad="$bad $?" ;; esac
	wait $pid 2> /dev/null
done
is "a process that ends meanwhile" "$bad" 0

"$HOTVAR" pages -p 1 -i x > "$tmp/out" 2>&1
is "two targets are one too many" $? 2
"$HOTVAR" record -q -o "$tmp/sampled.rec" -- "$TESTPROGS/pages" fork < /dev/null > /dev/null 2>&1
"$HOTVAR" pages -i "$tmp/sampled.rec" > "$tmp/out" 2>&1
is "a recording of samples has no pages, and what has is said" "$? $(grep -c 'hotvar record --exact' "$tmp/out")" "1 1"
"$HOTVAR" pages -i "$tmp/none.rec" > "$tmp/out" 2>&1
is "one that is not there" $? 125
if [ -x "$top_builddir/runtime/valgrind/lib/hotvar-amd64-linux" ]; then
	"$HOTVAR" record -q --exact -o "$tmp/exact.rec" -- "$TESTPROGS/pages" fork < /dev/null > "$tmp/exact" 2>&1
	start=$(sed -n 's/^region parent \(0x[0-9a-f]*\) .*/\1/p' "$tmp/exact")
	like "one of --exact has touched pages" "$("$HOTVAR" pages -i "$tmp/exact.rec" --json 2>&1)" \
		"\"type\":\"region\",\"start\":\"$start\".*\"touched\":6,\"written\":6"
else
	skip "one of --exact has touched pages" "no valgrind here (apt-get install valgrind, then configure again)"
fi
"$HOTVAR" pages -p $$ --variable no_such_variable > "$tmp/out" 2>&1
is "an unknown variable: nothing is found" "$?" 1
like "an unknown variable: it is said" "$(cat "$tmp/out")" "no variable 'no_such_variable'"
for of in variable module; do
	"$HOTVAR" pages --$of no_such_thing -- sh -c 'exit 7' > "$tmp/out" 2>&1
	is "of a command, an unknown $of: its own exit status" $? 7
	like "and it is said" "$(cat "$tmp/out")" "note: .*'no_such_thing'"
done
"$HOTVAR" pages -p $$ --module no_such_file > "$tmp/out" 2> "$tmp/err"
is "an unknown module" "$?" 1
unlike "an unknown module: what was not asked for is not 0" "$(cat "$tmp/out")" touched
like "nor is it in JSON" "$("$HOTVAR" pages -q -p $$ --module no_such_file --json 2> /dev/null | tail -n 1)" '"present":0,"touched":null,.*"touched_private":null'
unlike "what nobody knows of the kernel's page is not 0" "$("$HOTVAR" pages -p $$ --module '[vsyscall]' | tail -n 1)" present
like "an unknown module: it is said" "$(cat "$tmp/err")" "nothing of 'no_such_file' is mapped"
done_testing
