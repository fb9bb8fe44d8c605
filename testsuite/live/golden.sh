#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# golden.sh - recordings from descriptions, reported, against the reports that were read and found right.
#
# testsuite/golden/NAME.txt describes a recording (see mkrec.c) and says in its comments what must come out, by
# hand.  "# options: ..." are options of report; "# cut: N" takes N bytes off the recording's end; "# numbers: no"
# compares the shape only, without the part that may or may not be unprovable.  GOLDEN_UPDATE=1 writes the goldens anew: read every line of the difference then.
. "$top_srcdir/testsuite/lib.sh"
build_mkrec

directive() {
	sed -n "s/^# $1: *\([^(]*\).*/\1/p" "$golden/$2.txt" | head -n 1
}

# What differs between versions, and numbers where the description says so.
plain() {
	sed 's/"version":"[^"]*"/"version":"V"/; s/at byte [0-9]*/at byte N/' | case $(directive numbers "$1") in
	no*) sed 's/-*[0-9][0-9]*\.*[0-9]*\(e-*[0-9]*\)*/N/g; s/  */ /g; /unprovable/d; s/"register-lost":N,*//g; s/,}/}/g' ;;
	*) cat ;;
	esac
}

compare() {
	if [ -n "${GOLDEN_UPDATE:-}" ]; then
		cp "$2" "$3"
	fi
	if diff -u "$3" "$2" > "$tmp/diff" 2>&1; then
		ok "$1"
	else
		not_ok "$1" "$(cat "$tmp/diff")"
	fi
}

cd "$tmp" || exit 1
for description in "$golden"/*.txt; do
	name=$(basename "$description" .txt)
	if ! "$mkrec" "$description" "$name.rec" 2> err; then
		not_ok "$name: the description is a recording" "$(cat err)"
		continue
	fi
	cut=$(directive cut "$name")
	[ -z "$cut" ] || truncate -s "-$cut" "$name.rec"
	options=$(directive options "$name")
	# shellcheck disable=SC2086
	"$HOTVAR" report $options -i "$name.rec" > out 2> err
	echo "exit status $?" >> out
	cat err >> out
	plain "$name" < out > out.plain
	compare "$name: text" out.plain "$golden/$name.text"
	# shellcheck disable=SC2086
	"$HOTVAR" report --json $options -i "$name.rec" > out 2> err
	echo "exit status $?" >> out
	cat err >> out
	plain "$name" < out > out.plain
	compare "$name: json" out.plain "$golden/$name.json"
done
done_testing
