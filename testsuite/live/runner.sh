# SPDX-License-Identifier: GPL-2.0-or-later
# runner.sh - the runner itself: a failure of any shape is counted, nothing is left running.
. "$top_srcdir/testsuite/lib.sh"

mkdir "$tmp/t"
cd "$tmp/t" || exit 1
cat > good.sh <<'EOF'
echo "ok 1 - a"
echo "ok 2 - b # SKIP no such thing here"
echo 1..2
EOF
cat > bad.sh <<'EOF'
echo "ok 1 - a"
echo "not ok 2 - b"
echo "# because"
echo 1..2
exit 1
EOF
cat > short.sh <<'EOF'
echo "ok 1 - a"
echo 1..2
EOF
cat > noplan.sh <<'EOF'
echo "ok 1 - a"
EOF
cat > dies.sh <<'EOF'
echo "ok 1 - a"
echo 1..1
kill -SEGV $$
EOF
cat > status.sh <<'EOF'
echo "ok 1 - a"
echo 1..1
exit 3
EOF
: > silent.sh
cat > hangs.sh <<'EOF'
sleep 1000 &
echo $! > child
echo $$ > self
wait
EOF
cat > cmocka.sh <<'EOF'
# what cmocka 1.1.5 prints: a skip as "not ok", one plan a group
[ "$CMOCKA_MESSAGE_OUTPUT" = TAP ] || exit 1
printf '%s\n' 1..2 'ok 1 - a' 'not ok 2 # SKIP b' '# ok - one' 1..1 'ok 1 - c' '# ok - two'
EOF

runner() {
	TMPDIR=$tmp top_srcdir=$tmp/t top_builddir=$tmp/t "$top_srcdir/testsuite/run" "$@" > "$tmp/out" 2> /dev/null
	rc=$?
	out=$(cat "$tmp/out")
	last=$(tail -n 1 "$tmp/out")
}

runner good.sh
is "a good test: last line" "$last" "1 passed, 0 failed, 1 skipped"
is "a good test: exit status" $rc 0
like "a skip's reason is shown" "$out" '^SKIP good.sh: b # SKIP no such thing here$'

cp good.sh .hidden.sh
runner .hidden.sh
is "a test whose name begins with a dot is counted" "$last" "1 passed, 0 failed, 1 skipped"

cat > signals.sh <<'EOF'
# bits 1 and 2: SIGINT and SIGQUIT
ignored=$(sed -n 's/^SigIgn:[^0-9a-f]*//p' /proc/self/status)
case $ignored in
*[0189]) echo "ok 1 - neither is ignored" ;;
*) echo "not ok 1 - SigIgn $ignored" ;;
esac
echo 1..1
EOF
runner signals.sh
is "a test is not born deaf to SIGINT and SIGQUIT" "$last" "1 passed, 0 failed, 0 skipped"

runner bad.sh good.sh
is "a failed line: last line" "$last" "2 passed, 1 failed, 1 skipped"
is "a failed line: exit status" $rc 1
like "a failure is shown with its output" "$out" '^  # because$'
# again LINES: what stands right before the last line, and the empty one above it
again() {
	is "and told again at the end${2:+: $2}" "$(tail -n "$(($(printf '%s\n' "$1" | grep -c .) + 2))" "$tmp/out" | grep .)" "$1
$last"
}
again "not ok - bad.sh: b
#   because"

cat > long.sh <<'EOF'
echo "# before"
echo "not ok 1 - long"
seq 1 40 | sed 's/^/# /'
echo "ok 2 - between"
echo "# not of it"
echo 1..2
exit 1
EOF
runner long.sh
again "not ok - long.sh: long
$(seq 1 15 | sed 's/^/#   /')" "fifteen lines of why"
printf 'echo why >&2\nexit 3\n' > tells.sh
runner tells.sh
again "not ok - tells.sh: exit status 3
#   stderr: why" "with what it wrote to standard error"

runner short.sh
is "fewer results than planned" "$last" "1 passed, 1 failed, 0 skipped"
runner noplan.sh
is "no plan" "$last" "1 passed, 1 failed, 0 skipped"
runner silent.sh
is "no output" "$last" "0 passed, 1 failed, 0 skipped"
runner dies.sh
is "death by a signal" "$last" "1 passed, 1 failed, 0 skipped"
like "and which one" "$out" 'died of signal 11'
again "not ok - dies.sh: died of signal 11"
runner status.sh
is "a bad exit status alone" "$last" "1 passed, 1 failed, 0 skipped"
runner absent.sh
is "a test that is not there" "$last" "0 passed, 1 failed, 0 skipped"
runner cmocka.sh
is "cmocka's own dialect" "$last" "2 passed, 0 failed, 1 skipped"

runner -t 1 hangs.sh good.sh
is "an overdue test" "$last" "1 passed, 1 failed, 1 skipped"
again "not ok - hangs.sh: not done after 1 seconds: killed"
# A killed child that nobody has waited for yet is gone too: it runs no more.
gone() {
	case $(sed -n 's/^State:[^A-Z]*\(.\).*/\1/p' "/proc/$1/status" 2> /dev/null) in
	'' | Z) return 0 ;;
	esac
	return 1
}
check "is killed" until_true 10 gone "$(cat self)"
check "with its children" until_true 10 gone "$(cat child)"

runner good.sh bad.sh short.sh noplan.sh silent.sh status.sh
is "all of them" "$last" "5 passed, 5 failed, 1 skipped"
again "not ok - bad.sh: b
#   because
not ok - noplan.sh: printed no plan
not ok - short.sh: planned 2 results, gave 1
not ok - silent.sh: printed no result
not ok - status.sh: exit status 3" "in every shape"

cat > watched.sh <<'EOF'
# what waits for the end of our time, and where it writes to
n=0
while [ $((n += 1)) -lt 100 ]; do
	for p in /proc/[0-9]*; do
		[ "$(tr '\0' ' ' < "$p/cmdline")" != "sleep 54321 " ] || found=$p
	done 2> /dev/null
	[ -z "${found-}" ] || break
	sleep 0.1
done
echo "ok 1 - $(readlink "$found/fd/1") $(readlink "$found/fd/2")"
echo "not ok 2 - seen" # so that it is shown
echo 1..2
EOF
runner -t 54321 watched.sh
like "what waits beside a test holds no output open" "$out" '^  ok 1 - /dev/null /dev/null$'

# Ended itself, by ^C or timeout, the runner takes its tests along.  setsid: that group and no other.
rm -f self child
TMPDIR=$tmp top_srcdir=$tmp/t top_builddir=$tmp/t setsid sh -c 'echo $$ > leader; exec "$1" hangs.sh' run "$top_srcdir/testsuite/run" > /dev/null 2>&1 &
check "a test is running" until_true 20 test -s child
kill -s TERM -- "-$(cat leader)"
check "the runner ended from outside: its test is gone" until_true 10 gone "$(cat self)"
check "and that test's children" until_true 10 gone "$(cat child)"
check "and its folder" until_true 10 sh -c '[ -z "$(find "$1" -mindepth 1 -maxdepth 1 -name "hotvar-run*")" ]' folder "$tmp"

runner
is "no test at all: exit status" $rc 1
is "no test at all: last line" "$last" "0 passed, 0 failed, 0 skipped"
is "nothing is left in the temporary folder" "$(find "$tmp" -mindepth 1 -maxdepth 1 -name 'hotvar-*')" ""

# ./quickstart check, with targets that say what these do: what failed stands right before its last line, of all of them.
mkdir -p "$tmp/q/build" "$tmp/bin"
cp "$top_srcdir/quickstart" "$tmp/q/"
echo "top_builddir = $tmp/q/build" > "$tmp/q/build/Makefile"
printf '#!/bin/sh\necho _PyRuntime > "$2"\n' > "$tmp/q/build/hotvar"
printf '#!/bin/sh\necho install ok installed\n' > "$tmp/bin/dpkg-query"
cat > "$tmp/bin/make" <<'EOF'
#!/bin/sh
case "$*" in
*check-fuzz) echo "x.c:1:2: error: no such thing"; echo "make: *** [x.o] Error 1" >&2; exit 2 ;;
*check-real) until [ "$(grep -c . "$SYSTEMS" 2> /dev/null)" = 3 ]; do sleep 0.1; done; printf '%s\n' 'not ok - real/x.sh: printed no plan' '#   stderr: it broke' '' '# not of it' '7 passed, 1 failed, 1 skipped'; exit 2 ;;
*check) printf '%s\n' '  not ok 3 - a' '' 'not ok - live/x.sh: a' 'not ok - live/y.sh: died of signal 11' '' '5 passed, 2 failed, 0 skipped'; exit 2 ;;
*check-stap) printf '%s\n' '' '4 passed, 0 failed, 0 skipped' ;;
esac
EOF
printf '#!/bin/sh\n[ $# -ne 1 ] || [ "$1" != -u ] || { echo 0; exit; }\nexec /usr/bin/id "$@"\n' > "$tmp/bin/id"
printf '#!/bin/sh\n' > "$tmp/bin/unshare"
: > "$tmp/q/build/config.status"
chmod 755 "$tmp/q/build/hotvar" "$tmp/q/build/config.status" "$tmp"/bin/*
# check-real is not over before the systems of check-stap were all made, or tried.
mkdir -p "$tmp/q/testsuite/stap" "$tmp/q/testsuite/lab"
for suite in one two three; do echo "suite=$suite" > "$tmp/q/testsuite/stap/$suite.sh"; done
printf '#!/bin/sh\necho $1 >> "%s"\n[ $1 != three ]\n' "$tmp/systems" > "$tmp/q/testsuite/lab/root"
chmod 755 "$tmp/q/testsuite/lab/root"
SYSTEMS=$tmp/systems PATH=$tmp/bin:$PATH timeout 60 "$tmp/q/quickstart" check > "$tmp/out" 2>&1
is "quickstart: one failed" $? 1
is "quickstart: the systems of check-stap are made beside check-real" "$(tr '\n' ' ' < "$tmp/systems")" "one three two "
is "quickstart: what failed is told again at the end" "$(tail -n 9 "$tmp/out")" "not ok 1 - make check: live/x.sh: a
not ok 2 - make check: live/y.sh: died of signal 11
not ok 3 - make check-fuzz: failed before or after its tests:
#   x.c:1:2: error: no such thing
#   make: *** [x.o] Error 1
not ok 4 - make check-real: real/x.sh: printed no plan
#   stderr: it broke

16 passed, 4 failed, 1 skipped"
printf '#!/bin/sh\necho "1 passed, 0 failed, 0 skipped"\n' > "$tmp/bin/make"
PATH=$tmp/bin:$PATH timeout 60 "$tmp/q/quickstart" check > "$tmp/out" 2>&1
is "quickstart: none failed" "$? $(tail -n 1 "$tmp/out")" "0 4 passed, 0 failed, 0 skipped"

done_testing
