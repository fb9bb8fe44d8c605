# SPDX-License-Identifier: GPL-2.0-or-later
# guest.sh - README's one-liners, on the command that each names.
for f in [0-9][0-9].sh; do
	n=${f%.sh}
	run "$n" "one$n" "$(cat "one$n.cmd")"
done
