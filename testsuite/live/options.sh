#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# options.sh - no option is dropped in silence: each does something to each kind of report, or is refused.
#
# Which options there are is asked of --help, so that a new one must be given a value here.
. "$top_srcdir/testsuite/lib.sh"
build_mkrec
cd "$tmp" || exit 1
export XDG_CACHE_HOME="$tmp/cache"

# A value that changes the reports below; "-": an option of all reports, or of names, that is tested elsewhere.
value_of() {
	case $1 in
	--by) echo "--by member" ;;
	--sort) echo "--sort time" ;;
	--min-share) echo "--min-share 60" ;;
	--limit) echo "--limit 1" ;;
	--per-process | --prefetches) echo "$1" ;;
	--callers) echo "--callers=1" ;;
	--input | --output | --color | --json | --quiet | --verbose | --help | --usage | --version | --no-demangle | --debuginfod) echo - ;;
	*) echo "?" ;;
	esac
}
options=$("$HOTVAR" report --help 2>&1 | grep -oE -- '^ +(-[A-Za-z?], )?--[a-z][a-z-]*' | grep -oE -- '--[a-z-]+' | sort -u)
check "--help lists options" test "$(echo "$options" | grep -c .)" -ge 10

# does_something OPTION BASE RECORDING...: says how, or nothing
does_something() {
	with=$(value_of "$1")
	base=$2
	shift 2
	for r in "$@"; do
		[ -f "$r.rec" ] || "$mkrec" "$golden/$r.txt" "$r.rec" 2> err || cat err
		# shellcheck disable=SC2086
		"$HOTVAR" report -i "$r.rec" $base > without 2> without.err
		# shellcheck disable=SC2086
		"$HOTVAR" report -i "$r.rec" $base $with > out 2> err
		rc=$?
		if [ $rc -eq 2 ] && [ ! -s out ] && grep -q -e "${with%%[ =]*}" err; then
			echo refused
			return
		elif [ $rc -ne 2 ] && ! cmp -s without out; then
			echo differs
			return
		fi
	done
}
# view NAME BASE RECORDING...
view() {
	name=$1
	shift
	for o in $options; do
		v=$(value_of "$o")
		case $o:$1 in
		--by:--by*) continue ;;
		esac
		if [ "$v" = "?" ]; then
			not_ok "$name: $o" "value_of() of this test does not know it"
		elif [ "$v" != - ]; then
			like "$name: $o does something, or is refused" "$(does_something "$o" "$@")" '^(refused|differs)$'
		fi
	done
}
view "variables" "" addressed processes prefetch heap
view "cache lines" "--by cacheline" lines
view "pages" "--by page" faults
view "watched variables" "" watched

# ---- what is refused before anything is run ----------------------------------------------------------------

# refused OPTION WORDS...: and says which option, and starts nothing
refused() {
	option=$1
	shift
	"$HOTVAR" "$@" -- sh -c ': > ran' > out 2> err
	is "$* is refused" "$? $(grep -c -e "$option" err) $(ls ran 2> /dev/null)" "2 1 "
}
for o in --callers --prefetches --per-process "--sort=time"; do
	refused "${o%=*}" --exact --by cacheline "$o"
done
for o in --callers --prefetches --per-process "--sort=accesses" "--min-share=1"; do
	refused "${o%=*}" --exact --by region "$o"
done
for o in "--sort=time" "--min-share=1" "-F 100" "--budget=1" --per-process --prefetches "--by member" "--by page" "--by cacheline"; do
	# shellcheck disable=SC2086
	refused "$(echo "$o" | sed 's/[ =].*//')" --watch counter $o
done
for o in "-F 100" "--budget=1"; do
	# shellcheck disable=SC2086
	for s in exact fault; do
		refused "$(echo "$o" | sed 's/[ =].*//')" --source $s $o
		refused "$(echo "$o" | sed 's/[ =].*//')" record -o rec --source $s $o
	done
done
for s in exact fault; do
	refused --sort --source $s --sort time
done
refused --budget --source ptrace --budget 1

done_testing
