# SPDX-License-Identifier: GPL-2.0-or-later
# guest.sh - a 32-bit target.
# needs: maps
run bits32 maps/events /srv/bits32/maps32
