#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# accuracy.sh - samples against a count of every access, over all programs of the suite.
#
# ACCURACY="--half tuning --rows" and the like are passed on to accuracy.py; exact reports are kept in the build folder.
. "$top_srcdir/testsuite/lib.sh"
. "$top_srcdir/testsuite/exact.sh"

build=$top_builddir/testsuite/accuracy
mkdir -p "$build"
# shellcheck disable=SC2086
exec python3 "$top_srcdir/testsuite/accuracy/accuracy.py" --hotvar "$HOTVAR" --build "$build" ${ACCURACY:-}
