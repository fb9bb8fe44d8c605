# SPDX-License-Identifier: GPL-2.0-or-later
# prepare.sh - README's one-liners, each compiled by the very line that stands there, with the tapset installed and no -I.
#
# The lines are run in the root, where `stap`, and `hotvar stap`, is a script that compiles only, and keeps the command of
# -c for the booted kernel.

# The block after the mark, one command a file: 01, 02, ...; its title is the comment before it.
awk '
	/^<!-- one-liners -->$/ { marked = 1; next }
	/^```/ { on = marked && !on; if (!on) marked = 0; next }
	on && /^# / { out = sprintf("%02d.sh", ++n) }
	on && NF { print > out }' "$top_srcdir/README.md"
[ "$(ls [0-9][0-9].sh | grep -c .)" -eq 10 ] || { echo "README has not ten one-liners: $(ls)"; exit 1; }

# ---- the tapset, installed ---------------------------------------------------------------------------------

# The runtime as the root sees it in /mnt/usr; a copy of the root's own tapsets that has ours too is mounted over those.
make -C "$top_builddir" -s -o hotvar -o config.status install DESTDIR="$work/installed" prefix=/usr datadir=/mnt/usr \
	tapsetdir=/usr/share/systemtap/tapset mandir=/man docdir=/doc || exit 1
rm -rf "$work/usr"
mv "$work/installed/mnt/usr" "$work/usr" || exit 1
cp -r "$root/usr/share/systemtap/tapset" "$work/plain" || exit 1
cp -r "$work/plain" "$work/both" || exit 1
for f in "$work"/installed/usr/share/systemtap/tapset/*; do
	[ ! -e "$work/plain/${f##*/}" ] || { echo "stap has a tapset of the name ${f##*/} itself"; exit 1; }
	cp "$f" "$work/both/"
done

k=$(cd "$root/lib/modules" && ls -d -- *-amd64 | sort -V | tail -n 1)
mended=
[ ! -d "$work/runtime" ] || mended='-R /mnt/runtime'
# with TAPSET COMMAND...: in the root, with that folder as its tapsets
with() {
	t=$1
	shift
	"$lab/enter" "$root" "$work" sh -c 't=$1; shift; mount --bind "/mnt/$t" /usr/share/systemtap/tapset && exec "$@"' with "$t" "$@"
}

# ---- other people's scripts are as before ----------------------------------------------------------------------

# Names of ours are nobody else's; private ones too.
declared() {
	grep -rhoE '^[ \t]*(private[ \t]+)?(function[ \t]+[a-zA-Z_0-9]+|@define[ \t]+[a-zA-Z_0-9]+|probe[ \t]+[a-zA-Z_.0-9]+[ \t]*\+?=)' "$@" |
		awk '{ sub(/^[ \t]*(private[ \t]+)?/, ""); sub(/[ \t]*\+?=$/, ""); print $1, $2 }' | sort -u
}
declared "$work/installed/usr/share/systemtap/tapset" > ours
[ "$(grep -c . ours)" -gt 40 ] || { echo "what does the tapset declare? $(cat ours)"; exit 1; }
declared "$work/plain" > theirs
[ "$(grep -c . theirs)" -gt 1000 ] || { echo "what do others declare?"; exit 1; }
both=$(comm -12 ours theirs)
[ -z "$both" ] || { echo "declared by others too: $both"; exit 1; }

# A script that does not use it becomes the same program, to the byte, and nothing is said.
for t in plain both; do
	with $t stap -r "$k" -p3 -e 'probe begin { printf("%s %d\n", execname(), pid()) exit() } probe timer.s(1), end { println(tz_gmtoff()) }' > $t.program 2> $t.err ||
		{ cat $t.err; exit 1; }
	# The names of temporary files, and the numbers of probes among all that were read.
	sed -i "s/stap_[0-9a-f_]*//g; s,/mnt/stap[A-Za-z0-9]*,,g; s/probe_[0-9]*/probe/g" $t.program
done
[ "$(grep -c . plain.program)" -gt 100 ] || { echo "no program: $(cat plain.err)"; exit 1; }
cmp plain.program both.program || exit 1
cmp plain.err both.err || { diff plain.err both.err; exit 1; }

# Each probe is listed, by plain stap.
with both stap -r "$k" -L 'vma.*' > listed 2> listed.err || { cat listed.err; exit 1; }
sed -n 's/^probe \(vma\.[a-z_.]*\) =.*/\1/p' "$work"/installed/usr/share/systemtap/tapset/*.stp | sort > probes
cut -d ' ' -f 1 listed | sort | diff probes - || { echo "above: < what the tapset has, > what stap -L lists"; exit 1; }
# And each variable that is listed has its description, and no other.
while read -r p vars; do
	for v in $vars; do
		case $v in
		__* | \$*) ;;
		*) echo "$p ${v%%:*}" ;;
		esac
	done
done < listed | sort > variables
for p in $(cat probes); do
	awk -v p="$p" '/^\.SH/ { on = $0 == ".SH VALUES" } on && sub(/^\\fI/, "") { sub(/\\fR.*/, ""); print p, $0 }' "$work/installed/man/man3/probe::$p.3stap"
done | sort | diff variables - || { echo "above: < what stap -L lists, > what the reference describes"; exit 1; }

# ---- compile -------------------------------------------------------------------------------------------------------

"$lab/enter" "$root" "$work" sh -c 'cd /srv/oneliners && gcc -O2 -g -pthread -I/mnt/programs -o app app.c' || exit 1
cp "$top_srcdir/examples/cache.c" . || exit 1
"$lab/enter" "$root" "$work" sh -c 'cd /srv/oneliners && gcc -O2 -g -o cache cache.c' || exit 1
mkdir -p "$work/bin"
cat > "$work/bin/stap" <<END
#!/bin/sh
# The command of -c, for later; an emulator is slow, so what is spent in probes does not end the script.
for a in "\$@"; do
	[ "\${before-}" != -c ] || printf '%s\n' "\$a" > \$MODULE.cmd
	before=\$a
done
exec /usr/bin/stap -r $k $mended -p4 -DSTP_NO_OVERLOAD -m \$MODULE "\$@"
END
printf '%s\n' '#!/bin/sh' '[ "$1" = stap ] || exit 2' 'shift' 'exec stap "$@"' > "$work/bin/hotvar"
chmod +x "$work/bin/stap" "$work/bin/hotvar"
for f in [0-9][0-9].sh; do
	n=${f%.sh}
	with both sh -c "cd /srv/oneliners && PATH=/mnt/bin:\$PATH MODULE=one$n && export PATH MODULE && . ./$f" > "$n.said" 2>&1 ||
		{ cat "$f" "$n.said"; exit 1; }
	[ -f "one$n.ko" ] && [ -f "one$n.cmd" ] || { echo "neither module nor command:"; cat "$f" "$n.said"; exit 1; }
done
