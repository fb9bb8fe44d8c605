# SPDX-License-Identifier: GPL-2.0-or-later
# matrix.sh - Lua, SQLite and Redis by each compiler with each form of debug information, against gdb.
#
# Most of an hour.  DWARF_ONLY="Redis, clang" does a part of it: see real/dwarf-programs.
. "$top_srcdir/testsuite/lib.sh"
. "$top_srcdir/testsuite/symlib.sh"
. "$top_srcdir/testsuite/real/dwarf-programs"

for cc in gcc clang; do
	for v in 4 5; do
		for f in "" " -flto" " -gsplit-dwarf" " -fdebug-types-section"; do
			with_lua "$cc -gdwarf-$v$f"
			with_sqlite "$cc -gdwarf-$v$f"
			with_redis "$cc -gdwarf-$v$f"
		done
		for f in " -gsplit-dwarf -fdebug-types-section" " -gz" " -flto -gz"; do
			with_lua "$cc -gdwarf-$v$f"
			with_sqlite "$cc -gdwarf-$v$f"
		done
	done
done
done_testing
