#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# stap - takes the place of stap in the booted kernel, which has no compiler: runs the module that is ready.
printf '%s\n' "$@" > "$OUT/argv"
for last; do :; done
[ "$last" != - ] || cat > "$OUT/script"
exec staprun -b 32 -o "$OUT/events" -c /srv/companion/plugged "/srv/companion/${MODULE-marks}.ko"
