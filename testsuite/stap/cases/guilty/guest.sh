# SPDX-License-Identifier: GPL-2.0-or-later
# guest.sh - a module that does what none may do: that the lab finds it is the test.
# boot: 512 --guilty slub_debug=FZU
run guilty guilty true
