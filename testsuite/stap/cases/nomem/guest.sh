# SPDX-License-Identifier: GPL-2.0-or-later
# guest.sh - no memory for the module's own records, on and on, and then there is: nothing breaks, what is lost is counted, and the list
# is right again.
for n in 1 3 7; do
	run every$n every$n /srv/nomem/nomem
	rm -f /tmp/nomem.*
done
