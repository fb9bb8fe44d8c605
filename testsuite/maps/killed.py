#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""killed.py - SIGKILL of hotvar at random points, and what becomes of the program.

   killed.py HOTVAR PROGRAM FOLDER TIMES SEED WAY    PROGRAM is a copy of random_maps that nobody else runs
   WAY: ptrace-attached ptrace-launched perf-attached perf-launched

Attached, and launched under perf, the program must run on to its own end, which it tells by a number on stdout.  Launched under
ptrace it must end with hotvar (its gate would fail its calls): no process of it may be left.  Prints `TIMES times, BAD bad, ...`.
"""
import os
import random
import select
import signal
import subprocess
import sys
import time

hotvar, program, folder, times, seed, way = sys.argv[1:]
rng = random.Random(int(seed))
source, how = way.split("-")
real = os.path.realpath(program)
bad = ended = late = never = 0


def left():
    """Processes of the program that are not dead."""
    found = []
    for pid in os.listdir("/proc"):
        if not pid.isdigit():
            continue
        try:
            if os.readlink(f"/proc/{pid}/exe") == real:
                found.append(int(pid))
        except OSError:
            pass
    return found


def none_left(seconds):
    until = time.monotonic() + seconds
    while left():
        if time.monotonic() > until:
            return False
        time.sleep(0.002)
    return True


def until_end(fd, seconds):
    """What was written into the pipe, when nobody can write any more: neither hotvar nor what it may have begun; or None."""
    said, until = b"", time.monotonic() + seconds
    while True:
        ready, _, _ = select.select([fd], [], [], max(0, until - time.monotonic()))
        part = os.read(fd, 4096) if ready else None
        said += part or b""
        if not part:
            os.close(fd)
            return None if part is None else said.split()


def wrong(i, why):
    global bad
    bad += 1
    print(f"{way} {i}: {why}")
    for pid in left():
        try:
            state = [l.strip() for l in open(f"/proc/{pid}/status") if l.startswith(("State", "TracerPid"))]
            print(f"  {pid} {state}")
            os.kill(pid, signal.SIGKILL)
        except OSError:
            pass


def reap(p):
    try:
        return p.wait(60)
    except subprocess.TimeoutExpired:
        return "hangs"


def once(i):
    global ended, late, never
    log, events = folder + "/log", folder + "/events"
    if os.path.exists(log):
        os.unlink(log)
    cmd = [program, str(rng.randrange(1 << 30)), "2000" if source == "ptrace" else "6000", log, folder, "tfvxsb"]
    maps = [hotvar, "maps", "-q", "--source", source, "-o", events]
    target = None
    read_end, o = os.pipe()
    with open(folder + "/err", "wb") as err:
        if how == "attached":
            target = subprocess.Popen(cmd, stdout=o)
            h = subprocess.Popen(maps + ["-p", str(target.pid)], stderr=err)
        else:
            h = subprocess.Popen(maps + ["--"] + cmd, stdout=o, stderr=err)
        # From before it has begun to when it is long over; most while it runs.
        time.sleep(rng.choice((0.0005, 0.005, 0.02, 0.05, 0.1, 0.3, 0.3, 0.5)) * rng.random())
        over = h.poll() is not None
        h.kill()
        reap(h)
        os.close(o)
    late += over
    said = until_end(read_end, 60)
    status = reap(target) if target else None
    if said is None or not none_left(30):
        return wrong(i, "processes are left")
    if how == "attached":
        if status != 0 or not said:
            return wrong(i, f"status {status}, said {said}")
    elif source == "perf":
        if os.path.exists(log) and not said:
            return wrong(i, "it began and never came to its end")
        never += not os.path.exists(log)
    elif over and not said:
        return wrong(i, f"over, said nothing: {open(folder + '/err').read()}")
    else:
        never += not os.path.exists(log)
    ended += 1
    return None


for i in range(int(times)):
    once(i)
print(f"{times} times, {bad} bad, {late} when it was over already, {never} before it began")
sys.exit(bad > 0)
