# SPDX-License-Identifier: GPL-2.0-or-later
# guest.sh - names in probes on user functions.
run functions functions /srv/uprobes/touched
