#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# accuracy.sh - three programs of the accuracy suite: samples against a count of every access.
#
# Which shares come out depends on chance; what holds for nearly any run is asked for.  make check-accuracy does the whole.
. "$top_srcdir/testsuite/lib.sh"
. "$top_srcdir/testsuite/exact.sh"

python3 "$top_srcdir/testsuite/accuracy/accuracy.py" --hotvar "$HOTVAR" --build "$tmp/build" --only lru,lu,regex \
	--work lru=40000000,lu=500,regex=90 --no-goals --no-cost --json "$tmp/found" > "$tmp/out" 2> "$tmp/err"
is "three programs are measured" "$(grep -c '^ok' "$tmp/out")" "3"
say() {
	python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["summary"]["tuning"][sys.argv[2]])' "$tmp/found" "$1"
}
check "intervals hold most exact shares: $(say held)" awk -v x="$(say held)" 'BEGIN { exit !(x >= 0.7) }'
check "largest errors are 10 points at most, in the middle: $(say 'mean error')" awk -v x="$(say 'mean error')" 'BEGIN { exit !(x <= 10) }'
check "the first five are mostly the first five: $(say 'top 5')" awk -v x="$(say 'top 5')" 'BEGIN { exit !(x >= 0.8) }'
done_testing
