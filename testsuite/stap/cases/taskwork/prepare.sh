# SPDX-License-Identifier: GPL-2.0-or-later
# prepare.sh - stap's runtime with time between adding a task work and what is done next, as mended and as it was.
#
# $work/wide has both: -DUNMENDED takes the latter.  In both, a work that is done before it was counted is counted as early.
[ -f "$work/runtime/stp_task_work.c" ] || { echo "nothing is mended here"; exit 1; }
cp -r "$work/runtime" "$work/wide" || exit 1
sed -e '/^\tstp_task_work_get();$/d' \
	-e '/^\tif (rc != 0)$/{ N; s/rc != 0)\n\t\tstp_task_work_put/rc == 0)\n\t\tstp_task_work_get/; }' "$work/runtime/stp_task_work.c" > unmended.c
# But for a function's name, which is mended too where need be, that is what the root has.
diff "$root/usr/share/systemtap/runtime/stp_task_work.c" unmended.c | grep '^[<>]' | grep -v task_work_cancel && exit 1
for f in mended unmended; do
	from=unmended.c
	[ $f = unmended ] || from=$work/runtime/stp_task_work.c
	{
		echo '#include <linux/delay.h>'
		echo 'static atomic_t stp_task_work_early = ATOMIC_INIT(0);'
		sed -e 's/^\trc = task_work_add(.*/&\n\tif (task != current)\n\t\tmdelay(100);/' \
			-e 's/^\tif (atomic_dec_and_test/\tif (atomic_read(\&stp_task_work_callbacks) <= 0)\n\t\tatomic_inc(\&stp_task_work_early);\n&/' "$from"
	} > "$work/wide/$f.c"
	[ "$(grep -cE 'mdelay\(100\)|atomic_inc\(&stp_task_work_early' "$work/wide/$f.c")" -eq 2 ] || { echo "has another shape"; cat "$work/wide/$f.c"; exit 1; }
done
printf '%s\n' '#ifdef UNMENDED' '#include "unmended.c"' '#else' '#include "mended.c"' '#endif' > "$work/wide/stp_task_work.c"
rm unmended.c
# stap tries out the kernel anew for a runtime whose folders are younger.
for d in . transport unwind linux; do touch -r "$work/runtime/$d" "$work/wide/$d"; done

"$lab/enter" "$root" "$work" sh -c 'cd /srv/taskwork && gcc -O2 -g -I/mnt/programs -o busy busy.c && cp busy other' || exit 1
release=$(cd "$root/lib/modules" && ls -d -- *-amd64 | sort -V | tail -n 1)
for m in mended unmended; do
	word=-DMENDED
	[ $m = mended ] || word=-DUNMENDED
	# Under the name of the other copy, for which stap has tried out the kernel already.
	"$lab/enter" "$root" "$work" sh -c 'mount --bind /mnt/wide /mnt/runtime && exec "$@"' with \
		stap -r "$release" -R /mnt/runtime -g -p4 -DSTP_NO_OVERLOAD $word -m $m /srv/taskwork/count.txt || exit 1
	mv "$work/$m.ko" .
done
