# SPDX-License-Identifier: GPL-2.0-or-later
# beside.py - how much more CPU time a program takes with hotvar than without: both at the same time, in turns on one CPU.
#
# How fast a CPU is changes by a tenth and more within a second where others use its core, and by as much from one minute to the next, so
# that runs one after the other tell nothing of one percent.  Two programs that are busy on one CPU take turns of some
# milliseconds, so that each sees the same of that.  Seen here, 3 s each, by a CPU that changes by 5 %: by a timer at 1,000 Hz alone, of ten
# programs 1.003 to 1.009; at 5,000 Hz, of six, 1.019 to 1.029; with nothing, 0.990 to 1.002.
#
# Not in this: the CPU time that walks take, which is not the program's; and what hotvar, where the kernel puts it, takes from a core
# that two CPUs share, since both programs see that.  Threads that wait for each other by looking again and again hardly get on where they
# have one CPU: such a program has no ratios.
import os
import signal
import subprocess
import time

LONGEST = 100  # s, of a pair


def end_in_time(processes):
    until = time.monotonic() + LONGEST
    try:
        for p in processes:
            p.wait(max(until - time.monotonic(), 0))
        return True
    except subprocess.TimeoutExpired:
        for p in processes:
            if p.poll() is None:
                os.killpg(p.pid, signal.SIGKILL)
                p.wait()
        return False


def pair(program, hotvar, folder, swapped):
    """CPU seconds with hotvar / without, None if it takes too long.  @program prints the same each time, and its CPU time to the file that ACCURACY_CPU names."""
    on_one = ["taskset", "-c", str(max(os.sched_getaffinity(0)))] + program
    runs = [("alone", on_one), ("beside", hotvar + ["--"] + on_one)]
    begun, said, cpu = [], {}, {}
    for name, argv in reversed(runs) if swapped else runs:
        file = os.path.join(folder, "beside-" + name)
        with open(file + ".out", "wb") as out, open(file + ".err", "wb") as err:
            begun.append((name, file, subprocess.Popen(argv, stdout=out, stderr=err, start_new_session=True,
                                                        env=dict(os.environ, ACCURACY_CPU=file + ".cpu"))))
    if not end_in_time([p for _, _, p in begun]):
        return None
    for name, file, p in begun:
        if p.returncode:
            with open(file + ".err") as err:
                raise RuntimeError("%s, %s: exit status %d: %s" % (program[0], name, p.returncode, err.read()[-400:]))
        with open(file + ".out", "rb") as out:
            said[name] = out.read()
        with open(file + ".cpu") as f:
            cpu[name] = float(f.read())
        for end in (".out", ".err", ".cpu"):
            os.unlink(file + end)
    if said["alone"] != said["beside"]:
        raise RuntimeError("%s: does not print the same under hotvar" % program[0])
    return cpu["beside"] / cpu["alone"]


def ratios(program, hotvar, folder, pairs):
    """The ratio of each pair, none where one takes too long; which of its two begins first changes from pair to pair."""
    found = []
    for i in range(pairs):
        found.append(pair(program, hotvar, folder, i % 2 == 1))
        if found[-1] is None:
            return []
    return found
