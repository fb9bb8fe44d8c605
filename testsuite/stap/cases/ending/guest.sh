# SPDX-License-Identifier: GPL-2.0-or-later
# guest.sh - a module prints a megabyte when it ends, on a machine that has other things to do.
busy=
for i in 1 2 3 4; do
	sh -c 'while :; do :; done' &
	busy="$busy $!"
done
for i in 1 2 3 4 5; do run $i ending true; done
# shellcheck disable=SC2086
kill $busy
