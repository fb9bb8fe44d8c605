# SPDX-License-Identifier: GPL-2.0-or-later
# guest.sh - pages whose state is known, and every function that tells of a page.
. ./disk/swap
swap_on
run pages pages /srv/pages/pages
run alone alone /srv/pages/pages
swap_off
