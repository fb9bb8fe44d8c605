#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# stap - "hotvar stap": what stap is given, what becomes of its status and files, and what is said when it cannot run.
#
# The stap here is a script that writes down how it was called: the real one is judged in testsuite/stap.
. "$top_srcdir/testsuite/lib.sh"

export XDG_CACHE_HOME="$tmp/cache" HOME="$tmp" HOTVAR_FAKE="$tmp/fake"
unset SYSTEMTAP_DIR SYSTEMTAP_TAPSET SYSTEMTAP_RUNTIME XDG_DATA_DIRS POSIXLY_CORRECT LD_LIBRARY_PATH LD_PRELOAD
umask 022
me=$(id -u)

# A hotvar with a tapset of its own beside it, and a stap with a runtime of its own.
mkdir -p "$tmp/here/tapset" "$tmp/usr/bin" "$tmp/usr/share/systemtap/runtime" "$HOTVAR_FAKE"
cp "$HOTVAR" "$tmp/here/hotvar"
hv=$tmp/here/hotvar
images=$tmp/images
printf '#define HVK_IMAGE_DIR "%s"\n' "$images" > "$tmp/here/tapset/vma_runtime.stp"
cat > "$tmp/usr/bin/stap" <<'END'
#!/bin/sh
printf '%s\n' "$@" > "$HOTVAR_FAKE/argv"
[ ! -f "$HOTVAR_FAKE/do" ] || . "$HOTVAR_FAKE/do"
END
chmod 755 "$tmp/usr/bin/stap"
PATH=$tmp/usr/bin:$PATH
path=$PATH
cd "$tmp" || exit 1

# run OPTION...: status in $rc, what was said in $said, how stap was called in $argv
run() {
	rm -f "$HOTVAR_FAKE/argv"
	PATH=$path "$hv" stap "$@" > "$tmp/out" 2> "$tmp/said"
	rc=$?
	said=$(cat "$tmp/said")
	argv=$(cat "$HOTVAR_FAKE/argv" 2> /dev/null | tr '\n' '|')
}
here="-I|$tmp/here/tapset|"

# ---- words ---------------------------------------------------------------------------------------

run -p1 -e 'probe begin { print("a b") }' -D X=1 one 'two words' -- -x
is "stap gets each word as it was" "$argv" "$here-p1|-e|probe begin { print(\"a b\") }|-D|X=1|one|two words|--|-x|"
is "nothing is said when nothing runs" "$said" ""
run -L 'vma.*'
is "-L is for stap" "$argv" "$here-L|vma.*|"
run --also /bin/ls -p4 --all --no-images -m name x.stp
is "our own options are not" "$argv" "$here-p4|-m|name|x.stp|"
run -V
is "-V is stap's, without a tapset" "$argv" "-V|"
run
is "no words at all are stap's to refuse" "$argv" "$(printf %s "$here" | tr -d '\n')"
run --also
is "--also without a file: status" "$rc" 2
is "stap is not run then" "$argv" ""
like "it is said" "$said" "^hotvar: option '--also' needs a program or library: "
run --all=1 x.stp
is "--all with an argument: status" "$rc" 2
run --help
is "--help: status" "$rc" 0
like "--help shows ours" "$(cat "$tmp/out")" '^      --also FILE'
is "and asks stap for its own" "$argv" "--help|"

# What --help shows is in the man page, and nothing else under OPTIONS there.
man=$top_srcdir/doc/hotvar-stap.1
grep -oE -- '--[a-z][a-z-]*' out | sort -u > shown
sed -n '/^\.SH OPTIONS/,/^\.SH IMAGES/p' "$man" | sed 's/\\-/-/g' | grep -E '^\.B[IR]? ' | grep -oE -- '--[a-z][a-z-]*' | sort -u > documented
is "the man page has the same options" "$(diff shown documented)" ""
if command -v man > /dev/null && command -v groff > /dev/null; then
	is "man has nothing to say about it" "$(LC_ALL=C.UTF-8 MANROFFSEQ='' MANWIDTH=80 man --warnings -l "$man" 2>&1 > /dev/null)" ""
fi

# ---- status, signals, files -------------------------------------------------------------------------

for n in 0 1 77 255; do
	echo "exit $n" > "$HOTVAR_FAKE/do"
	run -p1 x.stp
	is "exit status $n is stap's" "$rc" "$n"
done
for s in 2 9 11 15; do
	echo "kill -$s \$\$" > "$HOTVAR_FAKE/do"
	sh -c '"$1" stap -p1 x.stp; exit $?' sh "$hv" > "$tmp/out" 2>&1
	is "a signal that ends stap ends hotvar: $s" "$?" "$((128 + s))"
done
# It is the same process, so there is nobody to hand signals on.
echo 'echo $$' > "$HOTVAR_FAKE/do"
sh -c 'echo $$; exec "$1" stap -p1 x.stp' sh "$hv" > "$tmp/out"
is "hotvar becomes stap" "$(sed -n 1p "$tmp/out")" "$(sed -n 2p "$tmp/out")"
echo 'cat; echo err >&2' > "$HOTVAR_FAKE/do"
echo input | "$hv" stap -p1 x.stp > "$tmp/out" 2> "$tmp/said"
is "standard input is stap's" "$(cat "$tmp/out")" input
is "and standard error" "$(cat "$tmp/said")" err
rm "$HOTVAR_FAKE/do"

# ---- the tapset ---------------------------------------------------------------------------------------

mv here/tapset away
SYSTEMTAP_TAPSET=$tmp/none run -p1 x.stp
if [ $rc -ne 0 ]; then
	is "no tapset: status" "$rc" 125
	like "no tapset: it is said" "$said" "^hotvar: cannot find the vma tapset: it is not in '.*': run 'make'"
	is "stap is not run then" "$argv" ""
else
	like "an installed tapset is found" "$argv" '^-I\|/|^-p1'
fi
run --version
is "but --version needs none" "$rc" 0
mv away here/tapset
mkdir -p usr/share/systemtap/tapset
run -p1 x.stp
is "a folder of stap's own without it" "$argv" "$here-p1|x.stp|"
echo '#define HVK_IMAGE_DIR "/other"' > usr/share/systemtap/tapset/vma_runtime.stp
run -p1 x.stp
is "an installed tapset is not named again" "$argv" "-p1|x.stp|"
like "another that is not used is said" "$said" "^hotvar: the tapset in '$tmp/usr/share/systemtap/tapset' is used, not that in '$tmp/here/tapset'"
run -w -p1 x.stp
is "but not with -w" "$said" ""
rm -r usr/share/systemtap/tapset
ln -s "$tmp/here/tapset" usr/share/systemtap/tapset
run -p1 x.stp
is "the same in two places is one" "$argv$said" "-p1|x.stp|"
rm usr/share/systemtap/tapset
XDG_DATA_DIRS=/none:$tmp/xdg
export XDG_DATA_DIRS
mkdir -p xdg/systemtap
ln -s "$tmp/here/tapset" xdg/systemtap/tapset
run -p1 x.stp
is "XDG_DATA_DIRS are stap's folders too" "$argv$said" "-p1|x.stp|"
unset XDG_DATA_DIRS
run -I "$tmp/here/tapset" -p1 x.stp
is "what the user names is not named twice" "$argv$said" "-I|$tmp/here/tapset|-p1|x.stp|"

# ---- a runtime that does not fit ---------------------------------------------------------------------

# As Debian 12 has it: stap 4.8 and Linux 6.1.
mkdir -p k/include/linux k/include/config
echo 'struct callback_head *task_work_cancel_func(struct task_struct *, task_work_func_t);' > k/include/linux/task_work.h
echo 'all:' > k/Makefile
rt=usr/share/systemtap/runtime
echo 'typeof(&task_work_cancel) kallsyms_lookup_name("task_work_cancel")' > $rt/stp_task_work.c
run -r "$tmp/k" -p4 x.stp
like "a mended copy is named" "$argv" "^-I\|$tmp/here/tapset\|-R\|$tmp/cache/hotvar/stap-runtime-[0-9a-f]{16}\|-r\|$tmp/k\|-p4\|x.stp\|\$"
copy=$(printf %s "$argv" | cut -d '|' -f 4)
is "it is mended" "$(cat "$copy/stp_task_work.c")" 'typeof(&task_work_cancel_func) kallsyms_lookup_name("task_work_cancel_func")'
like "it is said" "$said" "^hotvar: stap's runtime is at fault here: using a copy with task_work_cancel_func in stp_task_work.c mended, $copy\$"
is "in one line" "$(wc -l < "$tmp/said")" 1
run -r "$tmp/k" -p4 x.stp
is "the next time it is there" "$(printf %s "$argv" | cut -d '|' -f 4)" "$copy"
run -r "$tmp/k" -p4 -R /my x.stp
is "the user's own -R is left alone" "$argv" "$here-r|$tmp/k|-p4|-R|/my|x.stp|"
mkdir .systemtap
echo '-R /mine' > .systemtap/rc
run -r "$tmp/k" -p4 x.stp
is "one in stap's rc file, too" "$argv" "$here-r|$tmp/k|-p4|x.stp|"
rm -r .systemtap
for o in -p2 --dyninst --use-server -Lx --version; do
	run -r "$tmp/k" $o x.stp
	unlike "none is made for $o" "$argv" 'stap-runtime'
done
echo 'struct callback_head *task_work_cancel(struct task_struct *, task_work_func_t);' > k/include/linux/task_work.h
run -r "$tmp/k" -p4 x.stp
is "none is needed where it fits" "$argv$said" "$here-r|$tmp/k|-p4|x.stp|"

# ---- why it will not run -----------------------------------------------------------------------------

# Which of the reasons is the first depends on this machine; each is one line, and stap is run all the same.
: > x.stp
run -e 'probe begin { exit() }'
is "stap is run all the same" "$argv" "$here-e|probe begin { exit() }|"
unlike "no more than one reason" "$(sed 1d "$tmp/said")" 'stap will not run this'
[ ! -e /proc/modules ] && like "a kernel that loads no modules" "$said" "^hotvar: stap will not run this: this kernel, $(uname -r), loads no modules: hotvar itself needs none: hotvar -- CMD"
if [ -e /proc/modules ] && [ "$me" -eq 0 ] && [ ! -e "/lib/modules/$(uname -r)/build/Makefile" ]; then
	like "no headers" "$said" "the headers of kernel $(uname -r) are not installed .*: (apt-get install linux-headers-$(uname -r)|give its build tree by -r DIR)"
fi
run -r 1.2.3-1-amd64 -p4 -e 'probe begin { exit() }'
is "a kernel that is not here" "$said" "hotvar: stap will not run this: the headers of kernel 1.2.3-1-amd64 are not installed (no /lib/modules/1.2.3-1-amd64/build): apt-get install linux-headers-1.2.3-1-amd64"
run -r 1.2.3-none -p4 -e 'probe begin { exit() }'
is "a kernel of nobody's package" "$said" "hotvar: stap will not run this: the headers of kernel 1.2.3-none are not installed (no /lib/modules/1.2.3-none/build): give its build tree by -r DIR, or boot a kernel whose headers are a package: apt-get install linux-image-amd64 linux-headers-amd64"
run -r 1.2.3-none -p1 -e 'probe begin { exit() }'
is "nobody needs them to parse" "$said" ""
run -r "$tmp/none" -p2 -e 'probe begin { exit() }'
like "no build tree" "$said" "^hotvar: stap will not run this: -r $tmp/none is no build tree of a kernel: "
run -r "$tmp/k" -e 'probe begin { exit() }'
is "for another kernel nothing runs here" "$said" ""
run --remote=host -e 'probe begin {}'
like "--remote: who makes images there" "$said" "^hotvar: no symbol images for --remote: make them there: hotvar stap --also PROGRAM\$"

path=$tmp/none
run x.stp
is "no stap: status" "$rc" 127
like "no stap: what to do" "$said" "^hotvar: cannot run stap: it is not installed, or not in PATH: apt-get install systemtap"
run --help
is "no stap: our help is there" "$rc" 0
path=$PATH

# ---- images ----------------------------------------------------------------------------------------------

if [ "$me" -ne 0 ]; then
	skip "images" "they are root's to make"
	done_testing
	exit 0
fi
build_id() {
	readelf -n "$1" | sed -n 's/.*Build ID: //p'
}
app=$TESTPROGS/loop
run --also "$app"
is "--also alone: status" "$rc" 0
is "stap is not run" "$argv" ""
is "the folder is made" "$(stat -c '%U %a' "$images")" "root 755"
check "there is an image of the program" test -f "$images/$(build_id "$app").img"
is "as the kernel wants it" "$(stat -c '%U %a' "$images/$(build_id "$app").img")" "root 644"
# Of its libraries as well, as ldd knows them.
ldd "$app" | grep -o '/[^ )]*' | while read -r l; do
	[ -f "$images/$(build_id "$l").img" ] || echo "$l"
done > lacking
is "and of all its libraries" "$(cat lacking)" ""
made=$(ls "$images" | grep -c .)
run --also "$app"
like "the next time they are there" "$(cat out)" " 0 made, $made there already"
img=$images/$(build_id "$app").img
for way in truncated empty noise foreign writable link; do
	cp "$img" good
	case $way in
	truncated) head -c 100 good > "$img" ;;
	empty) : > "$img" ;;
	noise) head -c 5000 /dev/urandom > "$img" ;;
	foreign) chown 1 "$img" ;;
	writable) chmod 666 "$img" ;;
	link) rm "$img" && ln -s "$tmp/good" "$img" ;;
	esac
	run --also "$app"
	like "an image that is $way is made anew" "$(cat out)" ' 1 made'
	is "it is good then: $way" "$(stat -c '%s %F %U %a' "$img")" "$(stat -c %s good) regular file root 644"
	run --also "$app"
	like "and believed: $way" "$(cat out)" ' 0 made'
done

# Which programs a command line is about, by the images that are made.
# targets TEXT PROGRAM... : OPTION...: images of each program and no more
targets() {
	text=$1
	shift
	for p in $1; do
		build_id "$(realpath "$p")"
		ldd "$p" | grep -o '/[^ )]*' | while read -r l; do build_id "$l"; done
	done | sort -u > wanted
	shift
	rm -rf "$images"
	run --images-only "$@"
	ls "$images" | sed 's/\.img//' | sort -u > have
	is "targets: $text" "$(diff wanted have)$rc" 0
}
cp "$app" "$tmp/my app"
env=$(command -v env)
cat > script.stp << END
# process("/bin/sh")
probe process("$app").begin { println(vma_symname(0)) }
END
printf '#!%s -S %s\n' "$env" "$app" > wrapper
printf '#!%s\n' "$app" > plainly
printf 'echo no interpreter\n' > text
chmod 755 wrapper plainly text
targets "-c" "$app" -c "$app 1 2" x.stp
targets "-c along PATH" "$env" -c 'env x' x.stp
targets "-c with quotes" "$app" -c "'$tmp/my app' x" x.stp
targets "-c of a wrapper that runs a program" "$env $app" -c "env A=1 $app" x.stp
targets "-c of a script" "$app" -c "$tmp/plainly" x.stp
targets "-c of a script run by env" "$env $app" -c "$tmp/wrapper" x.stp
targets "-c for a shell" "$(command -v sh) $app" -c "X=1 $app | $app > /dev/null; exit 3" x.stp
targets "a script's process()" "$app" script.stp
targets "a script of -e" "$app" -e "probe process(\"$app\").begin {}"
targets "a script's argument" "$app" -e 'probe process(@1).begin {}' "$app"
targets "-E" "$app" -E "probe process(\"$app\").begin {}" x.stp
targets "a pattern" "$app" -e "probe process(\"$TESTPROGS/loo?\").begin {}"
targets "@vma_map" "$app" -e "@vma_map(\"$app\", { println(path) })"
targets "-d" "$app" -d "$app" -d kernel x.stp
targets "--also and -c" "$env $app" --also "$app" -c env x.stp
rm -rf "$images"
echo "probe process(\"$app\").begin {}" | "$hv" stap --images-only - > out 2>&1
check "a script on standard input" test -f "$img"
targets "nothing" "" x.stp

# A process: all that it maps, what it loaded itself, too.
sleep 300 &
pid=$!
# Not the shell's: its child has that until it has executed the program.
until_true 10 sh -c 'grep -q "$2\$" /proc/$1/maps && grep -q libc /proc/$1/maps' loaded $pid "$(realpath "$(command -v sleep)")"
rm -rf "$images"
run --images-only -x $pid x.stp
grep -o ' r-xp .* /.*' /proc/$pid/maps | grep -o '/.*' | while read -r l; do
	[ -f "$images/$(build_id "$l").img" ] || echo "$l"
done > lacking
is "a process: all that it maps" "$(cat lacking)$rc" 0
rm -rf "$images"
run --images-only -e "probe process($pid).begin {}"
check "a process that a script names" test -f "$images/$(build_id "$(realpath "$(command -v sleep)")").img"
kill $pid
wait $pid 2> /dev/null
run --images-only -x $pid x.stp
like "a process that is gone" "$said" "^hotvar: there is no process $pid to look at: it has ended, or never was: see 'ps -e'\$"
run --images-only -c no-such-command x.stp
like "a command that is nowhere" "$said" "^hotvar: cannot run 'no-such-command': no such command in PATH"
run --images-only -c '' x.stp
like "an empty command" "$said" "^hotvar: the command of -c is empty"
run --images-only -e 'probe process("/no/such").begin {}'
like "a program that is nowhere" "$said" '^hotvar: no names of process\("/no/such"\): there is no such program: check the path$'
mkdir -p "$images"

# Two at once, and a file that is written to while it is read: images or a reason, nothing unfinished.
rm -rf "$images"
"$hv" stap --also "$app" /bin/sh > out1 2>&1 &
one=$!
"$hv" stap --also "$app" > out2 2>&1
rc=$?
wait $one
is "two at once: status" "$? $rc" "0 0"
run --also "$app"
like "two at once: all are good" "$(cat out)" ' 0 made'
cp "$app" changing
: > on
while [ -f on ]; do
	cat "$app" > changing
	head -c 9000 "$app" > changing
	cat /bin/sh > changing
done 2> /dev/null &
writer=$!
for i in 1 2 3 4 5 6 7 8 9 10 11 12; do
	"$hv" stap --also ./changing > out 2> said
	rc=$?
	[ $rc -eq 0 ] || { [ $rc -eq 125 ] && grep -q '^hotvar: ' said; } || { cat out said; break; }
done
is "a file that changes while it is read: an image, or why not" "$i" 12
rm on
wait $writer
cp "$app" changing
run --also ./changing
is "it has names when it does not change: status" "$rc" 0

# No room: for a file, as for a disk.
rm -rf "$images"
(ulimit -f 1 && exec "$hv" stap --also "$app") > out 2> said
is "no room for an image: status" "$?" 125
like "no room: it is said" "$(cat said)" "^hotvar: cannot keep a symbol image in '$images': File too large: "
if unshare --mount true 2> /dev/null; then
	unshare --mount --propagation private sh -c 'mount -t tmpfs -o size=4k,mode=755 none "$1" && head -c 4096 /dev/zero > "$1/full" && "$2" stap --also "$3"; rc=$?; ls -A "$1" >&2; exit $rc' \
		sh "$images" "$hv" "$app" > out 2> said
	is "a full disk: status" "$?" 125
	like "a full disk: it is said" "$(cat said)" "^hotvar: cannot keep a symbol image in '$images': No space left on device: make room there"
	is "a full disk: nothing unfinished is left" "$(tail -n 1 said)" full
else
	skip "a full disk" "no mount namespaces here"
fi

# Names of files that would say more than a name.
odd=$(printf 'odd\n%%s%%n "$(x)" '"'"';\033[31m')
cp "$app" "./$odd"
run --also "./$odd"
is "an odd name: status" "$rc" 0
echo no > "./$odd"
run --also "./$odd"
is "an odd name: one line, and nothing that a terminal obeys" "$(wc -l < said) $(tr -d '[:print:]\n' < said)" "1 "
rm "./$odd"

# A stripped program may have more names the next time: it is made again, and left as it was where it has not.
strip -o stripped "$app"
run --also ./stripped
img=$images/$(build_id ./stripped).img
rm "$img"
run --also ./stripped
was=$(stat -c '%i %y' "$img")
run --also ./stripped
is "a stripped program's image stays" "$(cat out) $(stat -c '%i %y' "$img")" "$(sed 's/: .* made/: 0 made/' out) $was"
img=$images/$(build_id "$app").img

unlike "nothing unfinished is left" "$(ls -A "$images")" '^\.'
run --also /etc/passwd
is "no ELF file: status" "$rc" 125
like "no ELF file: it is said" "$said" "^hotvar: no names of '/etc/passwd': it is no ELF file: "
run --also /no/such
like "no such file" "$said" "^hotvar: no names of '/no/such' \(--also\): cannot open it: No such file or directory: "
run --also no-such-program
like "no such program" "$said" "there is no such file here or in PATH"
if ${CC:-cc} -o noid -Wl,--build-id=none "$top_srcdir/testsuite/programs/loop.c" -I"$top_srcdir" 2> /dev/null; then
	run --also ./noid
	like "no build-id: how to get names" "$said" "^hotvar: no names of './noid': it has no build-id: link it with -Wl,--build-id\$"
fi
chmod 777 "$images"
run --also "$app"
is "a folder that others may write to: status" "$rc" 125
like "it is said" "$said" "does not believe the folder '$images', which others may write to: as root: chown root '$images' && chmod 755 '$images'\$"
chmod 755 "$images"
chown 1 "$images"
run --also "$app"
like "a folder that is not root's" "$said" "which is not root's: as root: "
chown 0 "$images"
rm -r "$images"
echo file > "$images"
run --also "$app"
like "a file in its place" "$said" "cannot open the folder '$images': Not a directory: "
rm "$images"
run --also /bin/sh
if unshare --mount true 2> /dev/null; then
	said=$(unshare --mount sh -c 'mount --bind "$1" "$1" && mount -o remount,ro,bind "$1" && "$2" stap --also "$3"' sh "$images" "$hv" "$app" 2>&1)
	like "a folder that cannot be written" "$said" "no symbol image in '$images', where this user cannot write: make it writable"
else
	skip "a folder that cannot be written" "no mount namespaces here"
fi
rm -rf "$images"
if command -v setpriv > /dev/null; then
	chmod 755 "$tmp" "$tmp/here"
	cp "$app" "$tmp/mine"
	chmod 755 "$tmp/mine"
	other() {
		setpriv --reuid 65534 --regid 65534 --clear-groups env XDG_CACHE_HOME=/none HOME=/none "$hv" stap "$@" 2>&1
	}
	like "no folder, and not root: what root has to do" "$(other --also "$tmp/mine")" "there is no folder '$images': as root, once: hotvar stap --also PROGRAM"
	run --also /bin/sh
	like "no image, and not root" "$(other --also "$tmp/mine")" "no names of '$tmp/mine'( and [0-9]+ more)?: no symbol image in '$images', where this user cannot write: as root, once: hotvar stap --also $tmp/mine\$"
	cp "$app" "$tmp/\$(x) it's"
	like "what is odd in it has quotes" "$(other --also "$tmp/\$(x) it's")" "as root, once: hotvar stap --also \\$'$tmp/\\$\(x\) it\\\\'s'\$"
	run --also "$tmp/mine"
	like "what root has made is for all" "$(other --also "$tmp/mine")" "0 made, $made there already"
fi
done_testing
