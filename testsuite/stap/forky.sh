# SPDX-License-Identifier: GPL-2.0-or-later
# forky.sh - the tapset on forky: see pair.
suite=forky
. "$top_srcdir/testsuite/stap/pair"
