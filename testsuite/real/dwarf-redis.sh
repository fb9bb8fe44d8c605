# SPDX-License-Identifier: GPL-2.0-or-later
# dwarf-redis.sh - what dwarf.sh does, of Redis, which takes half of the time: beside it.
. "$top_srcdir/testsuite/lib.sh"
. "$top_srcdir/testsuite/symlib.sh"
. "$top_srcdir/testsuite/real/dwarf-programs"

for how in "gcc -gdwarf-4 -fdebug-types-section" "clang -gdwarf-5 -gsplit-dwarf" "gcc -gdwarf-5 -flto"; do
	with_redis "$how"
done
done_testing
