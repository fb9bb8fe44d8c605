# SPDX-License-Identifier: GPL-2.0-or-later
"""pages_oracle.py - read a process's pages without hotvar, and compare.

    pages_oracle.py compare PID JSON [user] regions and pages of a quiet process: every field; of a user without rights
    pages_oracle.py told FILE JSON [PID]    what the program says of its regions (lines "region ...")
    pages_oracle.py sane JSON               what must hold of any output, also of a process that changes

Prints each difference, then "N compared, M differences"; exits 1 if there are any or nothing was compared.
"""
import json
import os
import struct
import sys

PAGE = 4096
MOST = 1 << 14  # pages of a region that are read one by one


def rows(name):
    with open(name, encoding="utf-8", errors="surrogateescape") as f:
        return [json.loads(line) for line in f]


def smaps(pid):
    areas = []
    with open(f"/proc/{pid}/smaps", errors="surrogateescape") as f:
        for line in f:
            first = line.split(" ", 1)[0]
            if "-" in first and not first.endswith(":"):
                start, end = (int(x, 16) for x in first.split("-"))
                areas.append({"start": start, "end": end, "prot": line.split()[1]})
            elif line.startswith("VmFlags:"):
                areas[-1]["flags"] = line.split()[1:]
            else:
                key, value = line.split(":")
                areas[-1][key] = int(value.split()[0])
    return areas


OPEN = {}


def words(path, first, n):
    try:
        if path not in OPEN:
            OPEN[path] = os.open(path, os.O_RDONLY)
        data = os.pread(OPEN[path], n * 8, first * 8)
    except OSError:
        return None
    return struct.unpack(f"<{len(data) // 8}Q", data)


class Pages:
    def __init__(self, pid, user):
        self.pid = pid
        self.root = os.geteuid() == 0
        self.counts = self.root and not user

    def entries(self, start, end):
        return words(f"/proc/{self.pid}/pagemap", start // PAGE, (end - start) // PAGE)

    def flags(self, entry):
        got = words("/proc/kpageflags", entry & (1 << 55) - 1, 1) if self.root else None
        return got[0] if got else None

    def count(self, entry):
        got = words("/proc/kpagecount", entry & (1 << 55) - 1, 1) if self.counts else None
        return got[0] if got else None

    def page(self, entry, shared):
        """What is true of one page; None: not known."""
        present = entry >> 63 & 1
        file, exclusive = entry >> 61 & 1, entry >> 56 & 1
        swapped = entry >> 62 & 1 and not entry >> 58 & 1
        flags = self.flags(entry) if present else None
        zero = bool(flags >> 24 & 1) if flags is not None else None
        if not present or file or exclusive:
            zero = False
        anon = bool(present and not file and not shared) or bool(swapped and not shared)
        if anon and present and zero is not False:
            anon = not zero if zero is not None else None
        return {
            "present": bool(present), "anon": anon, "zero": zero,
            "exclusive": bool(exclusive) if present else None,
            "mapcount": self.count(entry) if present else None,
            "swapped": bool(swapped),
        }


class Differences:
    def __init__(self):
        self.n = self.bad = 0

    def check(self, where, got, want):
        self.n += 1
        if got != want:
            self.bad += 1
            print(f"{where}: got {got}, want {want}")

    def end(self):
        print(f"{self.n} compared, {self.bad} differences")
        sys.exit(1 if self.bad or not self.n else 0)


def compare_region(d, pages, row, areas):
    start, end = int(row["start"], 16), int(row["end"], 16)
    inside = [a for a in areas if start <= a["start"] and a["end"] <= end]
    shared = row["prot"][3] == "s"
    where = f"{row['start']} {row['kind']}"
    if row["kind"] == "vsyscall":
        return
    d.check(where + " pages", row["pages"], (end - start) // PAGE)
    hugetlb = sum(a.get("Shared_Hugetlb", 0) + a.get("Private_Hugetlb", 0) for a in inside)
    huge = hugetlb + sum(a.get(k, 0) for a in inside for k in ("AnonHugePages", "ShmemPmdMapped", "FilePmdMapped"))
    d.check(where + " huge", row["huge"], huge * 1024 // PAGE)
    d.check(where + " private+shared", row["private"] + row["shared"], row["present"])
    if shared and not hugetlb:
        dirty = sum(a["Shared_Dirty"] + a["Private_Dirty"] for a in inside) * 1024 // PAGE
        d.check(where + " written", row["written"], dirty)
    if (end - start) // PAGE > MOST:
        return
    e = [pages.page(x, shared) for x in pages.entries(start, end)]
    for key in ("present", "swapped", "anon", "zero"):
        if all(x[key] is not None for x in e):
            d.check(where + " " + key, row[key], sum(x[key] for x in e))
    d.check(where + " private", row["private"], sum(bool(x["exclusive"]) for x in e))
    # smaps counts no page of zeros, and no huge page of hugetlbfs
    if row["zero"] is not None:
        rss = sum(a["Rss"] for a in inside) * 1024 // PAGE
        d.check(where + " rss", row["present"] - row["zero"], rss + hugetlb * 1024 // PAGE)
    if not shared and row["zero"] is not None:
        anonymous = sum(a["Anonymous"] for a in inside) * 1024 // PAGE
        if not hugetlb:
            d.check(where + " anonymous", row["anon"] - row["swapped"], anonymous)
            d.check(where + " written", row["written"], anonymous + row["swapped"])


def compare_page(d, pages, row, regions):
    addr = int(row["addr"], 16)
    region = next(r for r in regions if int(r["start"], 16) <= addr < int(r["end"], 16))
    shared = region["prot"][3] == "s"
    got = pages.entries(addr, addr + PAGE)
    e = pages.page(got[0], shared)
    for key in ("present", "anon", "zero", "exclusive", "swapped", "mapcount"):
        # the [vdso] is every process's: how many those are changes all the time
        if (e[key] is not None or key == "mapcount") and not (key == "mapcount" and region["kind"] == "vdso"):
            d.check(row["addr"] + " " + key, row[key], e[key])
    if not shared:
        d.check(row["addr"] + " written", row["written"], row["anon"])
    return e["present"]


def compare(pid, name, user):
    d, pages, areas = Differences(), Pages(pid, user), smaps(pid)
    regions = [r for r in rows(name) if r["type"] == "region"]
    seen = [r for r in rows(name) if r["type"] == "page"]
    for row in regions:
        compare_region(d, pages, row, areas)
    if not seen:
        d.end()
    for row in seen:
        compare_page(d, pages, row, regions)
    # no page is left out
    for row in regions:
        start, end = int(row["start"], 16), int(row["end"], 16)
        if row["kind"] != "vsyscall":
            d.check(row["start"] + " page rows", row["present"],
                    sum(start <= int(r["addr"], 16) < end and r["present"] for r in seen))
    d.end()


def told(name, json_name, pid):
    d, regions = Differences(), [r for r in rows(json_name) if r["type"] == "region"]
    with open(name) as f:
        lines = [line.split() for line in f if line.startswith("region ")]
    for _, what, start, end, *facts in lines:
        if pid and what != pid:
            continue
        found = [r for r in regions if (int(r["start"], 16), int(r["end"], 16)) == (int(start, 16), int(end, 16))]
        d.check(what + " regions", len(found), 1)
        for fact in facts if found else ():
            for sign in "=<>":
                if sign in fact:
                    key, value = fact.split(sign)
                    got = found[0].get(key)
                    ok = got is not None and {"=": got == int(value), "<": got < int(value), ">": got > int(value)}[sign]
                    d.check(f"{what} {key}", got if not ok else fact, fact)
    d.end()


def sane(name):
    d, last = Differences(), 0
    for row in rows(name):
        if row["type"] == "region":
            start, end = int(row["start"], 16), int(row["end"], 16)
            d.check("order", last <= start < end, True)
            last = end
        if row["type"] not in ("region", "group", "total") or row["present"] is None:
            continue
        d.check("parts", row["private"] + row["shared"], row["present"])
        for key in ("present", "written", "anon", "zero", "huge"):
            d.check(key, row[key] is None or row[key] <= row["pages"], True)
        if row["touched"] is not None:
            d.check("touched", row["touched"] <= row["present"], True)
    d.end()


if __name__ == "__main__":
    if sys.argv[1] == "compare":
        compare(int(sys.argv[2]), sys.argv[3], len(sys.argv) > 4)
    elif sys.argv[1] == "told":
        told(sys.argv[2], sys.argv[3], sys.argv[4] if len(sys.argv) > 4 else None)
    else:
        sane(sys.argv[2])
