# SPDX-License-Identifier: GPL-2.0-or-later
# prepare.sh - the examples as they are.  An emulator runs one processor at a time: who waits for a
# lock of the script's must wait until the other runs again, and not skip the probe before.
for f in "$top_srcdir"/examples/*.stp; do
	sed '1a // stap: -DMAXTRYLOCK=2000000' "$f" > "${f##*/}"
done
