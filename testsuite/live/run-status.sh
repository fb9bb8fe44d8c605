#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# run-status.sh - exit statuses and messages of run, record and report, for right and for bad usage.
. "$top_srcdir/testsuite/lib.sh"
cd "$tmp" || exit 1
export XDG_CACHE_HOME="$tmp/cache"

# status TEXT WANT COMMAND...: its exit status; its output is left in out and err
status() {
	status_text=$1 status_want=$2
	shift 2
	"$@" > out 2> err < /dev/null
	status_got=$?
	if [ $status_got -eq "$status_want" ]; then
		ok "$status_text: exit status $status_want"
	else
		not_ok "$status_text: exit status $status_want" "got $status_got" "$(tail -n 20 out err)"
	fi
}

# one_line TEXT REGEX: what was said on stderr is one line, and like that
one_line() {
	if [ "$(grep -c . err)" = 1 ]; then
		like "$1" "$(cat err)" "$2"
	else
		not_ok "$1: one line" "$(cat err)"
	fi
}

# ---- CMD's own ----
for n in 0 1 2 7 125 126 127 255; do
	status "CMD that exits with $n" $n "$HOTVAR" -- sh -c "exit $n"
done
status "CMD killed by SIGKILL" 137 "$HOTVAR" -- sh -c 'kill -9 $$'
status "CMD killed by SIGTERM" 143 "$HOTVAR" -- sh -c 'kill -TERM $$'
status "CMD that aborts" 134 "$HOTVAR" -q -- sh -c 'kill -ABRT $$'
status "without --" 3 "$HOTVAR" sh -c 'exit 3'
status "record: CMD's own" 5 "$HOTVAR" record -o a.rec -- sh -c 'exit 5'
status "record: killed" 137 "$HOTVAR" record -q -o a.rec -- sh -c 'kill -9 $$'

# ---- CMD that cannot be run ----
status "no such command" 127 "$HOTVAR" -- no-such-command-here
one_line "no such command" 'hotvar: .*no-such-command-here'
status "no such path" 127 "$HOTVAR" -- ./nothing
status "a directory" 126 "$HOTVAR" -- ./
one_line "a directory" 'hotvar: .*director'
: > plain
status "not executable" 126 "$HOTVAR" -- ./plain
one_line "not executable" 'hotvar: .*chmod'
echo keep > old.rec
status "record: no such command" 127 "$HOTVAR" record -o old.rec -- no-such-command-here
is "record: a file in the way is left alone" "$(cat old.rec)" keep
status "record: no such command, no file" 127 "$HOTVAR" record -o never.rec -- no-such-command-here
check "record: and no file is made" test ! -e never.rec

# ---- processes ----
status "a process that is gone" 125 "$HOTVAR" -d 1 -p 4194000
one_line "a process that is gone" 'hotvar: .*4194000'
status "hotvar record -p of one that is gone" 125 "$HOTVAR" record -o gone.rec -p 4194000
check "no recording is left of it" test ! -e gone.rec

for command in "" record maps; do
	echo old > keep
	status "$command -p of one that is gone, -o of a file" 125 "$HOTVAR" $command -o keep -p 4194000
	is "what is in the file is kept" "$(cat keep)" old
	status "$command of no such command, -o of a file" 127 "$HOTVAR" $command -o keep -- no-such-command-here
	is "and is kept then, too" "$(cat keep)" old
done
"$TESTPROGS/spin_threads" 2 20000 > spin.out &
spin=$!
several() {
	[ "$(ls /proc/$spin/task | wc -l)" -gt 1 ]
}
until_true 10 several
thread=$(ls /proc/$spin/task | grep -v "^$spin\$" | head -n 1)
for command in "" record maps; do
	status "$command -p of a thread" 125 "$HOTVAR" $command -o keep -p "$thread"
	one_line "$command -p of a thread" "hotvar: .*it is a thread of process $spin; use -p $spin"
done
kill -9 $spin
wait $spin 2> keep
mkfifo end
for source in perf ptrace; do
	"$HOTVAR" record -q --source $source -o probe.rec -- true 2> keep || {
		skip "$source: -p of one that ends meanwhile" "$(cat keep)"
		continue
	}
	sh -c 'read -r line < end' &
	pid=$!
	rm -f ended.rec
	"$HOTVAR" record -q --source $source -o ended.rec -p $pid &
	hotvar=$!
	until_true 10 sh -c '"$HOTVAR" maps -i ended.rec | grep -q initial'
	echo > end
	wait $hotvar
	is "$source: -p of one that ends meanwhile: exit status 0" $? 0
	like "$source: its end is the last that is told" "$("$HOTVAR" maps -i ended.rec | tail -n 1)" " $pid #1 +exit "
	wait $pid
	status "$source: a report without a sample" 1 "$HOTVAR" report -i ended.rec
done

# ---- bad usage ----
for bad in --jsno --sorce=perf --limmit=3 --per-procs --outptu=x; do
	status "unknown option $bad" 2 "$HOTVAR" $bad -- true
done
status "unknown option names the nearest" 2 "$HOTVAR" --jsno -- true
one_line "unknown option names the nearest" "'--json'"
status "nothing to measure" 2 "$HOTVAR" -q
one_line "nothing to measure" 'hotvar: .*-p PID'
status "both a process and a command" 2 "$HOTVAR" -p 1 -- true
status "-p of no number" 2 "$HOTVAR" -p x
status "-p 0" 2 "$HOTVAR" -p 0
for command in "" record maps sym; do
	for p in -1 99999999999 1.5 +1 ""; do
		status "$command -p '$p'" 2 "$HOTVAR" $command -p "$p"
		one_line "$command -p '$p'" "hotvar: bad value '[^']*' for -p: it takes the number of a process"
	done
done
status "maps -d 0" 2 "$HOTVAR" maps -d 0 -- true
for f in 0 -1 20001 x 1.5; do
	status "-F $f" 2 "$HOTVAR" -F $f -- true
done
for d in 0 -1 x nan inf 1e99; do
	status "-d $d" 2 "$HOTVAR" -d $d -- true
done
for by in type line object; do
	status "--by $by, which is not there yet" 2 "$HOTVAR" --by $by -- true
	one_line "--by $by is said" "^hotvar: --by $by is not in version $VERSION: "
done
status "--source of no source" 2 "$HOTVAR" --source pm -- true
one_line "--source of no source is said" "^hotvar: .*--source.*auto, perf, pmu, ptrace, exact or fault"
status "--exact of a process that runs" 2 "$HOTVAR" --exact -p $$
one_line "is said" "^hotvar: cannot count every access of a process that runs already: "
status "--callers of samples" 2 "$HOTVAR" --callers -- true
one_line "--callers of samples is said" "^hotvar: --callers needs each access to be counted: .* --exact --callers -- CMD.*--source fault .*--watch VARIABLE"
for by in page region; do
	status "--by $by of samples" 2 "$HOTVAR" --by $by -- true
	one_line "--by $by of samples is said" "^hotvar: --by $by needs each access to be counted: .*--source fault [^-]*\$"
done
status "--by phase of samples" 2 "$HOTVAR" --by phase -- true
one_line "--by phase, which page faults do not tell, is said" "^hotvar: --by phase needs each access to be counted: [^;]*\$"
for word in line lines cachelines; do
	status "$word is no subcommand" 2 "$HOTVAR" $word -- true
	one_line "$word is said to be --by cacheline" "^hotvar: '$word' is neither .*'hotvar --by cacheline -- CMD'"
done
status "members is no subcommand" 2 "$HOTVAR" members
one_line "members is said to be --by member" "'hotvar --by member -- CMD'"
printf '#!/bin/sh\nexit 5\n' > "$tmp/lines"
chmod +x "$tmp/lines"
status "a program named lines" 5 env PATH="$tmp:$PATH" "$HOTVAR" lines
status "pages of nobody" 2 "$HOTVAR" pages
one_line "pages of nobody is said" "^hotvar: whose pages\? "
for command in top; do
	status "$command, which is not there yet" 2 "$HOTVAR" $command
	one_line "$command is said" "^hotvar: 'hotvar $command' is not in version $VERSION: "
done
status "--sort of no order" 2 "$HOTVAR" --sort size -- true
status "--sort share" 2 "$HOTVAR" --sort share -- true
one_line "the order of the column share is said" "takes accesses or time: accesses is the order of the column share"
status "--min-share 101" 2 "$HOTVAR" --min-share 101 -- true
status "--limit -1" 2 "$HOTVAR" --limit -1 -- true
status "an option without its value" 2 "$HOTVAR" report -i
status "report: an argument too many" 2 "$HOTVAR" report some.rec
one_line "report: an argument too many says how" '-i some.rec'
status "record: no option of reports" 2 "$HOTVAR" record --json -- true

# ---- output that cannot be written ----
status "-o in no folder" 125 "$HOTVAR" -o no/such/dir -- touch ran
check "and CMD was not run for nothing" test ! -e ran
# ---- no descriptors left ----
# However few there are: if it fails, it is because of them, and what to do is said.
sleep 100 &
sleeper=$!
trap 'kill $sleeper; tap_cleanup' EXIT
wrong=
for n in 4 5 6 7 8 9 10 11 12; do
	for how in "--source perf -- true" "--source ptrace -- true" "maps -- true" \
		"maps -d 0.01 -p $sleeper" "--source perf -d 0.01 -p $sleeper" \
		"pages -- true" "pages -p $sleeper"; do
		what=${how%%-*}
		(ulimit -n $n; exec "$HOTVAR" $what -o out ${how#"$what"}) > err 2>&1 < /dev/null
		[ $? -ne 125 ] || grep -q 'Too many open files.*ulimit -n\|descriptors.*ulimit -n\|perf timer: refused' err ||
			wrong="$wrong; $n, $how: $(cat err)"
	done
done
is "too few descriptors: the reason is the right one" "$wrong" ""
kill $sleeper
trap tap_cleanup EXIT

# ---- names that would control the terminal ----
name=$(printf 'a\033[31mb\nc\302\233d')
status "a name of control characters" 125 "$HOTVAR" report -i "./$name"
one_line "they are shown, not sent" "a\\\\x1b\[31mb\\\\nc\\\\xc2\\\\x9bd"

if [ -c /dev/full ]; then
	status "-o on a full disk" 125 "$HOTVAR" -o /dev/full -- true
	one_line "-o on a full disk" 'hotvar: .*No space left'
	status "record on a full disk" 125 "$HOTVAR" record -q -o /dev/full -- true
	one_line "record on a full disk" 'hotvar: .*No space left'
	for option in --help --version; do
		"$HOTVAR" $option > /dev/full 2> err
		is "$option on a full disk: exit status 125" $? 125
		one_line "$option on a full disk" 'hotvar: .*stdout: No space left'
	done
	status "maps on a full disk" 125 "$HOTVAR" maps -o /dev/full -- true
	one_line "maps on a full disk" 'hotvar: .*/dev/full: No space left'
else
	skip "-o on a full disk" "there is no /dev/full"
fi

status "two processes" 2 "$HOTVAR" -p $$ -p 1
one_line "two processes" 'one process'

for option in --exact-from=request --exact-malloc=program; do
	status "$option without --exact" 2 "$HOTVAR" $option -- true
	one_line "$option without --exact" 'give --exact, too'
done

# ---- what others have as subcommands ----
if ! command -v help > /dev/null; then
	status "hotvar help" 2 "$HOTVAR" help
	one_line "hotvar help" "'hotvar --help'"
fi

# ---- recordings that cannot be read ----
status "report: no such file" 125 "$HOTVAR" report -i nothing.rec
one_line "report: no such file" 'hotvar: .*nothing.rec'
status "report: a directory" 125 "$HOTVAR" report -i ./
: > empty.rec
status "report: an empty file" 125 "$HOTVAR" report -i empty.rec
one_line "report: an empty file" 'empty'
status "report: no recording" 125 "$HOTVAR" report -i old.rec
one_line "report: no recording" 'no recording'
status "record: not over a file that is no recording" 125 "$HOTVAR" record -o old.rec -- true
is "and it is left alone" "$(cat old.rec)" keep
status "report: nothing found" 1 "$HOTVAR" report -i a.rec

done_testing
