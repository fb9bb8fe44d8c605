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

runner short.sh
is "fewer results than planned" "$last" "1 passed, 1 failed, 0 skipped"
runner noplan.sh
is "no plan" "$last" "1 passed, 1 failed, 0 skipped"
runner silent.sh
is "no output" "$last" "0 passed, 1 failed, 0 skipped"
runner dies.sh
is "death by a signal" "$last" "1 passed, 1 failed, 0 skipped"
like "and which one" "$out" 'died of signal 11'
runner status.sh
is "a bad exit status alone" "$last" "1 passed, 1 failed, 0 skipped"
runner absent.sh
is "a test that is not there" "$last" "0 passed, 1 failed, 0 skipped"
runner cmocka.sh
is "cmocka's own dialect" "$last" "2 passed, 0 failed, 1 skipped"

runner -t 1 hangs.sh good.sh
is "an overdue test" "$last" "1 passed, 1 failed, 1 skipped"
# A killed child that nobody has waited for yet is gone too: it runs no more.
gone() {
	case $(sed -n 's/^State:[^A-Z]*\(.\).*/\1/p' "/proc/$1/status" 2> /dev/null) in
	'' | Z) return 0 ;;
	esac
	return 1
}
check "is killed" until_true 10 gone "$(cat self)"
check "with its children" until_true 10 gone "$(cat child)"

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

done_testing
