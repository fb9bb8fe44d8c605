#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# advise.sh - hotvar advise --verify over a gigabyte: page faults fall as foretold.
# hotvar-test: alone
. "$top_srcdir/testsuite/lib.sh"

[ "$(awk '/^MemAvailable:/ { print int($2 / 1048576) }' /proc/meminfo)" -ge 3 ] || skip_all "less than 3 GiB of memory are available"
rm -rf "$tmp"
ADVISE_MIB=1024 exec sh "$top_srcdir/testsuite/real/advise-verify.sh"
