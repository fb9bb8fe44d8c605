# SPDX-License-Identifier: GPL-2.0-or-later
# guest.sh - a module prints a megabyte when it ends, and who reads that takes none of it for three seconds.
for r in 1 2; do
	begin_run $r
	{
		staprun -b 32 -c true ending.ko 2> "$OUT/stderr"
		end_run $r $?
	} | {
		read -r begin
		sleep 3
		{
			echo "$begin"
			cat
		} > "$OUT/events"
	}
done

# The signal that the command has ended is taken by the thread of stapio's that reads what is printed.
run signalled signalled /srv/ending/signalled
