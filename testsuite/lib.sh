# SPDX-License-Identifier: GPL-2.0-or-later
# lib.sh - what a shell test needs: TAP lines, a scratch folder, waiting for a condition.
#
# Source it first:  . "$top_srcdir/testsuite/lib.sh"
# The runner sets top_srcdir top_builddir HOTVAR TESTPROGS; each test ends with `done_testing`.
# A test that stops early prints no plan, which the runner counts as a failure.

: "${top_srcdir:?run this by make check}" "${top_builddir:?}" "${HOTVAR:?}" "${TESTPROGS:?}"
export LC_ALL=C
unset MAKEFLAGS MAKELEVEL MFLAGS # a make that a test runs is not a part of the one that runs the tests
tap_n=0
tap_failed=0

# A folder of this test's own, gone when it ends.  $tmp
tmp=$(mktemp -d "${TMPDIR:-/tmp}/hotvar-test.XXXXXX") || exit 1
tap_cleanup() {
	rm -rf "$tmp"
}
trap tap_cleanup EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

# ok TEXT; not_ok TEXT [WHY...]; skip TEXT WHY
ok() {
	tap_n=$((tap_n + 1))
	echo "ok $tap_n - $1"
}
not_ok() {
	tap_n=$((tap_n + 1))
	tap_failed=$((tap_failed + 1))
	echo "not ok $tap_n - $1"
	shift
	[ $# -eq 0 ] || printf '%s\n' "$@" | sed 's/^/# /'
}
skip() {
	tap_n=$((tap_n + 1))
	echo "ok $tap_n - $1 # SKIP $2"
}

# link_hotvar PROGRAM SOURCE: a C program with libhotvar, which may be built with flags that it must be linked with, too
link_hotvar() {
	# shellcheck disable=SC2086
	${CC:-cc} ${LINK_FLAGS-} -O1 -I"$top_srcdir" -I"$top_builddir" -o "$1" "$2" "$top_builddir/libhotvar.a" $LIBS -lm -pthread
}

# build_mkrec: $mkrec, which makes recordings from the descriptions in $golden; without it the test ends
build_mkrec() {
	golden=$top_srcdir/testsuite/golden
	mkrec=$tmp/mkrec
	link_hotvar "$mkrec" "$golden/mkrec.c" > "$tmp/cc.log" 2>&1 && return
	not_ok "mkrec builds" "$(tail -n 20 "$tmp/cc.log")"
	done_testing
	exit 1
}

# Skip the whole test: say why once, and end.
skip_all() {
	skip "${0##*/}" "$1"
	done_testing
	exit 0
}

# check TEXT COMMAND...: ok if the command succeeds; its output is shown if not.
check() {
	tap_text=$1
	shift
	if "$@" > "$tmp/check.out" 2>&1; then
		ok "$tap_text"
	else
		tap_rc=$?
		not_ok "$tap_text" "exit status $tap_rc of: $*" "$(tail -n 40 "$tmp/check.out")"
	fi
}

# is TEXT GOT WANT
is() {
	if [ "$2" = "$3" ]; then
		ok "$1"
	else
		not_ok "$1" "got:  $2" "want: $3"
	fi
}

# like TEXT GOT EXTENDED-REGEX: some line of GOT matches
like() {
	if printf '%s\n' "$2" | grep -Eq -- "$3"; then
		ok "$1"
	else
		not_ok "$1" "no line matches: $3" "in:" "$2"
	fi
}
unlike() {
	if printf '%s\n' "$2" | grep -Eq -- "$3"; then
		not_ok "$1" "a line matches: $3" "in:" "$2"
	else
		ok "$1"
	fi
}

# until_true SECONDS COMMAND...: try it until it succeeds, however fast this machine is; 1 when time is up.
until_true() {
	tap_left=$(($1 * 20))
	shift
	until "$@" > /dev/null 2>&1; do
		tap_left=$((tap_left - 1))
		[ $tap_left -gt 0 ] || return 1
		sleep 0.05
	done
}

done_testing() {
	echo "1..$tap_n"
	[ $tap_failed -eq 0 ]
}
