# SPDX-License-Identifier: GPL-2.0-or-later
# guest.sh - staprun -x: a process that runs already, with threads that map while it is attached to.
# needs: maps
export OUT=/out/attach/attach
mkdir -p $OUT
./attach $OUT &
pid=$!
until_true 300 test -e $OUT/ready
start attach maps/events -x $pid
: > $OUT/go
wait $pid
finish
