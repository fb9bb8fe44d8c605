# SPDX-License-Identifier: GPL-2.0-or-later
# guest.sh - every probe of the tapset.
# needs: maps
run probes probes "/srv/maps/maps forks 2"
