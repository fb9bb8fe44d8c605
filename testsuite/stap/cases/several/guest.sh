# SPDX-License-Identifier: GPL-2.0-or-later
# guest.sh - two programs of three are followed, each in two processes at once.
start several several
/srv/several/one > $OUT/one &
a=$!
/srv/several/one > $OUT/one.again &
b=$!
/srv/several/two > $OUT/two &
c=$!
/srv/several/two > $OUT/two.again &
d=$!
/srv/several/three > $OUT/three
wait $a $b $c $d
finish
