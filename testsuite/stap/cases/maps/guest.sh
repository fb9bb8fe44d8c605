# SPDX-License-Identifier: GPL-2.0-or-later
# guest.sh - every way of changing a map, processes, threads, tens of thousands of areas.
# needs: names
run ops events "/srv/maps/maps ops"
run forks events "/srv/maps/maps forks 9"
run threads events "/srv/maps/maps threads 64 60"
run many events "/srv/maps/maps many 30000 200"
