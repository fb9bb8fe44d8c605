# SPDX-License-Identifier: GPL-2.0-or-later
# judge.sh - what README's one-liners print, against the file `expected`.
#
# Its blocks begin with `# TITLE`, the comment of the one-liner; lines of a block are extended regular expressions: `+ ` must be
# matched, `- ` must not, by some line; `N ` by exactly N lines.
right=0
for f in "$dir"/[0-9][0-9].sh; do
	i=${f##*/}
	i=${i%.sh}
	title=$(sed -n '1s/^# //p' "$f")
	o=$out/$i
	bad=
	touch "$o/events" # that there was none is said by the status
	[ "$(cat "$o/status")" = 0 ] || bad="staprun: $(cat "$o/status") $(cat "$o/stderr")"
	awk -v title="# $title" '/^# / { on = $0 == title; next } on && NF' "$here/cases/oneliners/expected" > "$tmp/expected"
	[ -s "$tmp/expected" ] || bad="$bad no block of this title in expected"
	while read -r how re; do
		got=$(grep -cE -- "$re" "$o/events")
		case $how in
		+) [ "$got" -gt 0 ] || bad="$bad no line matches: $re" ;;
		-) [ "$got" -eq 0 ] || bad="$bad a line matches: $re" ;;
		*) [ "$got" -eq "$how" ] || bad="$bad not $how but $got lines match: $re" ;;
		esac
	done < "$tmp/expected"
	if [ -z "$bad" ]; then
		ok "$suite: oneliners: $i $title"
		right=$((right + 1))
	else
		not_ok "$suite: oneliners: $i $title" "$bad" "$(head -n 60 "$o/events")"
	fi
done
say "$right of $(ls "$dir"/[0-9][0-9].sh | grep -c .) oneliners"
