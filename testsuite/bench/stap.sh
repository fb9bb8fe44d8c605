# SPDX-License-Identifier: GPL-2.0-or-later
# stap.sh - what the tapset adds to a program: one kernel booted for each pair of SystemTap and Linux, all ratios from one boot.
#
# getppid	a followed program that only makes calls that map nothing, against the same probes with nothing in them
# pair		mmap and munmap of four pages, among 50 and among 5,000 areas, against the same; and 5,000 against 50
# split		mprotect of a page in the midst of an area, up to 60,000 of them
# touch		first access to pages in 30,000 areas
# untargeted	getppid in a program that the script does not follow, against the same under the empty script
#
# track is `probe vma.track {}`, map is `probe vma.map { n++ }`; see stap/*.stp.
#
# WHAT IS MEASURED.  The emulator counts instructions (-icount shift=0): the guest's clock goes on by one nanosecond for each
# instruction that its processor executes, kernel and program alike, and by nothing else.  So a number here is instructions, the
# same on a busy machine as on an idle one: three rounds agree within one in two hundred, where wall-clock time in an emulator on a shared machine
# differed by a half.  Only timer ticks are in it besides.  It is not time on real hardware: an instruction that misses the cache,
# is atomic, or enters the kernel counts as one.  That is fair to the ratios for two reasons.  What is dear on real hardware and cheap here
# (entering and leaving the kernel with its mitigations, two tracepoints, a page table's change and its flush) is in both
# halves of a ratio, so a real one is nearer to 1; and what we add has no such instruction on the way of a call that maps
# nothing, and on that of one that maps only a trylock and a few uncontended locks.
# HOTVAR_BENCH_CLOCK=time measures by the emulator's wall clock instead, for those who want to see.
#
# Needs root, qemu and what the lab needs; what is not there is said and skipped.
# HOTVAR_BENCH_PAIRS="forky" runs those pairs alone; HOTVAR_BENCH_KEEP=FOLDER keeps what was made.
set -u
lab=$top_srcdir/testsuite/lab
here=$top_srcdir/testsuite/bench/stap
tmp=$(mktemp -d "${TMPDIR:-/tmp}/hotvar-bench-stap.XXXXXX") || exit 1
trap 'rm -rf "$tmp"' EXIT
trap 'exit 130' INT TERM HUP

skip() {
	echo "stap.sh: skipped: $*" >&2
}
[ "$(id -u)" -eq 0 ] || { skip "the lab needs root"; exit 77; }
for need in qemu-system-x86_64 cpio unshare; do
	command -v $need > /dev/null || { skip "no $need here"; exit 77; }
done
case ${HOTVAR_BENCH_CLOCK:-instructions} in
time) clock= ;;
*) clock='-icount shift=0,sleep=off' ;;
esac

# pair SUITE: all ratios of one boot
pair() {
	suite=$1
	root=$("$lab/root" "$suite") || { skip "$suite: no root"; return 1; }
	work=$tmp/$suite
	mkdir -p "$work/files" "$work/bench"
	cp "$here"/*.stp "$here/target.c" "$work/bench/"
	cp "$here/guest" "$lab/init" "$work/files/"
	"$lab/runtime" "$root" "$work" > /dev/null && "$lab/tapset" "$top_srcdir" "$work" || return 1
	for m in empty track map; do
		# An emulator is slow: what stap thinks of as too much is not the question.
		"$lab/stap" "$root" "$work" -p4 -DSTP_NO_OVERLOAD -m $m "/mnt/bench/$m.stp" > "$work/said" 2>&1 && cp "$work/$m.ko" "$work/files/" ||
			{ cat "$work/said" >&2; return 1; }
	done
	"$lab/enter" "$root" "$work" gcc -O2 -o /mnt/files/target bench/target.c || return 1
	"$lab/initramfs" "$root" "$work/files" "$work/initramfs" || return 1
	LAB_EMULATOR="-smp 1 $clock" "$lab/boot" "$root" "$work/initramfs" "$work/out" 3000 1024 || return 1
	[ -z "${HOTVAR_BENCH_KEEP-}" ] || { mkdir -p "$HOTVAR_BENCH_KEEP/$suite" && cp -r "$work/." "$HOTVAR_BENCH_KEEP/$suite/"; }
	awk -v suite="$suite" '
		function median(who, what,    v, n, i, j, t) {
			n = split(got[who " " what], v, " ")
			if (!n) { print "stap.sh: " suite ": no number of " who " " what > "/dev/stderr"; bad = 1; return 0 }
			for (i = 2; i <= n; i++)
				for (j = i; j > 1 && v[j - 1] + 0 > v[j] + 0; j--) { t = v[j]; v[j] = v[j - 1]; v[j - 1] = t }
			return v[int((n + 1) / 2)]
		}
		function ratio(name, who, what, who2, what2, goal,    a, b) {
			a = median(who, what); b = median(who2, what2)
			if (b) printf "bench stap-%s-%s ratio %.3f goal <= %s\n# %s: %.0f against %.0f\n", suite, name, a / b, goal, name, a, b
		}
		NF == 3 { got[$1 " " $2] = got[$1 " " $2] " " $3; next }
		{ print "stap.sh: " suite ": " $0 > "/dev/stderr"; bad = 1 }
		END {
			for (i = split("track map", m, " "); i; i--) {
				ratio("untargeted-" m[i], "other-" m[i], "getppid-50", "other-empty", "getppid-50", "1.02")
				ratio("getppid-" m[i], m[i], "getppid-50", "empty", "getppid-50", "1.15")
				ratio("pair-50-" m[i], m[i], "pair-50", "empty", "pair-50", "1.6")
				ratio("pair-5000-" m[i], m[i], "pair-5000", "empty", "pair-5000", "1.6")
				ratio("pair-areas-" m[i], m[i], "pair-5000", m[i], "pair-50", "1.3")
				ratio("split-60000-" m[i], m[i], "split-60000", "empty", "split-60000", "1.6")
				ratio("touch-60000-" m[i], m[i], "touch-60000", "empty", "touch-60000", "1.05")
			}
			exit bad
		}' "$work/out/lines"
}

status=77
for suite in ${HOTVAR_BENCH_PAIRS:-forky trixie bookworm}; do
	if pair "$suite"; then
		[ $status -eq 1 ] || status=0
	else
		status=1
	fi
done
exit $status
