# SPDX-License-Identifier: GPL-2.0-or-later
# beside.py - how much more CPU time a program takes with hotvar than without: both at the same time, in turns on one CPU.
#
# How fast a CPU is changes by a tenth and more within a second where others use its core, and by as much from one minute to the next, so
# that runs one after the other tell nothing of one percent.  Two programs that are busy on one CPU take turns of some
# milliseconds, so that each sees the same of that.  Seen here, 3 s each, by a CPU that changes by 5 %: by a timer at 1,000 Hz alone, of ten
# programs 1.003 to 1.009; at 5,000 Hz, of six, 1.019 to 1.029; with nothing, 0.990 to 1.002.
#
# Not in this: the CPU time that walks take, which is not the program's; and what hotvar, where the kernel puts it, takes from a core
# that two CPUs share, since both programs see that.
import os
import subprocess


def pair(program, hotvar, folder, swapped):
    """CPU seconds with hotvar / without.  @program prints the same each time, and its CPU time to the file that ACCURACY_CPU names."""
    on_one = ["taskset", "-c", str(max(os.sched_getaffinity(0)))] + program
    runs = [("alone", on_one), ("beside", hotvar + ["--"] + on_one)]
    begun, said, cpu = [], {}, {}
    for name, argv in reversed(runs) if swapped else runs:
        file = os.path.join(folder, "beside-" + name)
        with open(file + ".out", "wb") as out, open(file + ".err", "wb") as err:
            begun.append((name, file, subprocess.Popen(argv, stdout=out, stderr=err, env=dict(os.environ, ACCURACY_CPU=file + ".cpu"))))
    for _, _, p in begun:
        p.wait()
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
    """The ratio of each pair; which of its two begins first changes from pair to pair."""
    return [pair(program, hotvar, folder, i % 2 == 1) for i in range(pairs)]
