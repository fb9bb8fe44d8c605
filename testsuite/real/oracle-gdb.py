# SPDX-License-Identifier: GPL-2.0-or-later
# oracle-gdb.py - run by gdb: every static variable of a program and every scalar in it, as gdb has them.
#
#   ORACLE_OUT=FILE gdb -batch -nx -ex 'source oracle-gdb.py' PROGRAM
#
# One line each: "V ADDRESS SIZE FILE LINE NAME" and below it "M OFFSET SIZE BITPOS BITSIZE PATH", PATH as gdb takes it
# ("[3].st.misses").  Of arrays the first two, the middle and the last two elements.
import os, re
import gdb

gdb.execute("set pagination off")
gdb.execute("set width 0")
out = open(os.environ["ORACLE_OUT"], "w")
COMPOSITE = (gdb.TYPE_CODE_STRUCT, gdb.TYPE_CODE_UNION)
left = [0]

def picked(n):
    return sorted({i for i in (0, 1, n // 2, n - 2, n - 1) if 0 <= i < n})

def walk(t, path, offset, emit):
    if left[0] <= 0:
        return
    t = t.strip_typedefs()
    if t.code == gdb.TYPE_CODE_ARRAY:
        of = t.target()
        # of one without a size gdb says that it has one element
        each = of.strip_typedefs().sizeof
        for i in picked(t.sizeof // each if each else 0):
            walk(of, "%s[%d]" % (path, i), offset + i * of.strip_typedefs().sizeof, emit)
        return
    if t.code in COMPOSITE:
        for f in t.fields():
            if getattr(f, "bitpos", None) is None:
                continue  # a static member, or a virtual base
            if f.bitsize:
                left[0] -= 1
                emit(offset * 8 + f.bitpos, f.bitsize, 0, path + ("." + f.name if f.name else ""))
                continue
            at = offset + f.bitpos // 8
            if f.is_base_class or not f.name:
                walk(f.type, path, at, emit)
            else:
                walk(f.type, path + "." + f.name, at, emit)
        return
    left[0] -= 1
    emit(offset * 8, 0, t.sizeof, path)

seen = set()

def tell(sym, name):
    if sym is None or not sym.is_variable or sym.addr_class != gdb.SYMBOL_LOC_STATIC:
        return
    try:
        v = sym.value()
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
    out.write("V %x %d %s %d %s\n" % (address, t.sizeof, sym.symtab.filename, sym.line, name))
    left[0] = 20000
    walk(t, "", 0, lambda bits, bitsize, size, path: out.write("M %d %d %d %d %s\n" % (
        bits // 8, (bits % 8 + bitsize + 7) // 8 if bitsize else size, bits % 8, bitsize, path)))
    if left[0] <= 0:
        out.write("C\n")

names, tables = set(), {}
pointer = re.compile(r"\(\*+(?:const )?([A-Za-z_]\w*)(?:\[[^)]*)?\)")
plain = re.compile(r"([A-Za-z_$][\w$:]*)(?:\[[^;]*)?;$")
for line in gdb.execute("info variables -n", to_string=True).splitlines():
    m = re.match(r"\d+:\s+(.*)$", line)
    if not m:
        m = re.match(r"File (.*):$", line)
        try:
            for sal in gdb.decode_line("'%s':1" % m.group(1))[1] if m else ():
                tables[sal.symtab.filename] = sal.symtab
        except gdb.error:
            pass
        continue
    m = pointer.search(m.group(1)) or plain.search(m.group(1))
    if m:
        names.add(m.group(1))
for name in sorted(names):
    for sym in [gdb.lookup_global_symbol(name)] + list(gdb.lookup_static_symbols(name)):
        tell(sym, name)
        if sym is not None:
            tables[sym.symtab.filename] = sym.symtab
main = gdb.lookup_global_symbol("main")
if main is not None:
    tables[main.symtab.filename] = main.symtab
for file in sorted(tables):
    for block in (tables[file].global_block(), tables[file].static_block()):
        for sym in block:
            tell(sym, sym.name)
out.write("E\n")
out.close()
