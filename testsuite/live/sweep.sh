#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# sweep - some of the system's ELF files, symbol by symbol, against readelf; `make check-sweep` takes them all.
. "$top_srcdir/testsuite/lib.sh"
export XDG_CACHE_HOME="$tmp/cache"
mkdir "$XDG_CACHE_HOME"

for need in readelf python3; do
	command -v $need > /dev/null || skip_all "no $need here"
done
said=$(python3 "$top_srcdir/testsuite/sweep/sweep.py" "$HOTVAR" -n 60 -j 2 /usr/lib /usr/bin 2>&1)
rc=$?
printf '%s\n' "$said" | sed 's/^/# /'
like "each symbol's first, middle and last byte and the one after it" "$(printf '%s\n' "$said" | tail -n 1)" ' 0 disagreements$'
is "and nothing went wrong" "$rc" 0

# A tool that is wrong in one name of the file is found.
cat > "$tmp/wrong" << END
#!/bin/sh
"$HOTVAR" "\$@" | sed '/"offset":0,/s/"symbol":"[^"]*"/"symbol":"other"/'
exit 0
END
chmod +x "$tmp/wrong"
mkdir "$tmp/one"
cp "$(readlink -f /bin/sh)" "$tmp/one/"
cp "$HOTVAR" "$tmp/one/"
unlike "a wrong name would be seen" "$(python3 "$top_srcdir/testsuite/sweep/sweep.py" "$tmp/wrong" "$tmp/one" 2>&1 | tail -n 1)" ' 0 disagreements$'

done_testing
