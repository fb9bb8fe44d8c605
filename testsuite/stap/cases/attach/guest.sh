# SPDX-License-Identifier: GPL-2.0-or-later
# guest.sh - staprun -x: a process that runs already, with threads that map while it is attached to.
# needs: maps

# attach RUN [held]
attach() {
	export OUT=/out/attach/$1
	mkdir -p $OUT
	./attach ${2-} $OUT &
	pid=$!
	until_true 300 test -e $OUT/ready
	start $1 maps/events -x $pid
	: > $OUT/go
	wait $pid
	finish
}
attach attach
for n in 1 2 3 4; do
	attach held$n held
done
