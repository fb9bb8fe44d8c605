# SPDX-License-Identifier: GPL-2.0-or-later
# prepare.sh - the script that reads every variable of every probe there is.
stap -L 'vma.*' > listing
"$here/generate" probes < listing > probes.stp
