#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# options-values.sh - what an option takes is in --help as it is to be typed.
. "$top_srcdir/testsuite/lib.sh"

export XDG_CACHE_HOME="$tmp/cache"

# spelled SUBCOMMAND OPTION: each value that the error for a wrong one lists is in what --help says of the option
spelled() {
	values=$("$HOTVAR" $1 "$2=no-such-value" -- true 2>&1 | sed -n 's/.*: it takes //p' | sed 's/, / /g; s/ or / /g')
	check "$1 $2: the error lists values" test -n "$values"
	# from the option on up to the next one
	"$HOTVAR" $1 --help | awk -v option="$2" '/^ +-/ { on = index($0, option "=") || index($0, option "[=") } on' > "$tmp/help"
	for v in $values; do
		check "$1 $2: $v" grep -Eqw -e "$v" "$tmp/help"
	done
}
spelled "" --by
spelled "" --exact-from
spelled "" --sort
spelled "" --color
spelled pages --by
spelled report --by

done_testing
