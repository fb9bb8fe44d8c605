# SPDX-License-Identifier: GPL-2.0-or-later
# attach.sh - to attach to 9,999 threads in nine processes, and let go of them, against the same with 999.
#
# attach-time    CPU seconds of hotvar for ten times the threads: linear is 10
# attach-memory  memory for each more thread, in KiB
set -e
tmp=$(mktemp -d "${TMPDIR:-/tmp}/hotvar-bench.XXXXXX")
trap 'rm -rf "$tmp"' EXIT
mkfifo "$tmp/go"

# attached THREADS: "CPU-SECONDS WALL-SECONDS KIB" of attaching to nine processes of so many and letting go at once
attached() {
	"$TESTPROGS/many_threads" 9 "$1" quiet < "$tmp/go" > "$tmp/said" &
	exec 3> "$tmp/go"
	while [ "$(grep -c ready "$tmp/said")" -lt 9 ]; do sleep 0.1; done
	python3 - "$HOTVAR" $(sed -n 's/^ready //p' "$tmp/said") << 'END'
import os, subprocess, sys, time
hotvar, pids = sys.argv[1], sys.argv[2:]
command = [hotvar, "maps", "-q", "-d", "0.3", "-o", "/dev/null"]
for pid in pids:
    command += ["-p", pid]
begin = time.time()
p = subprocess.Popen(command)
memory = "0"
# Its own highest mark, read as long as it is there: what wait4 tells has that of this python, too.
while not os.waitid(os.P_PID, p.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT):
    for line in open("/proc/%d/status" % p.pid):
        if line.startswith("VmHWM:"):
            memory = line.split()[1]
    time.sleep(0.02)
_, status, u = os.wait4(p.pid, 0)
assert status == 0, status
print(u.ru_utime + u.ru_stime, time.time() - begin - 0.3, memory)
END
	exec 3>&-
	wait
}

few= many=
for i in 1 2 3; do
	few="$few$(attached 111)
"
	many="$many$(attached 1111)
"
done
printf '%s\n%s' "$few" "$many" | awk '
	NF != 3 { next }
	n < 3 { f[n] = $1; fk = fk > $3 ? fk : $3 }
	n >= 3 { m[n - 3] = $1; w = w && w < $2 ? w : $2; mk = mk > $3 ? mk : $3 }
	{ n++ }
	function middle(v) { if (v[0] > v[1]) { t = v[0]; v[0] = v[1]; v[1] = t } if (v[1] > v[2]) v[1] = v[2] > v[0] ? v[2] : v[0]; return v[1] }
	END {
		few = middle(f); many = middle(m)
		printf "# 9,999 threads: %.2f s of CPU time, %.2f s at best; 999 threads: %.2f s of CPU time\n", many, w, few
		printf "bench attach-time ratio %.2f goal <= 15\n", many / few
		printf "bench attach-memory ratio %.2f goal <= 2\n", (mk - fk) / 9000
	}'
