# SPDX-License-Identifier: GPL-2.0-or-later
"""pages_oracle.py - read a process's pages without hotvar, and compare.

    pages_oracle.py compare PID JSON [user] regions and pages of a quiet process: every field; of a user without rights
    pages_oracle.py compare DIR JSON        the same of what was kept of one: its smaps, its numa_maps, and dump, from page_read
    pages_oracle.py names PROGRAM JSON      sections and symbols of a static program's pages, as readelf and nm have them
    pages_oracle.py told FILE JSON [PID]    what the program says of its regions and pages (lines "region ..." and "pages ...")
    pages_oracle.py sane JSON               what must hold of any output, also of a process that changes

Prints each difference, then "N compared, M differences"; exits 1 if there are any or nothing was compared.
"""
import json
import os
import re
import struct
import subprocess
import sys

PAGE = 4096
MOST = 1 << 14  # pages of a region that are read one by one


def rows(name):
    with open(name, encoding="utf-8", errors="surrogateescape") as f:
        return [json.loads(line) for line in f]


def where(pid):
    """The folder of a process, or of what was kept of one."""
    return f"/proc/{pid}" if pid.isdigit() else pid


def smaps(pid):
    areas = []
    with open(f"{where(pid)}/smaps", errors="surrogateescape", newline="\n") as f:
        for line in f:
            first = line.split(" ", 1)[0]
            if "-" in first and not first.endswith(":"):
                start, end = (int(x, 16) for x in first.split("-"))
                path = line.rstrip("\n").split(None, 5)[5:]
                areas.append({"start": start, "end": end, "prot": line.split()[1], "path": path[0] if path else ""})
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
        self.kept = self.frames = None
        if not pid.isdigit():
            with open(f"{pid}/dump") as f:
                lines = [[int(w, 16) for w in line.split()] for line in f]
            self.kept = {at: entry for at, entry, *_ in lines}
            self.frames = {entry & (1 << 55) - 1: of for _, entry, *of in lines if entry >> 63}

    def entries(self, start, end):
        if self.kept is not None:
            return [self.kept.get(at, 0) for at in range(start, end, PAGE)]
        return words(f"/proc/{self.pid}/pagemap", start // PAGE, (end - start) // PAGE)

    def flags(self, entry):
        if self.frames is not None:
            return self.frames[entry & (1 << 55) - 1][0]
        got = words("/proc/kpageflags", entry & (1 << 55) - 1, 1) if self.root else None
        return got[0] if got else None

    def folio(self, entry):
        """Bytes of the folio that the page of a frame is in; None: not known."""
        pfn, tail, head = entry & (1 << 55) - 1, 1 << 16, 1 << 15
        flags = self.flags(entry)
        if flags is None:
            return None
        if self.frames is not None:
            return self.frames[pfn][2]
        if not flags & (head | tail):
            return PAGE
        first = pfn
        while words("/proc/kpageflags", first, 1)[0] & tail:
            first -= 1
        n = 1
        while n < 512 and words("/proc/kpageflags", first + n, 1)[0] & tail:
            n += 1
        return n * PAGE

    def count(self, entry):
        if self.frames is not None:
            return self.frames[entry & (1 << 55) - 1][1]
        got = words("/proc/kpagecount", entry & (1 << 55) - 1, 1) if self.counts else None
        return got[0] if got else None

    def page(self, entry, shared):
        """What is true of one page; None: not known."""
        present = entry >> 63 & 1
        file, exclusive = entry >> 61 & 1, entry >> 56 & 1
        swapped = entry >> 62 & 1 and not entry >> 58 & 1
        flags = self.flags(entry) if present else None
        zero = bool(flags >> 24 & 1) if flags is not None else None
        if not present or exclusive or (file and zero is None):
            zero = False
        anon = bool(present and not file and not shared) or bool(swapped and not shared)
        if anon and present and zero is not False:
            anon = not zero if zero is not None else None
        return {
            "present": bool(present), "anon": anon, "zero": zero,
            "exclusive": bool(exclusive) if present else None,
            "mapcount": self.count(entry) if present else None,
            "swapped": bool(swapped), "huge_zero": bool(zero and flags >> 22 & 1),
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


def name_of(path):
    """A path as JSON has it, and whether its file is deleted."""
    name = re.sub(r"\\([0-7]{3})", lambda m: chr(int(m[1], 8)), path)
    if name in ("", "[heap]", "[stack]"):
        return None, False
    return name.removesuffix(" (deleted)"), name.endswith(" (deleted)")


def kinds(area, areas):
    """What an area may be called.  The program is the file at the lowest addresses: it is linked statically, to fixed ones."""
    name, prot = area["path"], area["prot"]
    program = [a for a in areas if a["path"] == areas[0]["path"]]
    special = re.fullmatch(r"\[(heap|stack|vdso|vvar|vsyscall)(_[a-z]+)?\]", name)
    if special:
        return [special[1]]
    if name == program[0]["path"]:
        before = any(a["end"] == area["start"] and a["prot"] == prot for a in program)
        return ["text" if "x" in prot else "data" if "w" in prot else "relro" if before else "rodata"]
    if not name or name == "/dev/zero" or name.startswith("/anon_hugepage"):
        return ["bss" if area["start"] == program[-1]["end"] else "anon"]
    if name.startswith(("/memfd:", "/SYSV", "/dev/shm/", "/dev/zero")):
        return ["shm"]
    return ["file"]


def compare_areas(d, regions, areas):
    """Each area is in one region, which has its start, its end or like neighbours, its rights, name and kind."""
    for a in areas:
        r = [r for r in regions if int(r["start"], 16) <= a["start"] and a["end"] <= int(r["end"], 16)]
        d.check(f"{a['start']:x} regions", len(r), 1)
        if len(r) == 1:
            d.check(f"{a['start']:x} rights", r[0]["prot"], a["prot"])
            kind = kinds(a, areas)
            # .bss has no file in the map, and is its program's
            path = areas[0]["path"] if kind == ["bss"] else a["path"]
            d.check(f"{a['start']:x} path", (r[0]["path"], r[0].get("deleted", False)), name_of(path))
            d.check(f"{a['start']:x} kind", [r[0]["kind"]], kind)
    for key in "start", "end":
        ends = {a[key] for a in areas}
        for r in regions:
            d.check(f"{r['start']} {key}", int(r[key], 16) in ends, True)


def compare_region(d, pages, row, areas):
    start, end = int(row["start"], 16), int(row["end"], 16)
    inside = [a for a in areas if start <= a["start"] and a["end"] <= end]
    shared = row["prot"][3] == "s"
    where = f"{row['start']} {row['kind']}"
    d.check(where + " pages", row["pages"], (end - start) // PAGE)
    if row["kind"] == "vsyscall":
        for key in ("present", "written", "private", "shared", "huge", "swapped", "anon", "zero"):
            d.check(f"{where} {key}", row[key], None)
        return
    hugetlb = sum(a.get("Shared_Hugetlb", 0) + a.get("Private_Hugetlb", 0) for a in inside)
    huge = hugetlb + sum(a.get(k, 0) for a in inside for k in ("AnonHugePages", "ShmemPmdMapped", "FilePmdMapped"))
    huge = huge * 1024 // PAGE
    if (end - start) // PAGE <= MOST: # that of zeros is huge, too
        huge += sum(pages.page(x, shared)["huge_zero"] for x in pages.entries(start, end))
    d.check(where + " huge", row["huge"], huge)
    d.check(where + " private+shared", row["private"] + row["shared"], row["present"])
    if shared and not hugetlb:
        dirty = sum(a["Shared_Dirty"] + a["Private_Dirty"] for a in inside) * 1024 // PAGE
        d.check(where + " written", row["written"], dirty)
    if (end - start) // PAGE > MOST:
        return
    e = [pages.page(x, shared) for x in pages.entries(start, end)]
    # what is swapped of shared memory leaves no entry, but smaps asks
    d.check(where + " swapped, by smaps", row["swapped"], sum(a["Swap"] for a in inside) * 1024 // PAGE)
    for key in ("present", "anon", "zero") + (() if shared else ("swapped",)):
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
    if pages.kept is not None and (int(region["end"], 16) - int(region["start"], 16)) // PAGE > MOST:
        return # of that nothing was kept
    got = pages.entries(addr, addr + PAGE)
    e = pages.page(got[0], shared)
    for key in ("present", "anon", "zero", "exclusive", "swapped", "mapcount"):
        # the [vdso] is every process's: how many those are changes all the time
        if (e[key] is not None or key == "mapcount") and not (key == "mapcount" and region["kind"] == "vdso"):
            d.check(row["addr"] + " " + key, row[key], e[key])
    if pages.counts and e["present"]:
        d.check(row["addr"] + " folio", row["folio"], pages.folio(got[0]))
        d.check(row["addr"] + " ksm", row.get("ksm", False), bool(pages.flags(got[0]) >> 21 & 1))
    for key, bit in (("uffd_wp", 57), ("soft_dirty", 55), ("guard", 58)):
        d.check(row["addr"] + " " + key, row.get(key, False), bool(got[0] >> bit & 1))
    # a private page that is its process's own was copied; a shared one is dirty, as far as its frame is
    if not shared and e["anon"] is not None:
        d.check(row["addr"] + " written", row["written"], e["anon"])
    elif shared and not e["present"]:
        d.check(row["addr"] + " written", row["written"], False)
    elif shared and pages.counts and row["written"] is False:
        d.check(row["addr"] + " dirty", bool(pages.flags(got[0]) >> 4 & 1), False)


def numa(pid):
    """Pages on each node, of 4096 bytes, by the address of an area."""
    nodes = {}
    with open(f"{where(pid)}/numa_maps") as f:
        for line in f:
            words_ = line.split()
            size = next((int(w.split("=")[1]) for w in words_ if w.startswith("kernelpagesize_kB=")), 4)
            nodes[int(words_[0], 16)] = {int(w[1:].split("=")[0]): int(w.split("=")[1]) * size // 4
                                         for w in words_ if w[0] == "N" and w[1:2].isdigit()}
    return nodes


def compare_region_rows(d, row, seen, areas, nodes):
    """Sums of the rows of a region's pages."""
    start, end = int(row["start"], 16), int(row["end"], 16)
    mine = [r for r in seen if start <= int(r["addr"], 16) < end]
    d.check(row["start"] + " page rows", row["present"], sum(r["present"] for r in mine))
    if None not in [r["huge"] for r in mine]:
        d.check(row["start"] + " huge rows", row["huge"], sum(r["huge"] for r in mine))
    # 2 MiB at a time, and no more than a folio or the page of zeros holds
    blocks = {}
    for r in mine:
        if r["huge"]:
            blocks.setdefault(int(r["addr"], 16) >> 21, []).append(r)
    for block, of in blocks.items():
        d.check(f"{block << 21:x} is huge as a whole", [len(of), *{r["folio"] for r in of} - {None}][:2], [512, 2 << 20][:1 + any(r["folio"] for r in of)])
    if row["prot"][3] == "s" and None not in [r["written"] for r in mine]:
        d.check(row["start"] + " written rows", row["written"], sum(r["written"] for r in mine))
    # one area of several that are one region is not looked at
    if [a["end"] for a in areas if a["start"] == start] != [end] or start not in nodes or row["kind"] == "vdso":
        return
    # old kernels tell no node of what may not be accessed (move_pages(2))
    if row["prot"].startswith("---") and all(r["node"] is None for r in mine):
        return
    for node in set(nodes[start]) | {r["node"] for r in mine if r["node"] is not None}:
        d.check(f"{row['start']} node {node}", sum(r["node"] == node and r["zero"] is False for r in mine),
                nodes[start].get(node, 0))


def compare(pid, name, user):
    d, pages, areas = Differences(), Pages(pid, user), smaps(pid)
    regions = [r for r in rows(name) if r["type"] == "region"]
    seen = [r for r in rows(name) if r["type"] == "page"]
    compare_areas(d, regions, areas)
    for row in regions:
        compare_region(d, pages, row, areas)
    if not seen:
        d.end()
    for row in seen:
        compare_page(d, pages, row, regions)
    nodes = numa(pid)
    for row in regions:
        if row["kind"] != "vsyscall":
            compare_region_rows(d, row, seen, areas, nodes)
    d.end()


def names(program, name):
    d, symbols, sections = Differences(), [], []
    for line in subprocess.run(["nm", "-S", program], capture_output=True, text=True, check=True).stdout.splitlines():
        parts = line.split()
        if len(parts) == 4 and parts[2] not in "bdBDrRtTvVwWuiI":
            continue
        if len(parts) == 4:
            symbols.append((int(parts[0], 16), int(parts[0], 16) + int(parts[1], 16), parts[3]))
        elif len(parts) == 3:
            symbols.append((int(parts[0], 16), int(parts[0], 16), parts[2]))
    listed = subprocess.run(["readelf", "-SW", program], capture_output=True, text=True, check=True).stdout
    for line in listed.splitlines():
        parts = line.replace("[ ", "[").split()
        if len(parts) > 8 and parts[0][0] == "[" and parts[0][1].isdigit() and "A" in parts[7] and not ("T" in parts[7] and parts[2] == "NOBITS"):
            sections.append((int(parts[3], 16), int(parts[5], 16), parts[1]))
    for row in rows(name):
        if row["type"] != "page" or row["symbols"] is None or not row["section"]:
            continue
        addr = int(row["addr"], 16)
        want = [n for start, size, n in sections if start < addr + PAGE and start + size > addr and size]
        d.check(row["addr"] + " sections", row.get("sections", [row["section"]]), want)
        here = [(s, e, n) for s, e, n in symbols if s < addr + PAGE and max(e, s + 1) > addr]
        # each that it says is there; and each sized one's bytes are one's that it says, by whatever name
        for n in row["symbols"]:
            d.check(row["addr"] + " has " + n, any(n.split("@")[0] == x[2].split("@")[0] for x in here), True)
        said = [x for x in here if x[2] in row["symbols"] or any(n.startswith(x[2] + "@") for n in row["symbols"])]
        for s, e, n in here:
            if e > s:
                d.check(row["addr"] + " names the bytes of " + n, any(x[0] <= s and e <= x[1] for x in said), True)
    d.end()


def told_region(d, row, what, facts):
    for fact in facts:
        key, sign, value = re.fullmatch(r"(\w+)([=<>])(.*)", fact).groups()
        got = row.get(key)
        if got is None and key in ("touched_least", "touched_most"):
            # known exactly: no neighbours came along, since the kernel was writing them out
            got = row["touched"]
        ok = got is not None and {"=": got == int(value), "<": got < int(value), ">": got > int(value)}[sign]
        # what there is beside it says which of its bounds went wrong
        d.check(f"{what} {key}", f"{got} in {row}" if not ok else fact, fact)


def told_pages(d, seen, what, start, end, facts):
    for at in range(start, end, PAGE):
        row = seen.get(at)
        if facts == ["absent"]:
            d.check(f"{what} {at:x}", row, None)
            continue
        d.check(f"{what} {at:x} rows", row is not None, True)
        for fact in facts if row else ():
            key, value = fact.split("=")
            # marks that few pages have are said of those alone
            got = row.get(key, False) if key in ("uffd_wp", "guard", "ksm") else row[key]
            d.check(f"{what} {at:x} {key}", json.dumps(got), value)


def told(name, json_name, pid):
    d, all_rows = Differences(), rows(json_name)
    regions = [r for r in all_rows if r["type"] == "region"]
    seen = {int(r["addr"], 16): r for r in all_rows if r["type"] == "page"}
    with open(name) as f:
        lines = [line.split() for line in f if line.startswith(("region ", "pages "))]
    for kind, what, start, end, *facts in lines:
        if pid and what != pid:
            continue
        start, end = int(start, 16), int(end, 16)
        if kind == "region" and regions:
            found = [r for r in regions if (int(r["start"], 16), int(r["end"], 16)) == (start, end)]
            d.check(what + " regions", len(found), 1)
            if found:
                told_region(d, found[0], what, facts)
        elif kind == "pages" and seen:
            told_pages(d, seen, what, start, end, facts)
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
        # of what was touched, so much is private and so much is not, or lies between bounds
        least, most = ([row[k] if row.get(k) is not None else row.get(f"{k}_{end}") for k in ("touched", "touched_private", "touched_shared")]
                       for end in ("least", "most"))
        if None not in least + most:
            d.check("touched parts, at least", least[1] + least[2] <= least[0], True)
            d.check("touched parts, at most", most[1] + most[2] >= most[0], True)
            d.check("touched private", most[1] <= row["private"] and most[2] <= row["shared"], True)
    d.end()


if __name__ == "__main__":
    if sys.argv[1] == "compare":
        compare(sys.argv[2], sys.argv[3], len(sys.argv) > 4)
    elif sys.argv[1] == "names":
        names(sys.argv[2], sys.argv[3])
    elif sys.argv[1] == "told":
        told(sys.argv[2], sys.argv[3], sys.argv[4] if len(sys.argv) > 4 else None)
    else:
        sane(sys.argv[2])
