# SPDX-License-Identifier: GPL-2.0-or-later
# heap.sh - what `hotvar --exact -- CMD` costs a CMD that does nothing but allocate; see heap.py.
. "$top_srcdir/testsuite/lib.sh"
. "$top_srcdir/testsuite/exact.sh"

python3 "$top_srcdir/testsuite/bench/heap.py" "$HOTVAR" "$TESTPROGS/heap_churn"
