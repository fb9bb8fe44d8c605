# SPDX-License-Identifier: GPL-2.0-or-later
# sym-dwarf - forms of debug information that no compiler here need give, in a file written by hand; and other languages.
#
# The right names are those of the layout written below, of gdb, or of the program itself.
. "$top_srcdir/testsuite/lib.sh"
. "$top_srcdir/testsuite/symlib.sh"

# Rust: an enum of "Dot", "Round(u64)" and "Box { w: u32, h: u64 }", in DWARF 5.  Fortran: grid(2,-1:1), an allocatable array and
# a common block, in DWARF 4.  C: 64-bit DWARF 5, an address by index, bit-fields of both forms, a union without a
# name and an array without an end.  C++: a variable declared in another unit than it is defined in.
# Ada: an array numbered by an enumeration.
cat > "$tmp/w.s" << 'END'
	.macro object name size
	.globl \name
	.type \name, @object
	.size \name, \size
	.p2align 4
\name:	.zero \size
	.endm
	.bss
	object _RNvCs6GmmlP4bgsG_3app5SHAPE 16
	object grid 24
	object lent 32
	object blk_ 16
	object both 32
	object by_color 8
	.p2align 4
.Lhidden: .zero 8
	object _ZN5outer6insideE 4
	.section .tbss,"awT",@nobits
	.globl per_thread
	.type per_thread, @object
	.size per_thread, 8
per_thread: .zero 8

	.section .debug_abbrev,"",@progbits
	.macro abbrev code tag children attrs:vararg
	.uleb128 \code, \tag
	.byte \children
	.uleb128 \attrs
	.byte 0, 0
	.endm
	abbrev 1 0x11 1 0x13,0x05, 0x03,0x08
	abbrev 2 0x11 1 0x13,0x05, 0x03,0x08, 0x73,0x17
	abbrev 3 0x24 0 0x03,0x08, 0x0b,0x0b, 0x3e,0x0b
	abbrev 4 0x39 1 0x03,0x08
	abbrev 5 0x13 1 0x03,0x08, 0x0b,0x0b
	abbrev 6 0x13 0 0x03,0x08, 0x0b,0x0b
	abbrev 7 0x0d 0 0x03,0x08, 0x49,0x13, 0x38,0x0b
	abbrev 8 0x33 1 0x15,0x13
	abbrev 9 0x0d 0 0x49,0x13, 0x38,0x0b, 0x34,0x19
	abbrev 10 0x19 1 0x16,0x0b
	abbrev 11 0x34 0 0x03,0x08, 0x6e,0x08, 0x49,0x13, 0x02,0x18, 0x3f,0x19
	abbrev 12 0x34 0 0x03,0x08, 0x49,0x13, 0x02,0x18
	abbrev 13 0x01 1 0x49,0x13
	abbrev 14 0x21 0 0x22,0x0d, 0x2f,0x0d
	abbrev 15 0x21 0 0x2f,0x0d
	abbrev 16 0x01 1 0x49,0x13, 0x50,0x18
	abbrev 17 0x1a 1 0x03,0x08
	abbrev 18 0x0d 0 0x03,0x08, 0x49,0x13, 0x0d,0x0b, 0x6b,0x0b
	abbrev 19 0x0d 0 0x03,0x08, 0x49,0x13, 0x0b,0x0b, 0x0d,0x0b, 0x0c,0x0b, 0x38,0x0b
	abbrev 20 0x17 1 0x0b,0x0b
	abbrev 21 0x0d 0 0x49,0x13, 0x38,0x0b
	abbrev 22 0x21 0 0x49,0x13
	abbrev 23 0x34 0 0x47,0x10, 0x02,0x18
	abbrev 24 0x34 0 0x03,0x08, 0x6e,0x08, 0x49,0x13, 0x3f,0x19, 0x3c,0x19
	abbrev 25 0x04 0 0x03,0x08, 0x0b,0x0b
	abbrev 26 0x21 0 0x49,0x13, 0x22,0x0d, 0x2f,0x0d
	.byte 0

	.section .debug_addr,"",@progbits
	.4byte 0xffffffff
	.8byte 2f - 1f
1:	.2byte 5
	.byte 8, 0
.Laddr:	.8byte 0
	.8byte .Lhidden - 4
	.8byte per_thread@dtpoff
2:
	.section .debug_info,"",@progbits
	.macro unit5 lang name abbrev=1
	.4byte 9f - 8f
8:	.2byte 5
	.byte 1, 8
	.4byte .debug_abbrev
	.uleb128 \abbrev
	.2byte \lang
	.string "\name"
	.endm
	.macro unit4 lang name
	.4byte 9f - 8f
8:	.2byte 4
	.4byte .debug_abbrev
	.byte 8
	.uleb128 1
	.2byte \lang
	.string "\name"
	.endm
	.macro base name size encoding
	.uleb128 3
	.string "\name"
	.byte \size, \encoding
	.endm
	.macro member name type at
	.uleb128 7
	.string "\name"
	.4byte \type
	.byte \at
	.endm
	.macro place symbol
	.byte 9, 3
	.8byte \symbol
	.endm
	.macro variable name type symbol
	.uleb128 12
	.string "\name"
	.4byte \type
	place \symbol
	.endm

.Lrust:	unit5 0x1c "app.rs"
.Lu32:	base u32 4 7
.Lu64:	base u64 8 7
	.uleb128 4
	.string "app"
.Lshape: .uleb128 5
	.string "Shape"
	.byte 16
	.uleb128 8
	.4byte .Ldiscr - .Lrust
.Ldiscr: .uleb128 9
	.4byte .Lu32 - .Lrust
	.byte 0
	.uleb128 10
	.byte 0
	member Dot .Ldot-.Lrust 0
	.byte 0
	.uleb128 10
	.byte 1
	member Round .Lround-.Lrust 0
	.byte 0
	.uleb128 10
	.byte 2
	member Box .Lbox-.Lrust 0
	.byte 0
	.byte 0
.Ldot:	.uleb128 6
	.string "Dot"
	.byte 16
.Lround: .uleb128 5
	.string "Round"
	.byte 16
	member __0 .Lu64-.Lrust 8
	.byte 0
.Lbox:	.uleb128 5
	.string "Box"
	.byte 16
	member w .Lu32-.Lrust 4
	member h .Lu64-.Lrust 8
	.byte 0
	.byte 0
	.uleb128 11
	.string "SHAPE"
	.string "_RNvCs6GmmlP4bgsG_3app5SHAPE"
	.4byte .Lshape - .Lrust
	place _RNvCs6GmmlP4bgsG_3app5SHAPE
	.byte 0, 0
9:
.Lfort:	unit4 8 "w.f90"
.Lint:	base integer 4 5
.Lgrid:	.uleb128 13
	.4byte .Lint - .Lfort
	.uleb128 15
	.sleb128 2
	.uleb128 14
	.sleb128 -1, 1
	.byte 0
.Lalloc: .uleb128 16
	.4byte .Lint - .Lfort
	.byte 2, 0x97, 6
	.uleb128 15
	.sleb128 8
	.byte 0
	variable grid .Lgrid-.Lfort grid
	variable lent .Lalloc-.Lfort lent
	.uleb128 17
	.string "blk"
	variable i .Lint-.Lfort blk_
	variable j .Lint-.Lfort blk_+4
	.byte 0
	.byte 0
9:
.Lc:	.4byte 0xffffffff
	.8byte 9f - 8f
8:	.2byte 5
	.byte 1, 8
	.8byte .debug_abbrev
	.uleb128 2
	.2byte 0x0c
	.string "w.c"
	.8byte .Laddr
.Lcint:	base int 4 5
.Lchar:	base char 1 6
.Lboth:	.uleb128 5
	.string "both"
	.byte 16
	.uleb128 18
	.string "new"
	.4byte .Lcint - .Lc
	.byte 5, 3
	.uleb128 19
	.string "old"
	.4byte .Lcint - .Lc
	.byte 4, 7, 9, 4
	.uleb128 21
	.4byte .Lunion - .Lc
	.byte 8
	member tail .Lopen-.Lc 16
	.byte 0
.Lunion: .uleb128 20
	.byte 4
	member whole .Lcint-.Lc 0
	member low .Lchar-.Lc 0
	.byte 0
.Lopen:	.uleb128 13
	.4byte .Lchar - .Lc
	.uleb128 22
	.4byte .Lcint - .Lc
	.byte 0
	variable both .Lboth-.Lc both
	.uleb128 12
	.string "hidden"
	.4byte .Lboth - .Lc
	.byte 4, 0xa1, 1, 0x23, 4
	.uleb128 12
	.string "per_thread"
	.4byte .Lcint - .Lc
	.byte 3, 0xa2, 2, 0x9b
	.byte 0
9:
.Lada:	unit4 0x0d "w.adb"
.Laint:	base integer 4 5
.Lcolor: .uleb128 25
	.string "color"
	.byte 1
.Lby:	.uleb128 13
	.4byte .Laint - .Lada
	.uleb128 26
	.4byte .Lcolor - .Lada
	.sleb128 0, 1
	.byte 0
	variable by_color .Lby-.Lada by_color
	.byte 0
9:
.Lcxx:	unit4 4 "w.cc"
	.uleb128 23
	.4byte .Ldecl
	place _ZN5outer6insideE
	.byte 0
9:
.Ldecls: unit4 4 "x.cc"
	.uleb128 4
	.string "outer"
.Ldecl:	.uleb128 24
	.string "inside"
	.string "_ZN5outer6insideE"
	.4byte .Lin - .Ldecls
	.byte 0
.Lin:	.uleb128 5
	.string "in"
	.byte 4
	member one .Lcxxchar-.Ldecls 0
	member two .Lcxxchar-.Ldecls 2
	.byte 0
.Lcxxchar: base char 1 6
	.byte 0
9:
	.section .note.GNU-stack,"",@progbits
END
if build "by hand" sh -c "${CC} -c w.s && ${CC} -nostdlib -shared w.o -o w.so"; then
	# SYMBOL OFFSET NAME
	while read -r symbol offset name; do
		a=$(nm "$tmp/w.so" | awk -v n="$symbol" '$3 == n { print $1 }')
		is "by hand: $symbol+$offset" "$("$HOTVAR" sym -q -e "$tmp/w.so" "$(printf %x $((0x$a + offset)))" | awk '{ print $2 }')" "$name"
	done << 'END'
_RNvCs6GmmlP4bgsG_3app5SHAPE 0 app::SHAPE.<discriminant>
_RNvCs6GmmlP4bgsG_3app5SHAPE 4 app::SHAPE.Box.w
_RNvCs6GmmlP4bgsG_3app5SHAPE 8 app::SHAPE.Round.__0
grid 0 grid[1][-1]
grid 4 grid[2][-1]
grid 8 grid[1][0]
grid 20 grid[2][1]
lent 0 lent
lent 8 lent+0x8
blk_ 0 blk_
blk_ 4 blk_+0x4
both 0 both.new
both 1 both+0x1
both 6 both.old
both 4 both+0x4
both 8 both.whole
both 12 both+0xc
both 20 both.tail[4]
by_color 4 by_color+0x4
_ZN5outer6insideE 2 outer::inside.two
_ZN5outer6insideE 1 outer::inside+0x1
END
	"$HOTVAR" sym -q --json -e "$tmp/w.so" "$(nm "$tmp/w.so" | awk '$3 == "_RNvCs6GmmlP4bgsG_3app5SHAPE" { print $1 }')" > "$tmp/json"
	like "by hand: a type" "$(cat "$tmp/json")" '"type_name":"u32"'
	like "by hand: a place by index" "$("$HOTVAR" sym -q -e "$tmp/w.so" "$(printf %x $((0x$(nm "$tmp/w.so" | awk '$3 == "by_color" { print $1 }') + 24)))")" ' hidden\.whole '
	like "by hand: thread-local, by index" "$("$HOTVAR" symbols "$tmp/w.so")" '1 thread-local'
fi

# ---- Fortran: gdb says where an element is ----
cat > "$tmp/f.f90" << 'END'
module m
  type pt
    integer :: a
    real(8) :: b(-1:2)
  end type
  type(pt), save :: pts(3:5)
  integer, save :: grid(2,3)
  integer, allocatable, save :: lent(:)
end module
program p
  use m
  common /blk/ i, j
  i = 1
  pts(4)%b(0) = 2
  grid(2,3) = 7
  allocate(lent(3))
  print *, i, pts(4)%b(0), lent(1)
end program
END
if have gdb && have gfortran && build "Fortran" gfortran -g f.f90 -o f; then
	while read -r gdbs name; do
		a=$(gdb -nx -batch -ex "print &$gdbs" "$tmp/f" 2> /dev/null | sed -n 's/.* 0x\([0-9a-f]*\).*/\1/p')
		is "Fortran: $gdbs" "$("$HOTVAR" sym -q -e "$tmp/f" "$a" | awk '{ print $2 }')" "$name"
	done << 'END'
m::grid(2,3) __m_MOD_grid[2][3]
m::grid(2,1) __m_MOD_grid[2][1]
END
	pts=$((0x$(nm "$tmp/f" | awk '$3 == "__m_MOD_pts" { print $1 }'))) # of 8 bytes and 4 of 8 each
	is "Fortran: pts(4)%b(-1), pts(5)%b(2)" "$(printf '%x\n' $((pts + 40 + 8)) $((pts + 80 + 32)) | "$HOTVAR" sym -q -e "$tmp/f" | awk '{ print $2 }' | tr '\n' ' ')" \
		'__m_MOD_pts[4].b[-1] __m_MOD_pts[5].b[2] '
	is "Fortran: what is lent is not named by its elements" "$("$HOTVAR" sym -q -e "$tmp/f" "$(nm "$tmp/f" | awk '$3 == "__m_MOD_lent" { print $1 }')" | awk '{ print $2 }')" __m_MOD_lent
else
	skip "Fortran" "no gfortran or no gdb here"
fi

# ---- Ada ----
mkdir "$tmp/ada"
cat > "$tmp/ada/pk.ads" << 'END'
package Pk is
   type Color is (Red, Green, Blue);
   type Neg is array (-2 .. 2, 5 .. 7) of Short_Integer;
   type Bits is array (0 .. 31) of Boolean; pragma Pack (Bits);
   type Unc is array (Positive range <>) of Integer;
   By_Color : array (Color) of Integer := (1, 2, 3);
   N : Neg := (others => (others => 4));
   B : Bits := (others => True);
   U : Unc (4 .. 9) := (others => 8);
   procedure Main;
end Pk;
END
printf 'package body Pk is procedure Main is begin N (0, 6) := 3; U (5) := 3; end Main; end Pk;\n' > "$tmp/ada/pk.adb"
printf 'with Pk; procedure Run is begin Pk.Main; end Run;\n' > "$tmp/ada/run.adb"
if have gdb && have gnatmake && build "Ada" sh -c 'cd ada && gnatmake -q -g run.adb'; then
	while read -r gdbs name; do
		a=$(gdb -nx -batch -ex 'set language ada' -ex "print $gdbs'Address" "$tmp/ada/run" 2> /dev/null | sed -n 's/.* 0x\([0-9a-f]*\).*/\1/p')
		is "Ada: $gdbs" "$("$HOTVAR" sym -q -e "$tmp/ada/run" "$a" | awk '{ print $2 }')" "$name"
	done << 'END'
pk.n(-2,5) pk__n[-2][5]
pk.n(0,6) pk__n[0][6]
pk.u(5) pk__u[5]
pk.by_color(green) pk__by_color+0x4
END
	b=$(nm "$tmp/ada/run" | awk '$3 == "pk__b" { print $1 }')
	is "Ada: elements of less than a byte" "$("$HOTVAR" sym -q -e "$tmp/ada/run" "$(printf %x $((0x$b + 1)))" | awk '{ print $2 }')" pk__b+0x1
else
	skip "Ada" "no gnatmake or no gdb here"
fi

# ---- type names: as gdb has them ----
cat > "$tmp/t.cc" << 'END'
#include <map>
#include <vector>
namespace app { struct conf { int a; }; enum class mood { good, bad }; typedef conf own; template <class T, int N> struct ring { struct cell { T v; } c[N]; cell *top; }; }
namespace { struct local { app::conf *c; } loc; }
app::mood mood; app::conf *ptr; app::own *own; const app::conf *const *deep; local *l = &loc;
app::ring<app::conf, 3> ring; app::ring<int, 3>::cell *cell; std::vector<app::conf>::iterator it; std::vector<app::mood>::size_type count;
int main() { return loc.c != nullptr && l->c; }
END
for how in "g++" "clang++" "clang++ -gsimple-template-names"; do
	have "${how%% *}" && have gdb || { skip "$how: names of types" "not here"; continue; }
	# shellcheck disable=SC2086
	build "$how: names of types" $how -std=c++17 -gdwarf-5 t.cc -o t || continue
	for v in mood ptr own deep cell l count ring.top it._M_current; do
		[ "$how-$v" != "g++-deep" ] || continue # gdb writes a const elsewhere
		a=$(gdb -nx -batch -ex "print &$v" "$tmp/t" 2> /dev/null | sed -n 's/.* 0x\([0-9a-f]*\).*/\1/p')
		want=$(gdb -nx -batch -ex "whatis $v" "$tmp/t" | sed 's/^type = //')
		is "$how: the type of $v" "$("$HOTVAR" sym -q --json -e "$tmp/t" "$a" | sed -n 's/.*"type_name":"\([^"]*\)".*/\1/p')" "$want"
	done
done

# ---- virtual base classes: in whole objects the vtables in the file tell where they are ----
cat > "$tmp/v.cc" << 'END'
#include <cstdio>
#include <unistd.h>
struct base { int x; virtual ~base() {} };
struct left : virtual base { int l; };
struct right : virtual base { int r; };
struct diamond : left, right { int d; } dia[2];
namespace ns { namespace in {
struct deep : virtual left { int q; virtual void f() {} };
struct diamond : virtual right { long d; } other; // of another's name
}
struct last : in::deep, ::diamond { char z; } last_one;
}
struct holder { int before; diamond inside; ns::in::deep dd[2]; } hold;
namespace { struct hidden : virtual base { int h; } hid; }
struct near { virtual void g() {} };
struct first : virtual near { int p; };
struct second : first, virtual right { int p2; } pr;
template <class T> struct templ : virtual base { T t; };
templ<int> tm;
#define AT(m) printf("%p %s\n", (void *)&m, #m)
int main()
{
	AT(dia[1].l); AT(dia[1].r); AT(dia[1].d); AT(dia[1].x);
	AT(ns::in::other.d); AT(ns::in::other.r); AT(ns::in::other.x);
	AT(ns::last_one.q); AT(ns::last_one.z); AT(ns::last_one.d); AT(ns::last_one.r); AT(ns::last_one.x);
	printf("%p ns::last_one.l\n", (void *)&static_cast<ns::in::deep &>(ns::last_one).l);
	printf("%p ns::last_one.l\n", (void *)&static_cast<diamond &>(ns::last_one).l);
	AT(hold.before); AT(hold.inside.d); AT(hold.inside.x); AT(hold.dd[1].q); AT(hold.dd[1].x); AT(hold.dd[1].l);
	printf("%p (anonymous namespace)::hid.x\n%p (anonymous namespace)::hid.h\n", (void *)&hid.x, (void *)&hid.h);
	AT(pr.p); AT(pr.p2); AT(pr.r); AT(pr.x);
	AT(tm.t);
	printf("%p tm\n", (void *)&tm.x);
	puts("ready");
	fflush(stdout);
	for (;;)
		pause();
}
END
for how in "g++" "g++ -no-pie -fno-pie" "g++ -gdwarf-4 -fdebug-types-section" "g++ -gdwarf-5 -fdebug-types-section" "g++ -gsplit-dwarf" "clang++" "clang++ -fuse-ld=lld -gdwarf-4" "clang++ -gdwarf-5 -fdebug-types-section" "g++ -fno-rtti"; do
	have "${how%% *}" && build "$how: virtual base classes" $how -g v.cc -o v || continue
	start "$tmp/v" || continue
	sed -n 's/^\(0x[0-9a-f]*\) .*/\1/p' "$tmp/out" | "$HOTVAR" sym -q -p "$pid" 2> "$tmp/sym.err" | sed 's/^0x[0-9a-f]*  //; s/  .*//; s/^tm+.*/tm/' > "$tmp/got"
	want=$(sed -n 's/^0x[0-9a-f]* //p' "$tmp/out")
	# without types in them, tables of two classes may look alike; gcc says of a type unit's class without a name for the linker not
	# what it stands in: then nothing is said
	case $how in
	*-fno-rtti) unsure='pr' ;;
	*-types-section) unsure='(anonymous namespace)::hid' ;;
	*) unsure=- ;;
	esac
	sed "s/^$unsure[.+][rx0].*/$unsure/" "$tmp/got" > "$tmp/some"
	want=$(echo "$want" | sed "s/^$unsure\.[rx]\$/$unsure/")
	is "$how: virtual base classes" "$(cat "$tmp/some" "$tmp/sym.err")" "$want"
	stop
done
like "virtual base classes of templates: it is said" "$("$HOTVAR" symbols "$tmp/v")" 'members .*; [0-9]+ types are not known inside'
# what the vtables of another class of that name would say
build "virtual base classes: no vtable of its own" sh -c "g++ -g v.cc -o v && objcopy --redefine-sym _ZTVN2ns2in7diamondE=elsewhere v w" && {
	a=$(nm -S "$tmp/w" | awk '$4 == "_ZN2ns2in5otherE" { print "0x" $1 }')
	unlike "virtual base classes: without a vtable no other's is taken" "$("$HOTVAR" sym -q -e "$tmp/w" "$(printf %x $((a + 16)))" "$(printf %x $((a + 24)))" "$(printf %x $((a + 32)))" "$(printf %x $((a + 40)))")" 'other\.[rx]'
}

# ---- dwz by DWARF 5's own rules; zstd ----
cat > "$tmp/z.c" << 'END'
struct deep { struct { long hits, misses; } st[3]; struct deep *next; };
struct deep table[4];
int main(void) { return (int)table[1].st[2].misses; }
END
if build "debug information of one program" "$CC" -O1 -gdwarf-5 z.c -o z1; then
	a=$(printf %x $((0x$(nm "$tmp/z1" | awk '$3 == "table" { print $1 }') + 56 + 40)))
	is "as it is" "$("$HOTVAR" sym -q -e "$tmp/z1" "$a" | awk '{ print $2 }')" 'table[1].st[2].misses'
	# what debuggers go by, absent and present
	objcopy --remove-section .debug_aranges --remove-section .debug_rnglists "$tmp/z1" "$tmp/bare"
	is "without an index" "$(XDG_CACHE_HOME=$tmp/none "$HOTVAR" sym -q -e "$tmp/bare" "$a" | awk '{ print $2 }')" 'table[1].st[2].misses'
	if have clang && build "with indexes" clang -g -ggnu-pubnames -fuse-ld=lld -Wl,--gdb-index z.c -o zi; then
		is "with .gdb_index" "$(readelf -SW "$tmp/zi" | grep -c gdb_index) $("$HOTVAR" sym -q -e "$tmp/zi" "$(printf %x $((0x$(nm "$tmp/zi" | awk '$3 == "table" { print $1 }') + 96)))" | awk '{ print $2 }')" '1 table[1].st[2].misses'
	fi
	if objcopy --compress-debug-sections=zstd "$tmp/z1" "$tmp/zstd" 2> /dev/null && [ -e "$(ldconfig -p | sed -n 's/.*libzstd\.so\.1.* => //p' | head -n 1)" ]; then
		is "packed by zstd" "$(XDG_CACHE_HOME=$tmp/none "$HOTVAR" sym -q -e "$tmp/zstd" "$a" | awk '{ print $2 }')" 'table[1].st[2].misses'
	else
		skip "packed by zstd" "this objcopy cannot, or no libzstd.so.1 is here"
	fi
	if have dwz && cp "$tmp/z1" "$tmp/z2" && (cd "$tmp" && dwz -5 -m sup z1 z2) > "$tmp/dwz.out" 2>&1 && readelf -S "$tmp/z1" | grep -q '\.debug_sup'; then
		rm -rf "$tmp/cache/hotvar"
		is "dwz -5: .debug_sup" "$("$HOTVAR" sym -q -e "$tmp/z1" "$a" | awk '{ print $2 }')" 'table[1].st[2].misses'
		like "dwz -5: what the common file has is in C too" "$("$HOTVAR" sym -q --json -e "$tmp/z1" "$(printf %x $((0x$a + 8)))")" '"type_name":"struct deep \*"'
		# another's: its checksum is another
		printf '\001' | dd of="$tmp/sup" bs=1 seek=$(($(readelf -SW "$tmp/sup" | awk '{ for (i = 1; i < NF; i++) if ($i == ".debug_sup") print "0x" $(i + 3) }') + 8)) conv=notrunc 2> /dev/null
		rm -rf "$tmp/cache/hotvar"
		is "dwz -5: not with another's checksum" "$("$HOTVAR" sym -q --no-members -e "$tmp/z1" "$a" | awk '{ print $2 }')" 'table+0x60'
		like "dwz -5: and it is said" "$("$HOTVAR" symbols "$tmp/z1")" 'without its .*dwz file'
	else
		skip "dwz -5: .debug_sup" "no dwz here that can"
	fi
fi

done_testing
