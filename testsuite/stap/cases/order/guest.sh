# SPDX-License-Identifier: GPL-2.0-or-later
# guest.sh - a reader of stapio's that is held up for longer than stapio waits with what others have read.
run order order /srv/order/order
