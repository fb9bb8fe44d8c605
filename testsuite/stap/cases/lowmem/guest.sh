# SPDX-License-Identifier: GPL-2.0-or-later
# guest.sh - memory runs out while programs map that are followed: what is lost for that is counted, and nothing worse comes of it.
# boot: 320 --oom slub_debug=FZU
# Nothing that is begun here may be killed for memory, but what offers itself: a hog.
echo -1000 > /proc/self/oom_score_adj
# No zone keeps memory for some, no processor more for itself than it must: what is free can be had.  All of it: of a zone that
# keeps some and has less, the kernel makes those who want memory wait for kswapd, which sleeps while another zone has enough.
# Nor does it begin to (watermark_boost_factor): once free memory is in small pieces, each zone keeps 2 MB that nobody may have,
# and all that offer themselves are killed for it in vain.
echo 0 > /proc/sys/vm/watermark_boost_factor
cat /proc/sys/vm/lowmem_reserve_ratio > /tmp/ratio
sed 's/[0-9][0-9]*/0/g' /tmp/ratio > /tmp/none
kept=$(cat /proc/sys/vm/min_free_kbytes)
cat /tmp/none > /proc/sys/vm/lowmem_reserve_ratio
echo 100000 > /proc/sys/vm/percpu_pagelist_high_fraction
echo 0 > /proc/sys/vm/min_free_kbytes
echo 3 > /proc/sys/vm/drop_caches
start many lowmem
./hog many > /out/lowmem/said 2>&1
finish
# And where the kernel kills for it, with what it keeps for that.
cat /tmp/ratio > /proc/sys/vm/lowmem_reserve_ratio
echo "$kept" > /proc/sys/vm/min_free_kbytes
start storm lowmem
killed() {
	dmesg | grep -c 'Out of memory: Killed'
}
before=$(killed)
./hog all &
hog=$!
for i in 1 2 3; do ./hog maps; done
# However slow it is, one is killed.
until [ "$(killed)" -gt "$before" ] || [ $i -eq 100 ]; do
	./hog maps
	i=$((i + 1))
done
killall -9 hog
wait $hog
# stap itself needs memory to end.
no_hog() {
	! pidof hog
}
until_true 300 no_hog
finish
