#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""examples.py - compares what an example said with what its program says it did.

   examples.py RUN FOLDER [PROGRAM]

PROGRAM is its path, where it is another than those of the case examples. FOLDER/stdout is the program's, FOLDER/events the script's.  Prints what is wrong, and `N of M facts`; exit status 0 if all are right.
"""
import re
import sys


class Facts:
    def __init__(self, folder, program):
        self.path = program
        self.program = open(f"{folder}/stdout").read().splitlines()
        self.script = open(f"{folder}/events", errors="replace").read().splitlines()
        self.good = self.all = 0

    def said(self, word):
        """What the program printed after WORD, a list of the words of each such line."""
        lines = [line.split()[1:] for line in self.program if line.startswith(word + " ")]
        assert lines, f"the program never said {word}"
        return lines

    def fact(self, is_so, text):
        self.all += 1
        self.good += bool(is_so)
        if not is_so:
            print(f"not so: {text}")

    def line(self, pattern, text=None):
        """The first line of the script that matches; a fact that there is one."""
        for i, line in enumerate(self.script):
            m = re.search(pattern, line)
            if m:
                self.fact(True, "")
                return i, m
        self.fact(False, text or f"a line like {pattern}")
        return None, None


def mapwatch(f):
    """Numbers without a gap; the changes that the program is known to make."""
    seqs = {}
    for line in f.script:
        m = re.match(r" *\d+\.\d{6} +(\d+):(\d+) ", line)
        if m:
            seqs.setdefault(int(m[1]), []).append(int(m[2]))
    for mm, seq in seqs.items():
        f.fact(sorted(seq) == list(range(1, len(seq) + 1)), f"address space {mm} has every number once: {seq}")
    f.fact(len(seqs) == 2, "two address spaces, the program's and its child's")
    _, last = f.line(r"^changes: (\d+), lost: 0$")
    f.fact(last and int(last[1]) == sum(map(len, seqs.values())), "the number of changes at the end")
    (start, end), = f.said("WATCH")
    child = f.said("FORK")[0][4]
    pid = f.said("FORK")[0][2].rstrip(":")
    parent = rf"\d+:\d+ +{pid} +{pid} "
    f.line(parent + r"execve +exec +buffers, \d+ areas")
    f.line(parent + r"- +initial +\w+-\w+ +\d+ r-xp /srv/examples/buffers\+0x1000")
    _, bss = f.line(parent + r"- +initial +(\w+)-(\w+) +\d+ rw-p \[anon\]")
    f.fact(bss and int(bss[1], 16) <= int(start, 16) < int(end, 16) <= int(bss[2], 16), "the variable is in the first anonymous area")
    f.line(parent + r"mmap +map +\w+-\w+ +\d+ r--p /\S*/libc\.so\.6\+0x0$")
    f.line(parent + r"mprotect +protect +\w+-\w+ +4 r--p /srv/examples/buffers\+0x2000")
    f.line(parent + r"brk +map +\w+-\w+ +\d+ rw-p \[heap\]")
    f.line(rf"\d+:1 +{child} +{child} - +fork +of {pid}, mm \d+, \d+ areas")
    f.line(rf"\d+:2 +{child} +{child} - +exit +\d+ areas, status 0x0")
    f.line(parent + r"- +exit +\d+ areas, status 0x0")


def hotlock(f):
    locks = {}
    at = None
    for line in f.script:
        w = line.split()
        if re.match(r" *\d+\.\d+ +\d+\.\d+ +\d+\.\d+ +\d+ +\d+ (mutex|pi|other)", line):
            at = w[6]
            locks[at] = (float(w[0]), int(w[3]), int(w[4]), w[5], [], [])
        elif "waited:" in w:
            locks[at][4].append((float(w[0]), int(w[3]), w[6]))
        elif "held" in w:
            locks[at][5].append((int(w[0]), w[4]))
    for name, kind, waits, threads, least, most, pid in f.said("LOCK"):
        f.fact(name in locks, f"{name} is named")
        if name not in locks:
            continue
        total, n, by, is_kind, waiters, holders = locks[name]
        f.fact(is_kind == kind, f"{name} is a {kind}: {is_kind}")
        f.fact(n == int(waits), f"{name}: {waits} waits: {n}")
        f.fact(by == int(threads), f"{name}: {threads} threads: {by}")
        f.fact(int(least) / 1000 <= total <= int(most) / 1000, f"{name}: {least} to {most} us: {total} ms")
        f.fact(len(waiters) == int(threads) and sum(w[1] for w in waiters) == n, f"{name}: the waiters are those: {waiters}")
        f.fact(abs(sum(w[0] for w in waiters) - total) < 0.1, f"{name}: their times add up: {waiters}")
        f.fact(holders == [(n, f"{pid}/{pid}")], f"{name}: all was held by {pid}: {holders}")
    f.fact(not any("cold_lock" in name for name in locks), "nobody waited for cold_lock")
    times = [lock[0] for lock in locks.values()]
    f.fact(times == sorted(times, reverse=True), "the longest waits come first")


def unmap(f, hits):
    (start, end), = f.said("WATCH")
    i, _ = f.line(rf"^\d+\.\d+  watching {start}-{end}, {int(end, 16) - int(start, 16)} bytes: ")
    for line in (line for line in f.program if line.startswith("HIT ")):
        at, _ = f.line("  " + re.escape(line[4:]) + ", called from$")
        at = at or 0
        function = f.program[f.program.index(line) + 1].split()[1]
        f.fact(at and re.match(rf" +{function}\+0x\w+/0x\w+ \[{f.path or '/srv/examples/buffers'}\]$", f.script[at + 1]), f"called from {function}")
    f.line(rf"^hits: {hits}, lost: 0$")


def unmap_mapped(f):
    unmap(f, 1)


def unmap_variable(f):
    unmap(f, 2)
    f.line("  fork " + re.escape(" ".join(f.said("FORK")[0])) + ", and a private page")
    f.line(rf"bytes: ring of {f.path or '/srv/examples/buffers'}$")
    f.line(r"  pid \d+ has ended$")


def hotvar(f):
    """The variable that all the time goes to is the first; what is never touched is not there."""
    rows = [line.split() for line in f.script if re.match(r" *\d+\.\d% ", line)]
    f.fact(rows and rows[0][4:] == ["private", ".bss", "hot_table", f"[{f.path or '/srv/examples/spin'}]"], f"hot_table is first: {rows[:2]}")
    f.fact(rows and int(rows[0][1]) > 100 and float(rows[0][0][:-1]) > 50, f"with more than half of more than 100 samples: {rows[:1]}")
    f.fact(rows and float(rows[0][2][:-1]) > 90, "most of what is seen of x++ writes")
    f.fact(not any("never_table" in line for line in f.script), "never_table has none")
    _, head = f.line(r"^\d+\.\d s: (\d+) samples of accesses, \d+ more without an address; \d+ page faults")
    f.fact(head and abs(sum(float(r[0][:-1]) for r in rows) - 100) < 1.5, "shares add up to 100 %")


def hotvar_members(f):
    rows = [line.split() for line in f.script if re.match(r" *\d+\.\d% +\d", line)]
    f.fact(rows and rows[0][5:] == [".bss", "hot_table[]", "[/srv/examples/spin]"], f"hot_table's elements are first: {rows[:1]}")
    f.fact(rows and float(rows[0][0][:-1]) > 50, f"with more than half: {rows[:1]}")


def row_of(f, name, at, columns):
    """Of the line whose word AT is NAME, the words COLUMNS."""
    rows = [line.split() for line in f.script if len(line.split()) > at and line.split()[at] == name]
    f.fact(len(rows) == 1, f"one row of {name}: {rows}")
    return [rows[0][c] for c in columns] if rows else [None] * len(columns)


def dots(value):
    return "." if value == "0" else value


def hotvar_faults(f):
    for name, reads, writes, *_ in f.said("FAULT"):
        got, = row_of(f, name, 6, [3])
        f.fact(got == str(int(reads) + int(writes)), f"{name}: {reads} + {writes} faults: {got}")


def whofaults(f):
    for name, *right in f.said("FAULT"):
        got = row_of(f, name, 7, range(6))
        want = [str(int(right[0]) + int(right[1]))] + [dots(x) for x in right]
        f.fact(got == want, f"{name}: faults reads writes first copy major {want}: {got}")
    reads, writes = row_of(f, "in_file", 7, [1, 2])
    f.fact(writes == "5", f"in_file: 5 writes: {writes}")


def cowwatch(f):
    copied = {}
    for pid, name, pages, reason in f.said("COPY"):
        lines = [w for w in (line.split() for line in f.script) if len(w) > 7 and w[1] == pid and w[4] == reason
                 and w[7].startswith(name + "+0x")]
        f.fact(len(lines) == int(pages), f"{pid} copies {pages} pages of {name} ({reason}): {len(lines)}")
        f.fact(len({w[5] for w in lines}) == int(pages), f"different pages: {lines}")
        f.fact(all(w[6] == "write_pages" for w in lines), f"by write_pages(): {lines}")
        f.fact(all(w[3] == (f.path or "copies").split("/")[-1] for w in lines), f"of the program: {lines}")
        total = copied.setdefault(name, {"fork": 0, "file": 0, "zeros": 0, "who": set()})
        total[reason] += int(pages)
        total["who"].add(pid)
    for name, t in copied.items():
        got = row_of(f, name, 6, [0, 1, 2, 3, 5])
        want = [str(t["fork"] + t["file"] + t["zeros"])] + [dots(str(t[k])) for k in ("fork", "file", "zeros")] + [str(len(t["who"]))]
        f.fact(got == want, f"{name}: copies fork file zeros processes {want}: {got}")
    alone, = row_of(f, "written", 6, [4])
    f.fact(alone == "2", f"2 pages of written were alone: {alone}")


def hotpages(f):
    for part, present, copied, shared in f.said("PAGES"):
        got = row_of(f, part, 6, [0, 3, 4])
        f.fact(got[:2] == [present, dots(copied)], f"{part}: {present} pages, {copied} copied: {got}")
        f.fact(shared == "-" or got[2] == shared, f"{part}: {shared} shared: {got}")
    pages = [int(w[0]) for w in (line.split() for line in f.script) if len(w) > 6 and w[0].isdigit()]
    _, head = f.line(rf"^{(f.path or 'copies').split('/')[-1]}, pid \d+, after \d+\.\d{{3}} s: (\d+) pages in memory$")
    f.fact(head and sum(pages) == int(head[1]), f"the rows add up to all: {pages}")
    f.fact(pages == sorted(pages, reverse=True), "the largest comes first")


def attach_hotvar(f):
    f.line(r"^ *\d+\.\d% +\d+ +\S+ +\d+ private +\.bss +hot_table \[/srv/examples/spin\]$")
    f.fact(sum("SHARE" in line for line in f.script) > 1, "a table meanwhile, and one at the end")
    f.line(r"^lost: 0$")


def attach_hotpages(f):
    got = row_of_last(f, ".bss", 6, "/srv/examples/spin", 7)
    # 64 KiB of hot_table and 4 of seldom_table; never_table may share their first and last page.
    f.fact(got and 17 <= int(got[0]) <= 20 and got[3] == got[0], f"pages of .bss, all of them its own: {got}")
    f.line(r"^spin, pid \d+, after \d+\.\d{3} s: \d+ pages in memory$")


def row_of_last(f, word, at, word2, at2):
    """The words of the last line that has WORD and WORD2 at these places."""
    rows = [w for w in (line.split() for line in f.script) if len(w) > at2 and w[at] == word and w[at2] == word2]
    return rows[-1] if rows else None


def attach_unmapwatch(f):
    f.line(r"^\d+\.\d+  watching \w+-\w+, 65536 bytes: hot_table of /srv/examples/spin$")
    f.line(r"^hits: 0, lost: 0$")


facts = Facts(sys.argv[2], sys.argv[3] if len(sys.argv) > 3 else None)
globals()[sys.argv[1].replace("-", "_")](facts)
print(f"{facts.good} of {facts.all} facts")
sys.exit(facts.good != facts.all)
