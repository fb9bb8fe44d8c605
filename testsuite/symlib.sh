# SPDX-License-Identifier: GPL-2.0-or-later
# symlib.sh - for tests of "hotvar sym": programs that print their own addresses and what they are.
#
# Source lib.sh first.  A program prints lines "0xADDRESS WHAT", WHAT being what sym is to say (name, kind, section; two
# blanks between them), and "ready" when it has printed all.

XDG_CACHE_HOME=$tmp/cache
export XDG_CACHE_HOME
mkdir -p "$tmp/cache"
: "${CC:=cc}"

# SAY(address, "what") for the programs; done() waits to be looked at.
cat > "$tmp/say.h" << 'END'
#include <stdio.h>
#include <unistd.h>
#define SAY(p, what) printf("%#llx %s\n", (unsigned long long)(unsigned long)(p), what)
static inline void done(void) { puts("ready"); fflush(stdout); for (;;) pause(); }
END

have() {
	command -v "$1" > /dev/null 2>&1
}

# build TEXT COMMAND...: true if it works; else a skip that says so.
build() {
	sym_text=$1
	shift
	(cd "$tmp" && "$@") > "$tmp/build.out" 2>&1 && return 0
	skip "$sym_text" "cannot be built here: $(head -n 1 "$tmp/build.out")"
	return 1
}

# start COMMAND...: in the background, until it says "ready".  $pid
pid=
start() {
	: > "$tmp/out"
	"$@" > "$tmp/out" 2> "$tmp/err" &
	pid=$!
	until_true 20 grep -q '^ready$' "$tmp/out" && return 0
	not_ok "start $*" "it did not get ready:" "$(cat "$tmp/out" "$tmp/err")"
	stop
	return 1
}
stop() {
	[ -z "$pid" ] || { kill -KILL "$pid"; wait "$pid"; } 2> /dev/null
	pid=
}
trap 'stop; tap_cleanup' EXIT

# sym ARG...: what is said behind the address, of variables alone: whether there is debug information is not to matter
sym() {
	"$HOTVAR" sym -q --no-members "$@" 2> "$tmp/sym.err" | sed 's/^0x[0-9a-f]*  //'
}

# agree TEXT [MODULE]: all that the program says, with "  MODULE" behind each, is what sym -p says.
agree() {
	sed -n 's/^\(0x[0-9a-f]*\) .*/\1/p' "$tmp/out" > "$tmp/addrs"
	sed -n "s|^0x[0-9a-f]* \\(.*\\)|\\1${2:+  $2}|p" "$tmp/out" > "$tmp/want"
	sym -p "$pid" < "$tmp/addrs" > "$tmp/got"
	if [ -s "$tmp/want" ] && cmp -s "$tmp/want" "$tmp/got"; then
		ok "$1"
	else
		not_ok "$1" "$(diff "$tmp/want" "$tmp/got")" "$(cat "$tmp/sym.err")" "$(cat "/proc/$pid/maps" 2> /dev/null)"
	fi
}
