# SPDX-License-Identifier: GPL-2.0-or-later
# guest.sh - `hotvar stap -c` of a program that loads a plug-in a second later.
PATH=/srv/companion/bin:$PATH
images=/var/cache/hotvar
# The images of other cases are put back at the end.
cp -r $images /tmp/images-before

# with RUN WORDS OPTION...: until the script has printed a line that has those words
with() {
	begin_run "$1"
	run=$1 words=$2
	shift 2
	rm -f /tmp/stop
	hotvar stap "$@" -c /srv/companion/plugged marks.stp > "$OUT/stdout" 2> "$OUT/stderr" &
	pid=$!
	until_true 300 grep -q "$words" "$OUT/events"
	# a dozen more lines: what is named stays so
	n=$(wc -l < "$OUT/events")
	until_true 60 sh -c "test \$(wc -l < $OUT/events) -gt $((n + 12))"
	ps > "$OUT/ps"
	: > /tmp/stop
	wait $pid
	end_run "$run" $?
	# the companion ends with stap
	until_true 20 sh -c '! ps | grep -q "[h]otvar-images"'
	ps > "$OUT/ps-after"
	ls -la $images > "$OUT/images"
}
with without 'libplugged.so+0x' --no-images
with companion plug_hidden -v
with again plug_hidden
MODULE=by_hotvar
export MODULE
with by_hotvar plug_hidden
unset MODULE

# Copies of the plug-in, of which no image is there yet, come and go.
mkdir -p /tmp/storm
rm -f $images/*
for n in 1 2 3 4 5 6 7 8; do cp libplugged.so /tmp/storm/lib$n.so; done
begin_run storm
export STORM=/tmp/storm
hotvar stap -v -c /srv/companion/plugged marks.stp > "$OUT/stdout" 2> "$OUT/stderr"
end_run storm $?
unset STORM
until_true 20 sh -c '! ps | grep -q "[h]otvar-images"'
ps > "$OUT/ps-after"
ls -la $images > "$OUT/images"
rm -rf /tmp/storm

chmod 777 $images
with refused 'libplugged.so+0x'
chmod 755 $images

# A script on standard input, which hotvar has read before stap does; the program ends at once.
begin_run stdin
: > /tmp/stop
rm -f $images/*
hotvar stap -c /srv/companion/plugged - < marks.stp > "$OUT/stdout" 2> "$OUT/stderr"
end_run stdin $?
ls $images > "$OUT/images"
rm -f $images/*
cp /tmp/images-before/* $images/ 2> /dev/null
rm -rf /tmp/images-before
