# SPDX-License-Identifier: GPL-2.0-or-later
# guest.sh - samples and names are asked for in NMIs, which come into everything, the timer's samples and the looks among it.
insmod ./nmisend.ko
run nmi nmi /srv/nmi/nmi
rmmod nmisend
