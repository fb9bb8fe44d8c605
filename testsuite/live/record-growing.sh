#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# record-growing - a recording is read while hotvar still writes it: what is whole of it, and that is said.
. "$top_srcdir/testsuite/lib.sh"

"$HOTVAR" record -q -o "$tmp/probe" -- true 2> "$tmp/err" || skip_all "nothing can be recorded here: $(cat "$tmp/err")"
mkfifo "$tmp/go"
"$HOTVAR" record -q -o "$tmp/rec" -- sh -c 'i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done; read -r line < "$0"; exit 5' "$tmp/go" &
hotvar=$!
has_begun() {
	"$HOTVAR" report --json -i "$tmp/rec" | grep -q '"samples":[1-9]'
}
check "samples are there before the program ends" until_true 20 has_begun
"$HOTVAR" report -i "$tmp/rec" > "$tmp/report" 2> "$tmp/err"
is "the report succeeds" $(($? <= 1)) 1
is "with nothing on stderr" "$(cat "$tmp/err")" ""
like "and says that there is more to come" "$(tr -s '\n ' ' ' < "$tmp/report")" \
	"recording '$tmp/rec' is still being written: the [0-9]+ records that it has so far are used; read it again"
unlike "nothing is said to be lost" "$(tr -s '\n ' ' ' < "$tmp/report")" "came after is lost|cut off"
"$HOTVAR" report --json -i "$tmp/rec" 2> "$tmp/err" | tail -n 1 > "$tmp/json"
like "JSON says it too" "$(cat "$tmp/json")" '"whole":false,"why":"[^"]*still being written'
"$HOTVAR" maps -i "$tmp/rec" > "$tmp/maps"
like "and maps" "$(tail -n 1 "$tmp/maps")" 'still being written'
early=$(sed -n 's/.*"samples":\([0-9]*\).*/\1/p' "$tmp/json")

echo go > "$tmp/go"
wait $hotvar
is "the one that writes is not disturbed" $? 5
"$HOTVAR" report --json -i "$tmp/rec" | tail -n 1 > "$tmp/json"
like "then the recording is whole" "$(cat "$tmp/json")" '"whole":true,"why":null'
late=$(sed -n 's/.*"samples":\([0-9]*\).*/\1/p' "$tmp/json")
check "and has no fewer samples (${early:-none}, then ${late:-none})" test "${late:-0}" -ge "${early:-1}"

# Cut off is another thing.
head -c "$(($(wc -c < "$tmp/rec") - 40))" "$tmp/rec" > "$tmp/cut"
like "one that was cut off is said to be" "$("$HOTVAR" report -i "$tmp/cut" | tr -s '\n ' ' ')" 'was cut off at byte [0-9]+.*is lost'
: > "$tmp/empty"
"$HOTVAR" report -i "$tmp/empty" 2> "$tmp/err"
is "an empty one is none" $? 125
like "and is said to be empty" "$(cat "$tmp/err")" 'is empty'
exec 9<> "$tmp/empty"
flock -x 9
"$HOTVAR" report -i "$tmp/empty" 2> "$tmp/err"
like "one that has just been begun is told apart" "$(cat "$tmp/err")" 'just been begun'
done_testing
