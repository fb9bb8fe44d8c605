# SPDX-License-Identifier: GPL-2.0-or-later
"""maps.py - memory maps as lists of areas (start, end, prot, pgoff in bytes, dev, ino, path), and those that programs wrote.

Where there is no inode, pgoff is 0 and dev 00:00. A path is as scripts print it with text_str().
"""
import glob


def joined(areas):
    """Neighbours that are alike in everything count as one."""
    out = []
    for a in sorted(areas):
        if out:
            start, end, prot, pgoff, *rest = out[-1]
            follows = not a[3] and not pgoff if not a[5] else a[3] == pgoff + a[0] - start
            if end == a[0] and prot == a[2] and rest == list(a[4:]) and follows:
                out[-1] = (start, a[1], prot, pgoff, *rest)
                continue
        out.append(a)
    return out


def read_maps(folder):
    maps = {}
    for name in glob.glob(folder + "/maps.*"):
        for line in open(name, errors="replace"):
            line = line.rstrip("\n")
            if line.startswith("CK "):
                now = maps.setdefault(tuple(map(int, line.split()[1:])), [])
                continue
            ends, prot, pgoff, dev, ino, *path = line.split(None, 5)
            path = path[0] if path else ""
            if path == "[vsyscall]":
                continue
            path = path.removesuffix(" (deleted)").replace("\\", "\\\\")  # as text_str() has it
            start, end = (int(x, 16) for x in ends.split("-"))
            now.append((start, end, prot, int(pgoff, 16) if int(ino) else 0, dev if int(ino) else "00:00",
                        int(ino), path))
    return maps
