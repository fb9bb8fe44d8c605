# SPDX-License-Identifier: GPL-2.0-or-later
# sampling.sh - what sampling at the usual settings costs; see sampling.py.
set -e
tmp=$(mktemp -d "${TMPDIR:-/tmp}/hotvar-bench.XXXXXX")
trap 'rm -rf "$tmp"' EXIT
export XDG_CACHE_HOME="$tmp/cache"
mkdir -p "$XDG_CACHE_HOME"

python3 "$top_srcdir/testsuite/bench/sampling.py" "$HOTVAR" "$TESTPROGS" "$top_srcdir/testsuite/accuracy/programs" "$tmp"
