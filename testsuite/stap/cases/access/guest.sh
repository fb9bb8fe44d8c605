# SPDX-License-Identifier: GPL-2.0-or-later
# guest.sh - the decoder against the processor; samples of a program beside one that is not followed.
run insns64 insns /srv/access/insns64
run insns32 insns /srv/access/insns32
/srv/access/sample spin /out/access/stranger &
stranger=$!
until_true 60 test -s /out/access/stranger
run sample sample /srv/access/sample
kill -9 $stranger
wait $stranger 2> /dev/null || true
run hostile hostile "/srv/access/hostile /srv/access/insns32"
# The whole machine, kernel threads and all.
start everybody hostile
/srv/access/hostile /srv/access/insns32 > "$OUT/program"
finish
run nodecoder nodecoder "/srv/access/insns32"
