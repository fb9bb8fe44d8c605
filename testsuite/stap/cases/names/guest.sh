# SPDX-License-Identifier: GPL-2.0-or-later
# guest.sh - every function of the tapset, and addresses of a program and of a library that it loads.
run names functions /srv/names/names
