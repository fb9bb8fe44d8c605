// SPDX-License-Identifier: GPL-2.0-or-later
// virtual.cc - a seed of the ELF fuzz target: classes with virtual base classes, whose tables tell where those are.
struct base { int x; virtual int f() { return x; } };
struct left : virtual base { int l; };
struct right : virtual base { int r; };
namespace ns { struct diamond : left, right { int d; }; }
ns::diamond dia[2];
struct holder { char before; ns::diamond inside; } hold;
