#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# bench-run.sh - testsuite/bench/run: what is left out is said at the end, and what fails, or is no number, is no success.
. "$top_srcdir/testsuite/lib.sh"
cd "$tmp" || exit 1

bench() { # bench NAME: a bench of that name, from stdin
	cat > "$1.sh"
}
run() { # run NAME...: what is said, in $said
	said=$(sh "$top_srcdir/testsuite/bench/run" "$@" 2> err)
	status=$?
}
bench good << 'END'
echo "bench fine ratio 0.5 goal <= 1"
echo "bench slow ratio 1.5 goal <= 1"
echo "bench fast ratio 1e+2 goal >= 10"
echo "skip other: no peer"
END
bench none << 'END'
echo "# no peer at all"
exit 77
END
bench bad << 'END'
echo "bench half ratio 0.5 goal <= 1"
exit 3
END
bench odd << 'END'
echo "bench fine ratio 0.5 goal <= 1"
echo "bench nothing ratio -nan goal <= 1"
END
bench silent << 'END'
echo "# nothing was measured"
END
run good.sh none.sh
is "what runs, misses its goal or is left out is no failure" $status 0
like "a goal that is met" "$said" '^fine +0\.5 +goal <= 1 +met$'
like "one that is missed" "$said" '^slow +1\.5 +goal <= 1 +MISSED$'
like "one the other way round" "$said" '^fast +1e\+2 +goal >= 10 +met$'
like "a part that is left out, and why" "$said" '^not run here: other: no peer$'
like "a bench that is" "$said" '^not run here: none\.sh$'
for name in bad odd silent; do
	run good.sh $name.sh
	is "$name: is a failure" $status 1
done
run bad.sh odd.sh silent.sh
is "and which is the last that is said" "$(echo "$said" | tail -n 1)" \
	"could not run: bad.sh(status 3) odd.sh(no number: nothing) silent.sh(status 0)"
done_testing
