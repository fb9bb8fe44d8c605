# SPDX-License-Identifier: GPL-2.0-or-later
# guest.sh - a module for an unprivileged user: here root is one, and user 1000 is the other.
cp own /tmp/others
chown 1000 /tmp/others
chmod 4755 /tmp/others
start machine own
/srv/unprivileged/own /tmp/others > "$OUT/programs"
finish
run child own "/srv/unprivileged/own /tmp/others"
rm /tmp/others
