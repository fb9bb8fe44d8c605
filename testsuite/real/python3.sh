# SPDX-License-Identifier: GPL-2.0-or-later
# python3.sh - a stripped program as the distribution ships it: its exported variables are still named.
#
# What names there are to find is read from the file's .dynsym by readelf.
. "$top_srcdir/testsuite/lib.sh"

python=/usr/bin/python3
[ -x $python ] || {
	not_ok "there is a $python to look at" "apt-get install python3-minimal, or run ./quickstart check"
	done_testing
	exit 1
}

out=$("$HOTVAR" -q --json -o "$tmp/report" -- $python "$top_srcdir/examples/words.py" 4 2> "$tmp/err")
is "exit status is the script's" $? 0
is "its output is its own" "$out" "977 words, the most frequent: 100 101 102"
is "nothing else is said" "$(cat "$tmp/err")" ""

cat > "$tmp/named.py" <<'EOF'
import json, os, subprocess, sys
rows = [r for r in map(json.loads, open(sys.argv[1])) if r["type"] == "variable" and r["symbol"]]
exported = {}
for r in rows:
    m = r["module"]
    if m not in exported:
        out = subprocess.run(["readelf", "--dyn-syms", "-W", m], check=True, capture_output=True, text=True).stdout
        exported[m] = {f[7].split("@")[0] for f in map(str.split, out.splitlines()) if len(f) >= 8}
    known = r["symbol"].split("@")[0] in exported[m]
    print(r["rank"], r["symbol"], r["kind"], os.path.basename(m), "exported" if known else "unknown", "%.4f" % r["share"])
EOF
if $python "$tmp/named.py" "$tmp/report" > "$tmp/named" 2> "$tmp/named.err"; then
	ok "the report can be read"
	named=$(head -n 25 "$tmp/named")
	like "_PyRuntime is among the 25 hottest named variables" "$named" '^[0-9]+ _PyRuntime (bss|data) (python3|libpython3)[^ ]* exported'
	like "so is a type object" "$named" '^[0-9]+ (Py|_Py)[A-Za-z]+_Type (data|bss) (python3|libpython3)[^ ]* exported'
	unlike "no name of python's own is one that readelf does not have" "$(cat "$tmp/named")" ' (python3|libpython3)[^ ]* unknown'
else
	not_ok "the report can be read" "$(cat "$tmp/named.err")" "$(head -c 2000 "$tmp/report")"
fi
done_testing
