# SPDX-License-Identifier: GPL-2.0-or-later
# sampling.sh - what sampling at the usual settings costs: the program, hotvar itself, and samples of a thousand threads.
#
# slowdown  CPU time of a program that computes with hotvar / alone, by the program's own account
# own       CPU time of hotvar and its report / of the program
# lost      samples lost of 1,000 busy threads
set -e
tmp=$(mktemp -d "${TMPDIR:-/tmp}/hotvar-bench.XXXXXX")
trap 'rm -rf "$tmp"' EXIT
export XDG_CACHE_HOME="$tmp/cache"
mkdir -p "$XDG_CACHE_HOME"

accuracy="python3 $top_srcdir/testsuite/accuracy/accuracy.py --hotvar $HOTVAR --build $tmp/build --no-goals --half tuning"
$accuracy --only blur,lu,scan --runs 3 --work blur=600,lu=600,scan=1500 --json "$tmp/found" > "$tmp/out"
python3 - "$tmp/found" << 'END'
import json, sys
s = json.load(open(sys.argv[1]))["summary"]["tuning"]
print("bench sampling-slowdown ratio %.3f goal <= 1.025" % s["slowdown"])
print("bench sampling-own ratio %.3f goal <= 0.01" % s["own"])
END
"$HOTVAR" --json -q -o "$tmp/json" -- "$TESTPROGS/spin_threads" 1000 20 > /dev/null
sed -n 's/^{"type":"total",.*"lost":\([0-9]*\),.*/bench sampling-lost-of-1000-threads ratio \1 goal <= 0/p' "$tmp/json"
