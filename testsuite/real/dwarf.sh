# SPDX-License-Identifier: GPL-2.0-or-later
# dwarf.sh - every static variable of real programs and every scalar in it, against gdb: a choice of what check-dwarf does.
#
# Paths, offsets, files, lines and functions must be those that gdb has.  No disagreement is let pass.
. "$top_srcdir/testsuite/lib.sh"
. "$top_srcdir/testsuite/symlib.sh"
. "$top_srcdir/testsuite/real/dwarf-programs"

for cc in gcc clang; do
	for v in 4 5; do
		for f in "" " -flto" " -gsplit-dwarf" " -fdebug-types-section -gz"; do
			with_lua "$cc -gdwarf-$v$f"
		done
	done
done
for how in "gcc -gdwarf-5" "gcc -gdwarf-4 -fdebug-types-section" "clang -gdwarf-5 -gsplit-dwarf" "clang -gdwarf-4"; do
	with_sqlite "$how"
done
done_testing
