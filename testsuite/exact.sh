# SPDX-License-Identifier: GPL-2.0-or-later
# exact.sh - what tests of hotvar --exact share; sourced after lib.sh.

exact_tool=$top_builddir/runtime/valgrind/lib
if [ ! -x "$exact_tool/hotvar-amd64-linux" ]; then
	skip_all "hotvar's tool for valgrind is not built: no valgrind here (apt-get install valgrind, then configure again)"
fi
XDG_CACHE_HOME=$tmp/cache
export XDG_CACHE_HOME
mkdir -p "$tmp/cache"

# Valgrind itself, not a script of a distribution's that changes the environment.
exact_valgrind=$(command -v valgrind)
[ ! -x "$exact_valgrind.bin" ] || exact_valgrind=$exact_valgrind.bin

# truth TEXT PROGRAM [ARG...]: all totals of hotvar --exact, and those of each variable of PROGRAM (linked to fixed
# addresses), are those of a trace by valgrind's lackey, which leaves the program its own malloc.  Both follow children, and
# have the same environment, which a program's start reads.  truth_of=variables: of a program with threads, whose turns differ
# from run to run, and with them what libc does: variables only, and a sum that is the total.  Lackey is to see the loads whose
# value nobody uses, too, which valgrind leaves out if not told to keep each register's value.
truth() {
	truth_text=$1
	shift
	[ -x "$tmp/trace_sum" ] || "${CC:-cc}" -O2 -o "$tmp/trace_sum" "$top_srcdir/testsuite/exact/trace_sum.c"
	env -i VALGRIND_LIB="$exact_tool" "$exact_valgrind" --command-line-only=yes --tool=lackey --trace-mem=yes --vgdb=no \
		--px-default=allregs-at-each-insn --px-file-backed=allregs-at-each-insn \
		--trace-children=yes --log-fd=9 "$@" 9>&1 > "$tmp/truth.lackey" 2>&1 | "$tmp/trace_sum" > "$tmp/trace"
	env -i "$HOTVAR" --exact --exact-malloc=program --json -o "$tmp/report" -- "$@" > "$tmp/truth.hotvar" 2>&1
	is "$truth_text: the program does the same" "$(cat "$tmp/truth.hotvar")" "$(cat "$tmp/truth.lackey")"
	check "$truth_text: each count is that of a trace" python3 "$top_srcdir/testsuite/exact/trace.py" "$tmp/trace" "$tmp/report" "$1" ${truth_of:-}
	grep '^total' "$tmp/check.out" | sed 's/^/# /'
	rm -f "$tmp/trace"
}

# count NAME [MODULE]: "reads writes threads" of the row NAME in $tmp/report
count() {
	sed -n 's/^{"type":"variable",.*"name":"\([^"]*\)".*"reads":\([0-9]*\),"writes":\([0-9]*\),.*"threads":\([0-9]*\),.*/\1 \2 \3 \4/p' "$tmp/report" |
		awk -v name="$1" '$1 == name { print $2, $3, $4 }'
}
