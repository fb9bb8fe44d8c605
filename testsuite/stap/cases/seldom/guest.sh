# SPDX-License-Identifier: GPL-2.0-or-later
# guest.sh - what programs hardly ever do, and images whose directory is made while the script runs.
# needs: maps
run alone maps/events "/srv/seldom/seldom unknown 0"
run unknown maps/events "/srv/seldom/seldom unknown 3"
run renamed maps/events "/srv/seldom/seldom renamed"
run exec maps/events "/srv/seldom/seldom exec"
run exits maps/events "/srv/seldom/seldom exits 8"
run grow maps/events "/srv/seldom/seldom grow 8 800"
run wide maps/events "/srv/seldom/seldom wide"
run merged maps/events "/srv/seldom/seldom merged"

images=/var/cache/hotvar
mv $images /tmp/images
start late late -c "/srv/seldom/late /tmp/enough"
until_true 60 grep -q '^NM late+0x' "$OUT/events"
echo $? > "$OUT/nameless"
mkdir -p $images
chmod 755 $images
cp /tmp/images/* $images
until_true 60 grep -q '^NM late_variable' "$OUT/events"
echo $? > "$OUT/named"
: > /tmp/enough
wait $staprun
end_run late $?
rm -rf /tmp/images /tmp/enough
