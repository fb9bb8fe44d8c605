# SPDX-License-Identifier: GPL-2.0-or-later
# exact.sh - what `hotvar --exact -- CMD` costs CMD; see exact.py.
. "$top_srcdir/testsuite/lib.sh"
. "$top_srcdir/testsuite/exact.sh"

python3 "$top_srcdir/testsuite/bench/exact.py" "$HOTVAR" "$TESTPROGS"
