# SPDX-License-Identifier: GPL-2.0-or-later
# guest.sh - storms of forks, execs, vforks and signals, and targets that are killed.
# needs: maps
run exec maps/events "/srv/tasks/tasks exec 5"
run vfork maps/events "/srv/tasks/tasks vfork 8"
run tree maps/events "/srv/tasks/tasks tree 3"
run signals maps/events "/srv/tasks/tasks signals 12"
run killed maps/events "/srv/tasks/tasks killed 12"
# The target itself: the module goes all the same.
run suicide maps/events "/srv/tasks/tasks suicide 2"
# The whole machine: no target.
start machine maps/events
/srv/tasks/tasks tree 2 &
one=$!
/srv/tasks/tasks signals 3 > "$OUT/x" &
two=$!
/srv/tasks/tasks vfork 5
wait $one $two
finish
