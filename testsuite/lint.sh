# SPDX-License-Identifier: GPL-2.0-or-later
# lint.sh - the rules about source files that a machine can check.
. "$top_srcdir/testsuite/lib.sh"

cd "$top_srcdir" || exit 1
# What belongs to the project: the list that came with a tarball, or what git knows here (git add makes it know a new file).
if [ ! -e .files ]; then
	git -c safe.directory='*' ls-files > "$tmp/files"
else
	cp .files "$tmp/files"
fi
while read -r f; do
	[ ! -f "$f" ] || printf '%s\n' "$f"
done < "$tmp/files" > "$tmp/there"
grep -E '\.[ch]$' "$tmp/there" > "$tmp/c"
grep -Ev '^(configure|COPYING|config\.h\.in|\.files)$|/corpus/|\.rec$|\.golden$' "$tmp/there" > "$tmp/ours"
check "there are files to look at" test "$(grep -c . "$tmp/c")" -gt 20

# none TEXT COMMAND...: ok if it prints nothing
none() {
	text=$1
	shift
	is "$text" "$("$@" | head -n 20)" ""
}

# SPDX in the first lines of everything that can hold a comment.
unlicensed() {
	grep -E '\.([chS]|sh|py|stp|in|ac|meta)$|^(quickstart|\.ci/run|\.editorconfig)$|^testsuite/[^.]*$|^doc/.*\.[0-9]$' "$tmp/ours" | grep -v '^\.gitignore$' |
		while read -r f; do
			head -n 3 "$f" | grep -q 'SPDX-License-Identifier: GPL-2.0-or-later' || echo "$f"
		done
}
none "each source has its SPDX line" unlicensed

# A file says what it is, "NAME - one clause" with its own name; a .c with a header of its name does so there.
nameless() {
	grep -E '^(runtime|translator-hooks)/' "$tmp/c" | while read -r f; do
		b=${f##*/}
		case $f in
		*.c) [ ! -f "${f%.c}.h" ] || continue ;;
		esac
		head -n 8 "$f" | grep -Eq "(^|[* /])$b - " || echo "$f"
	done
}
none "each file opens with its name and what it is" nameless

long() {
	grep -E '^(runtime|translator-hooks|tapset)/' "$tmp/ours" | xargs -d '\n' wc -l | awk '$2 != "total" && $1 >= 600 { print $1, $2 }'
}
none "no file reaches 600 lines: that is two nouns" long

# Words put so that this file is not its own finding.
words() {
	xargs -d '\n' grep -nIE "$1" < "$tmp/ours" | grep -v '^testsuite/lint.sh:' | cut -c -160
}
none "nothing unfinished is admitted" words '\b(TO[D]O|FIX[M]E|X[X]X|HA[C]K|not implemente[d]|unimplemente[d]|for no[w])\b'
none "no path of one machine, no package host" words '/wor[k]/|/far[m]/|https?://(deb|registry|security)\.'
# An image of another version is refused by its first bytes: fuzzing would look at nothing.
other_version() {
	version=$(sed -n 's/^#define HVAR_IMAGE_VERSION *//p' runtime/core/hvar_image_format.h)
	for f in testsuite/fuzz/corpus/image/*; do
		[ "$(od -An -tu1 -j9 -N1 "$f" | tr -d ' ')" = "$version" ] || echo "$f"
	done
}
none "seeds of fuzz_image are of this version" other_version
none "no binary file" sh -c 'grep -v /corpus/ "$1" | while read -r f; do [ ! -s "$f" ] || grep -qI . "$f" || echo "$f"; done' binary "$tmp/there"
none "no compiled file" sh -c 'while read -r f; do [ "$(head -c 4 "$f" | tail -c 3)" != ELF ] || echo "$f"; done < "$1"' compiled "$tmp/there"

# ---- core ------------------------------------------------------------------------------------

# What a core file exports is declared in its own header (hvar_call_apply.c: in hvar_call.h), and its statics carry the
# prefix too: in a stap module everything is one translation unit.  Variables inside functions are NAME.NUMBER.
core_names() {
	for o in "$top_builddir"/runtime/core/*.o; do
		stem=$(basename "$o" .o)
		[ -f "runtime/core/$stem.c" ] || continue
		set -- "runtime/core/$stem"*.h
		case $stem in
		hvar_*_*) set -- "$@" "runtime/core/${stem%_*}.h" ;;
		esac
		nm --defined-only "$o" | while read -r _ type name; do
			case $name in
			.* | *.[0-9]* | CSWTCH*) continue ;;
			hvar_*) ;;
			*)
				echo "$stem: $name has no hvar_ before it"
				continue
				;;
			esac
			case $type in
			[TDBRV]) cat "$@" 2> /dev/null | grep -q "\\b$name\\b" || echo "$stem exports $name, which its header does not declare" ;;
			esac
		done
	done
}
check "there are core objects to look at" test "$(ls "$top_builddir"/runtime/core/*.o | grep -c .)" -gt 5
none "core names carry their file's noun" core_names

core_includes() {
	grep -nE '#[ \t]*include' runtime/core/*.[ch] | grep -vE 'include "(runtime/core/)?hvar_[a-z_]*\.h"' | grep -v '^runtime/core/hvar_env\.h:'
}
none "core includes only core" core_includes
none "#if for a host stands only in hvar_env.h" sh -c 'grep -nE "__KERNEL__|HVAR_KERNEL_OBJECT" runtime/core/*.[ch] | grep -v "^runtime/core/hvar_env\.h:"'
none "core comes without float or double" sh -c 'grep -nwE "float|double" runtime/core/*.c runtime/core/*.h | grep -vE "^[^:]*:[0-9]*:[ \t]*(/?\*|//)"'

# Data flows one way: core <- user engine <- report <- cli.
backwards() {
	grep -nE 'include "runtime/(report|cli)/' runtime/user/*.[ch] translator-hooks/*.[ch]
	grep -nE 'include "runtime/cli/' runtime/report/*.[ch]
}
none "no module reaches back" backwards

# ---- comments --------------------------------------------------------------------------------

# Each @name in a header's comment is a word of what the header declares.
params() {
	for h in runtime/*/*.h translator-hooks/*.h; do
		awk -v h="$h" '
			{
				line = $0
				if (!in_c && match(line, /\/\*/)) { code = code " " substr(line, 1, RSTART - 1); line = substr(line, RSTART); in_c = 1 }
				while (in_c) {
					e = index(line, "*/")
					text = text " " (e ? substr(line, 1, e - 1) : line)
					if (!e) break
					in_c = 0
					line = substr(line, e + 2)
					if (match(line, /\/\*/)) { code = code " " substr(line, 1, RSTART - 1); line = substr(line, RSTART); in_c = 1 }
					else code = code " " line
				}
				if (!in_c && $0 !~ /\*\//) code = code " " $0
			}
			END {
				n = split(code, w, /[^A-Za-z0-9_]+/)
				for (i = 1; i <= n; i++) known[w[i]] = 1
				while (match(text, /@[a-z_][A-Za-z0-9_]*/)) {
					p = substr(text, RSTART + 1, RLENGTH - 1)
					# counter@parser.c is how a variable is written, not a parameter
					if (!known[p] && (RSTART == 1 || substr(text, RSTART - 1, 1) !~ /[A-Za-z0-9_]/)) print h ": @" p
					text = substr(text, RSTART + RLENGTH)
				}
			}' "$h"
	done
}
none "each @name in a header is a parameter or field there" params

# ---- generated -------------------------------------------------------------------------------

made_by=$(sed -n 's/^# Generated by GNU Autoconf \([0-9.]*[0-9]\).*/\1/p' configure | head -n 1)
have=$(autoconf --version 2> /dev/null | sed -n '1s/.* //p')
if [ "$made_by" = "$have" ]; then
	mkdir "$tmp/ac"
	cp configure.ac config.h.in "$tmp/ac/"
	(cd "$tmp/ac" && autoconf && cp config.h.in as-committed && autoheader -f) > "$tmp/ac.log" 2>&1
	check "configure is what autoconf makes of configure.ac" cmp configure "$tmp/ac/configure"
	check "config.h.in is what autoheader makes of it" cmp "$tmp/ac/as-committed" "$tmp/ac/config.h.in"
else
	skip "configure is what autoconf makes of configure.ac" "it was made by autoconf $made_by, here is ${have:-none}"
fi

# LINT_FORMAT=1: advice, not a verdict, since versions of clang-format differ.
if [ -n "${LINT_FORMAT-}" ] && command -v clang-format > /dev/null; then
	xargs -d '\n' clang-format --dry-run < "$tmp/c" 2>&1 | sed -n 's/^\([^:]*\):.*clang-format-violations.*/\1/p' | sort | uniq -c |
		sort -rn | awk '{ n++; t += $1 } END { if (n) printf "# .clang-format would change %d places in %d files\n", t, n }'
fi

done_testing
