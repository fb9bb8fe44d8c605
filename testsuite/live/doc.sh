# SPDX-License-Identifier: GPL-2.0-or-later
# doc.sh - what the documentation says is so: options, subcommands, README's examples.
. "$top_srcdir/testsuite/lib.sh"

man=$top_srcdir/doc/hotvar.1
# The man page's words, escapes undone.
sed 's/\\-/-/g; s/\\f[BIRP]//g; s/"//g' "$man" > "$tmp/man"

subcommands=$("$HOTVAR" --help 2>&1 | sed -n 's/^  \([a-z][a-z]*\)  *[a-z].*/\1/p')
check "--help lists subcommands" test "$(echo "$subcommands" | grep -c .)" -ge 6

# ---- options -----------------------------------------------------------------------------------------------

options_of() {
	# what hotvar stap shows of stap's own is documented there
	"$HOTVAR" "$@" --help 2>&1 | sed "/^stap's own options:/,\$d" | grep -oE -- '^ +(-[A-Za-z?], )?--[a-z][a-z-]*' | grep -oE -- '--[a-z-]+' | sort -u
}
for s in '' $subcommands; do
	# shellcheck disable=SC2086
	options_of $s > "$tmp/options"
	check "hotvar ${s:-(none)}: --help lists options" test "$(grep -c . "$tmp/options")" -ge 4
	absent=$(while read -r o; do grep -qE -- "(^|[^a-z-])$o([^a-z-]|\$)" "$tmp/man" || echo "$o"; done < "$tmp/options")
	is "hotvar ${s:-(none)}: each is in the man page" "$absent" ""
	[ -z "$s" ] || like "hotvar $s: has its paragraph there" "$(cat "$tmp/man")" "^\\.B hotvar $s\$"
	cat "$tmp/options" >> "$tmp/all"
done
# In the examples other programs have options too.
sed '/^\.SH EXAMPLES/,/^\.SH SEE/d' "$tmp/man" | grep -oE -- '(^|[^a-z-])--[a-z][a-z-]*' | grep -oE -- '--[a-z-]+' | sort -u > "$tmp/documented"
is "the man page has no option that none takes" "$(sort -u "$tmp/all" | comm -13 - "$tmp/documented")" ""
like "the man page has this version" "$(cat "$tmp/man")" "hotvar $VERSION( |\$)"

# The tables of reasons, in the sources: each name of them has its words in the man page.
reasons=$(for f in runtime/core/hvar_resolve.c runtime/user/estimate.c runtime/report/accesses.c; do
	sed -n '/_reason_name(/,/^}/p' "$top_srcdir/$f"; done | grep -oE '"[a-z-]+"' | tr -d '"' | grep -vx ok | sort -u)
check "sources name reasons" test "$(echo "$reasons" | grep -c .)" -ge 20
is "the man page tells of each" "$(sed -n '/^\.SS Reasons/,/^\.SS JSON/p' "$tmp/man" | tr -c 'a-z-' '\n' | sort -u > "$tmp/words"
	echo "$reasons" | comm -23 - "$tmp/words")" ""

if command -v man > /dev/null && command -v groff > /dev/null; then
	is "man has nothing to say about it" "$(LC_ALL=C.UTF-8 MANROFFSEQ='' MANWIDTH=80 man --warnings -l "$man" 2>&1 > /dev/null)" ""
fi

# ---- README ------------------------------------------------------------------------------------------------

# A block ```sh after a line <!-- test: WORD... --> is run, each line that begins with "$ "; the block's output must hold
# each WORD.  They run in a folder with a link to the sources and the built command in PATH.
readme=$top_srcdir/README.md
mkdir "$tmp/readme"
awk -v dir="$tmp/readme" '
	/^<!-- test:.*-->$/ { words = $0; sub(/^<!-- test: */, "", words); sub(/ *-->$/, "", words); next }
	/^```sh$/ && words != "" { n++; out = dir "/" n; print words > (out ".words"); on = 1; next }
	/^```$/ { on = 0; words = ""; next }
	on && /^\$ / { print substr($0, 3) > (out ".cmd") }' "$readme"
# Names are looked for, for which a fifth of the time is enough.
sed -i 's,^hotvar -- \./cache 300$,hotvar -- ./cache 60,' "$tmp/readme/1.cmd"
check "README has examples to run" test "$(ls "$tmp/readme" | grep -c cmd)" -ge 3
mkdir "$tmp/clone"
ln -s "$top_srcdir/examples" "$tmp/clone/examples"
cd "$tmp/clone" || exit 1
export XDG_CACHE_HOME="$tmp/images"
for c in $(ls "$tmp/readme"/*.cmd | sort -V); do
	n=$(basename "$c" .cmd)
	if grep -q -e --exact "$c" && [ ! -x "$top_builddir/runtime/valgrind/lib/hotvar-amd64-linux" ]; then
		skip "README example $n" "no valgrind here (apt-get install valgrind, then configure again)"
		continue
	fi
	PATH=$(dirname "$HOTVAR"):$PATH timeout 60 sh -e "$c" < /dev/null > "$tmp/out" 2>&1
	rc=$?
	is "README example $n ($(head -n 1 "$c")): exit status" "$rc" 0
	for w in $(cat "$tmp/readme/$n.words"); do
		like "README example $n shows $w" "$(cat "$tmp/out")" "$w"
	done
done
rm examples
made=$(ls)
check "they make files" test -n "$made"
if ! git -C "$top_srcdir" -c safe.directory='*' ls-files --error-unmatch .gitignore > /dev/null 2>&1; then
	skip "git ignores those in a clone" "this is no clone, or git is not here"
else
	for f in $made; do
		check "git ignores $f in a clone" git -C "$top_srcdir" -c safe.directory='*' check-ignore -q "$f"
	done
fi

done_testing
