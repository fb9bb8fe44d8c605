# SPDX-License-Identifier: GPL-2.0-or-later
# oracle-gdb.py - run by gdb: every static variable of a program and every scalar in it, as gdb has them.
#
#   ORACLE_OUT=FILE gdb -batch -nx -ex 'source oracle-gdb.py' PROGRAM
#
# One line each: "V ADDRESS SIZE FILE LINE FUNCTION NAME", FUNCTION "-" for what is no function's static, and below it
# "M OFFSET SIZE BITPOS BITSIZE PATH", PATH as gdb takes it ("[3].st.misses").  Of arrays the first two, the middle and the
# last two elements.  Statics of functions are those of each block that a line of code begins in.
import os, re
import gdb

gdb.execute("set pagination off")
gdb.execute("set width 0")
out = open(os.environ["ORACLE_OUT"], "w")
COMPOSITE = (gdb.TYPE_CODE_STRUCT, gdb.TYPE_CODE_UNION)
left = [0]

def picked(n):
    return sorted({i for i in (0, 1, n // 2, n - 2, n - 1) if 0 <= i < n})

def width(t):
    """Of scalar @t in bytes: gdb 13 gives nullptr's type none of its own."""
    t = t.strip_typedefs()
    return gdb.lookup_type("void").pointer().sizeof if str(t) == "decltype(nullptr)" else t.sizeof

def gaps(t):
    """Where in struct @t, outside unions, padding begins."""
    if t.code != gdb.TYPE_CODE_STRUCT:
        return
    upto = 0
    for f in sorted((f for f in t.fields() if getattr(f, "bitpos", None) is not None), key=lambda f: f.bitpos):
        if f.bitpos // 8 > upto:
            yield upto
        upto = max(upto, (f.bitpos + (f.bitsize or 8 * width(f.type)) + 7) // 8)
    if t.sizeof > upto:
        yield upto

def walk(t, path, offset, emit, base=0, union=False):
    """@base: where what @path says begins."""
    if left[0] <= 0:
        return
    t = t.strip_typedefs()
    if t.code == gdb.TYPE_CODE_ARRAY:
        of = t.target()
        # of one without a size gdb says that it has one element
        each = of.strip_typedefs().sizeof
        for i in picked(t.sizeof // each if each else 0):
            at = offset + i * of.strip_typedefs().sizeof
            walk(of, "%s[%d]" % (path, i), at, emit, at, union)
        return
    if t.code in COMPOSITE:
        union |= t.code == gdb.TYPE_CODE_UNION
        for at in () if union else gaps(t):
            out.write("P %d %d %s\n" % (offset + at, offset + at - base, path))
        for f in t.fields():
            if getattr(f, "bitpos", None) is None:
                continue  # a static member, or a virtual base
            if f.bitsize:
                left[0] -= 1
                emit(offset * 8 + f.bitpos, f.bitsize, 0, path + ("." + f.name if f.name else ""))
                continue
            at = offset + f.bitpos // 8
            if not f.name and not f.is_base_class and f.type.strip_typedefs().code not in COMPOSITE:
                # what tells Rust's variants apart
                walk(f.type, path + ".<discriminant>", at, emit, at, union)
            elif f.is_base_class or not f.name:
                walk(f.type, path, at, emit, base, union)
            else:
                walk(f.type, path + "." + f.name, at, emit, at, union)
        return
    left[0] -= 1
    emit(offset * 8, 0, width(t), path)

seen = set()

# A place made of more than one address is computed, but needs no frame.
FIXED = (gdb.SYMBOL_LOC_STATIC, gdb.SYMBOL_LOC_COMPUTED)

def tell(sym, name, function="-"):
    if sym is None or not sym.is_variable or sym.addr_class not in FIXED:
        return
    try:
        if sym.needs_frame:
            return
        v = sym.value()
        if v.address is None:
            return
        address = int(v.address)
        t = v.type
    except gdb.error:
        return
    if t.code in (gdb.TYPE_CODE_REF, gdb.TYPE_CODE_RVALUE_REF):
        return  # gdb tells of what it refers to
    key = (address, name, sym.symtab.filename)
    if key in seen:
        return
    seen.add(key)
    out.write("V %x %d %s %d %s %s\n" % (address, t.sizeof, sym.symtab.filename.replace(" ", "?"), sym.line,
                                      function.replace(" ", "?"), name))
    left[0] = 20000
    walk(t, "", 0, lambda bits, bitsize, size, path: out.write("M %d %d %d %d %s\n" % (
        bits // 8, (bits % 8 + bitsize + 7) // 8 if bitsize else size, bits % 8, bitsize, path)))
    if left[0] <= 0:
        out.write("C\n")

names, tables = set(), {}
pointer = re.compile(r"\(\*+(?:const )?([A-Za-z_]\w*)(?:\[[^)]*)?\)")
plain = re.compile(r"([A-Za-z_$][\w$:]*)(?:\[[^;]*)?;$")
called = re.compile(r"([A-Za-z_$][\w$:]*)\(")
for line in gdb.execute("info variables -n", to_string=True).splitlines() + gdb.execute("info functions -n", to_string=True).splitlines():
    m = re.match(r"\d+:\s+(.*)$", line)
    if not m:
        m = re.match(r"File (.*):$", line)
        try:
            for sal in gdb.decode_line("'%s':1" % m.group(1))[1] if m else ():
                tables[sal.symtab.filename, id(sal.symtab.objfile)] = sal.symtab
        except gdb.error:
            pass
        continue
    m = pointer.search(m.group(1)) or plain.search(m.group(1)) or called.search(m.group(1))
    if m:
        names.add(m.group(1))

def unit(sym):
    if sym is not None and sym.symtab is not None:
        tables[sym.symtab.filename, int(sym.symtab.static_block().start)] = sym.symtab

for name in sorted(names):
    for sym in [gdb.lookup_global_symbol(name)] + list(gdb.lookup_static_symbols(name)):
        tell(sym, name)
        unit(sym)
unit(gdb.lookup_global_symbol("main"))

done = set()

def statics(pc):
    """Those of the blocks around @pc."""
    block = gdb.block_for_pc(pc)
    while block is not None and not block.is_static and not block.is_global:
        if (block.start, block.end, str(block.function)) in done:
            return
        done.add((block.start, block.end, str(block.function)))
        around = block
        while around.function is None and not around.superblock.is_static:
            around = around.superblock
        for sym in block:
            tell(sym, sym.name, str(around.function) if around.function else "-")
        block = block.superblock

for key in sorted(tables, key=str):
    for block in (tables[key].global_block(), tables[key].static_block()):
        for sym in block:
            tell(sym, sym.name)
    lines = tables[key].linetable()
    try:
        lines.source_lines()  # gdb 13 dies of going through those of a file that has none
    except (gdb.error, RuntimeError):
        continue
    for item in lines:
        statics(item.pc)
out.write("E\n")
out.close()
