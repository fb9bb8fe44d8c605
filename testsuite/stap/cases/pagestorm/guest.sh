# SPDX-License-Identifier: GPL-2.0-or-later
# guest.sh - page tables change under the walk, and huge pages of 1 GB, with four levels; what is freed is poisoned.
# needs: pages
# boot: 2600 no5lvl slub_debug=FZU page_poison=1 hugepagesz=1G hugepages=1 hugepagesz=2M
. /srv/pages/disk/swap
swap_on
run levels4 pages/pages /srv/pages/pages

echo 0 > /proc/sys/vm/nr_hugepages
echo 3 > /proc/sys/vm/nr_overcommit_hugepages
cd /sys/kernel/mm
echo always > transparent_hugepage/enabled
echo 1 > transparent_hugepage/khugepaged/scan_sleep_millisecs
echo 1 > transparent_hugepage/khugepaged/alloc_sleep_millisecs
echo 8192 > transparent_hugepage/khugepaged/pages_to_scan
[ ! -f ksm/run ] || { echo 1 > ksm/run; echo 5 > ksm/sleep_millisecs; }
cd /srv/pagestorm
# Pages are moved about, and taken away.
while true; do
	echo 1 > /proc/sys/vm/compact_memory
	echo 1 > /proc/sys/vm/drop_caches
	usleep 200000
done &
mover=$!
insmod ./pagenmi.ko
run storm storm "/srv/pagestorm/storm 20 2 4"
(cd /sys/module/pagenmi/parameters && grep . *) > "/out/$case/nmi"
rmmod pagenmi
run keys keys "/srv/pagestorm/storm 10 2 3"
kill $mover
wait $mover 2> /dev/null
[ ! -f /sys/kernel/mm/ksm/run ] || echo 2 > /sys/kernel/mm/ksm/run
grep -E '^(thp_(fault|collapse_alloc |split_p|zero)|pgmigrate_s|pswp|numa_pte|compact_su|ksm)' /proc/vmstat > "/out/$case/vmstat"
swap_off
