# SPDX-License-Identifier: GPL-2.0-or-later
# guest.sh - memory runs out while programs map that are followed: what is lost for that is counted, and nothing worse comes of it.
# by name only: whom the kernel kills, and whether an allocation fails before that, is chance; nomem makes them fail in turn
# boot: 320 --oom slub_debug=FZU
echo 64 > /proc/sys/vm/min_free_kbytes
start many lowmem
echo -1000 > /proc/$staprun/oom_score_adj
./hog many > /out/lowmem/said 2>&1
finish
# And where the kernel kills for it.
start storm lowmem
echo -1000 > /proc/$staprun/oom_score_adj
./hog all &
hog=$!
echo -1000 > /proc/$hog/oom_score_adj
for i in 1 2 3; do ./hog maps; done
killall -9 hog
wait $hog
# stap itself needs memory to end.
no_hog() {
	! pidof hog
}
until_true 300 no_hog
finish
