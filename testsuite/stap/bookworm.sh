# SPDX-License-Identifier: GPL-2.0-or-later
# bookworm.sh - the tapset on bookworm: see pair.
suite=bookworm
. "$top_srcdir/testsuite/stap/pair"
