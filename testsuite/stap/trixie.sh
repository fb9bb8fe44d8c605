# SPDX-License-Identifier: GPL-2.0-or-later
# trixie.sh - the tapset on trixie: see pair.
suite=trixie
. "$top_srcdir/testsuite/stap/pair"
