# SPDX-License-Identifier: GPL-2.0-or-later
# guest.sh - faults of a program that knows them.
run fault fault /srv/fault/fault
run lost lost /srv/fault/fault
