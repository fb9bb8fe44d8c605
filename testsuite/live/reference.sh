# SPDX-License-Identifier: GPL-2.0-or-later
# reference.sh - the tapset's reference: what is for scripts is described, with all its arguments and variables, and its pages are in form.
. "$top_srcdir/testsuite/lib.sh"

cd "$top_srcdir" || exit 1
reference=$top_srcdir/doc/reference
# A build in the source folder itself leaves files without .in beside those.
for f in tapset/*.stp tapset/*.stpm tapset/*.in; do
	[ -f "$f.in" ] || echo "$f"
done > "$tmp/files"
# shellcheck disable=SC2046
check "all that is for scripts is described" "$reference" check $(cat "$tmp/files")

# It would say so if not.
cp tapset/vma.stp tapset/vma.stpm tapset/vma_functions.stp "$tmp/"
# breaks TEXT FILE SED-COMMAND REGEX
breaks() {
	sed "$3" "$tmp/$2" > "$tmp/broken"
	check "the test's own change: $1" sh -c '! cmp -s "$1" "$2"' cmp "$tmp/$2" "$tmp/broken"
	# Variables that are set by macros: those are in vma.stpm.
	out=$("$reference" check "$tmp/broken" $([ "$2" = vma.stpm ] || echo "$tmp/vma.stpm") 2>&1)
	is "$1: exit status" $? 1
	like "$1: said" "$out" "$4"
}
breaks "a function without a comment" vma_functions.stp 's/sfunction vma_count/sfunction vma_county/' 'no comment above function vma_count$'
breaks "an argument without a description" vma_functions.stp '/sfunction vma_start/,/\*\//{/@addr/d}' 'function vma_start: addr is not described'
breaks "a variable without a description" vma.stp '/probe vma.map -/,/\*\//{/@prot_str/d}' 'probe vma.map: prot_str is not described'
breaks "a description of what is not there" vma.stp 's/@old_end:/@older_end:/' 'probe vma.change: older_end is described but is not there'
breaks "a macro without a comment" vma.stpm 's/macro vma_each/macro vma_earch/' 'no comment above macro vma_each$'
breaks "a comment that is not described" vma.stpm '/macro vma_each/,/\*\//{/Description/d}' 'neither|no Description'

pages=$top_builddir/doc/man3
names=$(grep -hoE '^(function|@define|probe) vma[._][a-z_0-9.]*' $(cat "$tmp/files") | sed 's/^@define /macro /; s/ /::/' | sort)
check "there are names" test "$(echo "$names" | grep -c .)" -gt 20
is "each has a page of its own" "$(cd "$pages" && ls | grep -v '^tapset' | sed 's/\.3stap$//' | sort)" "$names"
is "and its part of the whole" "$(for n in $names; do grep -qE "^\\.SS @?$(echo "${n#*::}" | sed 's/[.]/\\./g')([:(]|\$)" "$pages/tapset::vma.3stap" || echo "$n"; done)" ""
if command -v groff > /dev/null; then
	is "groff has nothing to say about them" "$(for f in "$pages"/*; do groff -ww -man -Tutf8 "$f" 2>&1 > /dev/null; done)" ""
else
	skip "groff has nothing to say about them" "no groff here"
fi
if command -v mandoc > /dev/null; then
	is "nor has mandoc" "$(mandoc -T lint -W warning "$pages"/* 2>&1)" ""
fi
if command -v man > /dev/null; then
	like "man shows a page" "$(MANWIDTH=80 man -l "$pages/probe::vma.map.3stap" 2> /dev/null)" 'vm_start'
fi

done_testing
