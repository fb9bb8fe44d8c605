# SPDX-License-Identifier: GPL-2.0-or-later
# sym-debuginfod - debug files from a server: only when asked for, only the right one, and never at the price of the answer.
. "$top_srcdir/testsuite/lib.sh"
. "$top_srcdir/testsuite/symlib.sh"

HOTVAR_DEBUGDIR=$tmp/none HOME=$tmp
export HOTVAR_DEBUGDIR HOME
unset DEBUGINFOD_URLS DEBUGINFOD_CACHE_PATH DEBUGINFOD_MAXSIZE DEBUGINFOD_PROGRESS DEBUGINFOD_VERBOSE
for need in python3 objcopy strip readelf; do
	have $need || skip_all "no $need here"
done
grep -q '^#define HAVE_DEBUGINFOD' "$top_builddir/config.h" || skip_all "built without libdebuginfod"

cat > "$tmp/v.c" << 'END'
int hot_data = 7;
static int hot_static[5];
int main(int argc, char **argv) { return argc + hot_data + hot_static[argc & 3] + !argv; }
END
build "a program" "$CC" -O0 -g -Wl,--build-id=sha1 v.c -o v || { done_testing; exit; }
id=$(readelf -n "$tmp/v" | sed -n 's/.*Build ID: //p')
at=$(nm "$tmp/v" | sed -n 's/^\([0-9a-f]*\) . hot_static$/0x\1/p')
objcopy --only-keep-debug "$tmp/v" "$tmp/v.debug"
strip -s "$tmp/v"
echo 'int other = 1, pad[64] = { 2 }; int main(void) { return other; }' > "$tmp/o.c"
build "another program" "$CC" -O0 -g -Wl,--build-id=sha1 o.c -o o || { done_testing; exit; }

# A server with many characters: the first part of the path chooses one.  It writes down what it is asked.
cat > "$tmp/server.py" << 'END'
import http.server, os, re, sys, threading, time
top = sys.argv[1]
class H(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.0"
    def log_message(self, *a): pass
    def do_GET(self):
        with open(top + "/asked", "a") as f:
            f.write(self.path + "\n")
        m = re.fullmatch(r"/(\w+)/buildid/([0-9a-f]+)/debuginfo", self.path)
        what = m[1] if m else "none"
        try:
            if what == "files" and os.path.exists(top + "/files/" + m[2]):
                b = open(top + "/files/" + m[2], "rb").read()
                self.send_response(200)
                self.send_header("Content-Length", str(len(b)))
                self.end_headers()
                self.wfile.write(b)
            elif what in ("good", "slow", "wrong", "garbage", "cut"):
                b = open(top + ("/o" if what == "wrong" else "/v.debug"), "rb").read()
                if what == "garbage":
                    b = b"no ELF file" * 1000
                if what == "cut":
                    b = b[:3000]
                self.send_response(200)
                self.send_header("Content-Length", str(len(b)))
                self.end_headers()
                half = len(b) // 2
                self.wfile.write(b[:half])
                self.wfile.flush()
                while what == "slow" and not os.path.exists(top + "/go"):
                    time.sleep(0.05)
                self.wfile.write(b[half:])
            elif what in ("endless", "drip"):
                self.send_response(200)
                self.end_headers()
                while True:
                    self.wfile.write(b"x" * 65536)
                    time.sleep(0.01)
            elif what == "silent":
                while True:
                    time.sleep(1)
            else:
                self.send_error(404)
        except OSError:
            pass
class S(http.server.ThreadingHTTPServer):
    daemon_threads = True
s = S(("127.0.0.1", 0), H)
with open(top + "/port.new", "w") as f:
    f.write(str(s.server_address[1]))
os.rename(top + "/port.new", top + "/port")
s.serve_forever()
END
python3 "$tmp/server.py" "$tmp" > "$tmp/server.out" 2>&1 &
pid=$!
until_true 20 test -s "$tmp/port" || skip_all "the test's own server does not start: $(tail -n 1 "$tmp/server.out")"
url=http://127.0.0.1:$(cat "$tmp/port")

# fresh SERVER: as if nothing had ever been asked
fresh() {
	rm -rf "$tmp/cache"
	mkdir "$tmp/cache"
	: > "$tmp/asked"
	DEBUGINFOD_URLS=$url/$1
	export DEBUGINFOD_URLS
}
# names [OPTION...]: what is said of the second byte of hot_static
names() {
	timeout 60 "$HOTVAR" sym "$@" -e "$tmp/v" "$(printf '%#x' $((at + 1)))" 2> "$tmp/err" | sed 's/^0x[0-9a-f]*  //; s/  .*//'
}
asked() {
	grep -c . "$tmp/asked"
}
right='hot_static[0]+0x1'
none=$(names)
unlike "without a server no name" "$none" hot_static

# ---- asked for, and set: both ----
fresh good
is "not asked for: no name" "$(names)" "$none"
is "and nothing is asked of the server" "$(asked)" 0
is "asked for: the name, down to the element" "$(names --debuginfod)" "$right"
like "which says where it is from" "$("$HOTVAR" sym --json -e "$tmp/v" "$at")" '"symbol":"hot_static",.*"origin":"debuginfod"'
is "one question, by build-id" "$(cat "$tmp/asked")" "/good/buildid/$id/debuginfo"
is "nothing is said" "$(cat "$tmp/err")" ""
is "what is here already is not asked for again" "$(names --debuginfod), $(asked)" "$right, 1"
is "nor is the option needed again" "$(names), $(asked)" "$right, 1"
rm -rf "$tmp/cache/hotvar"
is "it is in libdebuginfod's cache, where others find it" "$(cd "$tmp/cache/debuginfod_client" && cmp "$id/debuginfo" "$tmp/v.debug" && names), $(asked)" "$right, 1"
"$HOTVAR" symbols "$tmp/v" > "$tmp/got"
like "hotvar symbols says where the names are from" "$(cat "$tmp/got")" "^  debug     $tmp/cache/debuginfod_client/$id/debuginfo \\(from debuginfod\\)"
unset DEBUGINFOD_URLS
"$HOTVAR" sym --debuginfod -e "$tmp/v" "$at" > "$tmp/got" 2>&1
is "the option without the variable: a failure" $? 125
like "that says what to do" "$(cat "$tmp/got")" '^hotvar: cannot ask debuginfod: DEBUGINFOD_URLS names no server: '

# ---- a cache of one's own ----
fresh good
is "DEBUGINFOD_CACHE_PATH is respected" "$(DEBUGINFOD_CACHE_PATH=$tmp/mine names --debuginfod), $(ls "$tmp/mine/$id")" "$right, debuginfo"

# ---- into the cache ----
fresh good
"$HOTVAR" symbols --debuginfod "$tmp/v" > "$tmp/got" 2> "$tmp/err"
is "hotvar symbols fills the cache, once for all" "$(names), $(asked)" "$right, 1"

# ---- what is wrong is not believed, nor kept ----
for s in wrong garbage cut; do
	fresh $s
	is "$s: no name" "$(names --debuginfod)" "$none"
	like "$s: it is said" "$(cat "$tmp/err")" "^hotvar: going on without the debug file of '$tmp/v' from debuginfod: what the server sent is not the debug file"
	is "$s: and not kept" "$(find "$tmp/cache/debuginfod_client/" -name debuginfo -size +0)" ""
	DEBUGINFOD_URLS=$url/good
	is "$s: so a right one is taken later" "$(names --debuginfod)" "$right"
done

# ---- dwz's common file has a build-id of its own ----
echo 'struct shared { int a, b; long c[3]; struct { char *d; short e; } f; }; struct other { struct shared g[4]; void *h; };' > "$tmp/s.h"
for p in 1 2; do
	printf '#include "s.h"\nstruct other both = { { { %s } } };\nint main(void) { return both.g[1].a; }\n' $p > "$tmp/s$p.c"
done
if have dwz && build "dwz" sh -c "$CC -O0 -g -gdwarf-4 -Wl,--build-id=sha1 s1.c -o s1 && $CC -O0 -g -gdwarf-4 -Wl,--build-id=sha1 s2.c -o s2 && dwz -m common -M ../gone/common s1 s2" &&
	readelf -SW "$tmp/s1" | grep -q gnu_debugaltlink; then
	both=$(nm "$tmp/s1" | sed -n 's/^\([0-9a-f]*\) . both$/0x\1/p')
	# the program's own debug file, and the common one, are the server's alone
	objcopy --only-keep-debug "$tmp/s1" "$tmp/s1.debug"
	strip -s "$tmp/s1"
	mkdir -p "$tmp/files"
	for f in s1.debug common; do
		mv "$tmp/$f" "$tmp/files/$(readelf -n "$tmp/$f" | sed -n 's/.*Build ID: //p')"
	done
	fresh files
	is "asked for by its own build-id" "$(timeout 60 "$HOTVAR" sym --debuginfod -e "$tmp/s1" "$(printf '%#x' $((both + 52)))" 2>&1 | awk '{ print $2 }'), $(asked)" 'both.g[1].b, 2'
else
	skip "dwz's common file" "no dwz here, or nothing in common"
fi

# ---- servers that do not help ----
fresh missing
is "404: no name" "$(names --debuginfod)" "$none"
is "404: nothing is said" "$(cat "$tmp/err")" ""
names -v --debuginfod > /dev/null
like "404: but with -v" "$(cat "$tmp/err")" "^hotvar: going on without the debug file of '$tmp/v' from debuginfod: no server has it"
is "404: not asked again for a while" "$(names --debuginfod), $(asked)" "$none, 1"
DEBUGINFOD_TIMEOUT=x DEBUGINFOD_MAXSIZE=1e9 names --debuginfod > /dev/null
is "numbers that are none are said to be none" "$(sed 's/, which.*taken for \([0-9]*\);.*/: \1/' "$tmp/err")" "hotvar: DEBUGINFOD_TIMEOUT is 'x': 10
hotvar: DEBUGINFOD_MAXSIZE is '1e9': 2147483648"
fresh silent
cp "$tmp/o" "$tmp/o2" && strip -s "$tmp/o2"
DEBUGINFOD_TIMEOUT=1 timeout 60 "$HOTVAR" symbols --debuginfod "$tmp/v" "$tmp/o2" > "$tmp/got" 2> "$tmp/err"
is "silent: it goes on without" "$? $(grep -c 'symbols   ' "$tmp/got")" "1 2"
is "silent: that is said once, since it is asked once" "$(grep -c 'no answer in time' "$tmp/err") $(asked)" "1 1"
fresh endless
is "endless: no name" "$(DEBUGINFOD_MAXSIZE=1000000 names --debuginfod)" "$none"
like "endless: it is said" "$(cat "$tmp/err")" 'it is larger than 2 GiB, or than DEBUGINFOD_MAXSIZE says'
is "endless: nothing is left of it" "$(find "$tmp/cache/debuginfod_client" -type f -size +0 -name 'debuginfo*')" ""
fresh nobody
DEBUGINFOD_URLS=http://127.0.0.1:1/
is "nobody there: no name" "$(names --debuginfod)" "$none"
like "nobody there: it is said" "$(cat "$tmp/err")" "^hotvar: going on without the debug file of '$tmp/v' from debuginfod: .*; check the servers in DEBUGINFOD_URLS"

# ---- ^C ----
fresh silent
env --default-signal=INT "$HOTVAR" sym --debuginfod -e "$tmp/v" "$at" > "$tmp/got" 2> "$tmp/err" &
job=$!
until_true 20 test -s "$tmp/asked"
kill -INT "$job"
wait "$job"
like "^C skips the question, not the answer" "$(cat "$tmp/got")" "^0x[0-9a-f]*  v:\\.bss"
like "and that is said" "$(cat "$tmp/err")" "going on without the debug file of '$tmp/v' from debuginfod: skipped by \\^C\$"

# ---- progress, for a terminal alone ----
if have script; then
	fresh slow
	rm -f "$tmp/go"
	script -qefc "'$HOTVAR' sym --debuginfod -e '$tmp/v' $at" /dev/null > "$tmp/terminal" < /dev/null 2>&1 &
	job=$!
	until_true 20 grep -q 'of [0-9.]* MB' "$tmp/terminal"
	: > "$tmp/go"
	wait $job
	like "a terminal is shown how far it is" "$(tr '\r' '\n' < "$tmp/terminal")" 'hotvar: debuginfod: debug file of v: 0\.0 of 0\.0 MB \(\^C skips\)'
	like "and then the name" "$(tr '\r' '\n' < "$tmp/terminal")" "^(.*K)?$(printf '%#x' $at)  hot_static\\[0\\]  bss"
else
	skip "progress" "no script(1) here"
fi

done_testing
