# SPDX-License-Identifier: GPL-2.0-or-later
# guest.sh - a reader of stapio's that is held up for longer than stapio waits with what others have read; a buffer that is full.
# lossy
run order order /srv/order/order
begin_run full
staprun -b 1 -o "$OUT/events" -c "/srv/order/order full" full.ko > "$OUT/stdout" 2> "$OUT/stderr"
end_run full $?
