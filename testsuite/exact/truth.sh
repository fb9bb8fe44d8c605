# SPDX-License-Identifier: GPL-2.0-or-later
# truth.sh - hotvar --exact against a trace of every access: the programs with known hot variables, by totals and variable.
#
# EXACT_ONLY="hot_scan hot_list" does a part.
. "$top_srcdir/testsuite/lib.sh"
. "$top_srcdir/testsuite/exact.sh"

for source in "$top_srcdir"/testsuite/programs/hot_*.c; do
	name=$(basename "$source" .c)
	case " ${EXACT_ONLY:-$name} " in
	*" $name "*) ;;
	*) continue ;;
	esac
	flags=$(sed -n 's,^/\* hotvar-cflags: \(.*\) \*/$,\1,p' "$source")
	# Fixed addresses, so that nm's are those of the trace.
	# shellcheck disable=SC2086
	check "$name builds" "${CC:-cc}" ${flags:--O2 -g} -fno-pie -no-pie -I"$top_srcdir/testsuite/programs" -o "$tmp/$name" "$source" -lm
	truth "$name" "$tmp/$name" 1
done
done_testing
