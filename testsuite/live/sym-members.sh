# SPDX-License-Identifier: GPL-2.0-or-later
# sym-members - addresses named down to the member, from debug information of every form that compilers give.
#
# The program itself says at which address each of its members is; gdb, where there is one, says it of all the others.
. "$top_srcdir/testsuite/lib.sh"
. "$top_srcdir/testsuite/symlib.sh"

cat > "$tmp/m.h" << 'END'
struct pair { short a; long b; };
extern struct pair shared[3];
int other(int);
END
cat > "$tmp/m.c" << 'END'
#include <complex.h>
#include "m.h"
#include "say.h"
struct stats { long hits, misses; };
struct entry { struct entry *next; const char *key; struct stats st; unsigned char tag[3]; };
typedef struct entry entry_t;
typedef entry_t shelf[4];
typedef int matrix[2][3][300];
enum colour { RED, GREEN = 7, BLUE };
struct bits { unsigned a : 3, b : 5; signed c : 11; unsigned : 0; unsigned d : 1; unsigned long e : 40, f : 24; _Bool g : 1; char after; };
struct __attribute__((packed)) tight { char c; int i; short s; double d; };
struct wide { char c; long double ld; _Complex float z; __int128 big; } __attribute__((aligned(64)));
struct anon { int kind; union { int i; double d; struct { char lo, hi; short rest; }; unsigned char raw[8]; }; struct { int x, y; } at; };
union variant { int i; struct { char c; int j; } s; double d; char text[16]; struct { unsigned x : 4, y : 12; } f; };
struct open_end { int n; struct stats v[]; };
struct fn { int (*call)(int, const char *); void (*table[3])(struct fn *); int (*grid)[4]; const volatile int *const *pp; };
struct empty {};
struct deep { struct { struct { struct { struct { int leaf[2]; } d; } c; } b[2]; } a; };
typedef float v4 __attribute__((vector_size(16)));
entry_t table[7];
shelf shelves[2];
matrix m3;
const matrix fixed = { { { 1 } } };
enum colour hue = BLUE, hues[3];
struct bits bits[3];
struct tight tight[2];
struct wide wide[2];
struct anon anon[2];
union variant variant, variants[3];
struct open_end open_end = { 2, { { 1, 2 }, { 3, 4 }, { 5, 6 } } };
struct fn fn;
struct { struct empty e; int i; } with_empty;
struct deep deep[2];
v4 vec[2];
_Complex double z;
__int128 huge;
long double ld;
_Bool flag;
char c;
static char buf[300];
const char *const words[] = { "one", "two" };
static const struct pair consts[2] = { { 1, 2 }, { 3, 4 } };
struct pair shared[3];
int aliased[4];
extern int other_name[4] __attribute__((alias("aliased")));
__thread struct stats per_thread;
volatile int sink;
static struct { int a; struct { long b; char c[3]; } in[2]; } nameless[2];
struct self { struct self *me; struct self *many[2]; } self;
static int counter(int n)
{
	static int count;
	static struct pair last[2];
	SAY(&last[1].b, "last[1].b  bss  .bss");
	last[n & 1].b += n;
	{ static long inner[2]; inner[n & 1]++; SAY(&inner[1], "inner[1]  bss  .bss"); }
	return count += n;
}
int main(int argc, char **argv)
{
	SAY(&table[3].st.misses, "table[3].st.misses  bss  .bss");
	SAY(&table[6].tag[2], "table[6].tag[2]  bss  .bss");
	SAY(&table[6].tag[2] + 1, "table[6]+0x23  bss  .bss");
	SAY((char *)&table[1].key + 3, "table[1].key+0x3  bss  .bss");
	SAY(&shelves[1][2].key, "shelves[1][2].key  bss  .bss");
	SAY(&m3[1][2][299], "m3[1][2][299]  bss  .bss");
	SAY(&hue, "hue  data  .data");
	SAY(&tight[1].i, "tight[1].i  bss  .bss");
	SAY(&tight[1].d, "tight[1].d  bss  .bss");
	SAY(&wide[1].big, "wide[1].big  bss  .bss");
	SAY(&wide[0].c + 1, "wide[0]+0x1  bss  .bss");
	SAY(&anon[1].kind, "anon[1].kind  bss  .bss");
	SAY(&anon[1].hi, "anon[1].i+0x1  bss  .bss");
	SAY(&anon[1].raw[6], "anon[1].d+0x6  bss  .bss");
	SAY(&anon[1].at.y, "anon[1].at.y  bss  .bss");
	SAY(&variant.text[9], "variant.text[9]  bss  .bss");
	SAY(&variant.s.j, "variant.s.j  bss  .bss");
	SAY(&variants[2].i, "variants[2].i  bss  .bss");
	SAY((char *)&bits[1] + 1, "bits[1].c  bss  .bss"); /* a and b fill the first byte */
	SAY(&bits[1].after, "bits[1].after  bss  .bss");
	SAY(&open_end.n, "open_end.n  data  .data");
	SAY(&open_end.v[2].misses, "open_end.v[2].misses  data  .data");
	SAY(&fn.table[2], "fn.table[2]  bss  .bss");
	SAY(&fn.pp, "fn.pp  bss  .bss");
	SAY(&with_empty.i, "with_empty.i  bss  .bss");
	SAY(&deep[1].a.b[1].c.d.leaf[1], "deep[1].a.b[1].c.d.leaf[1]  bss  .bss");
	SAY((char *)&vec[1] + 8, "vec[1][2]  bss  .bss");
	SAY(&huge, "huge  bss  .bss");
	SAY(&buf[299], "buf@m.c[299]  bss  .bss");
	SAY(&consts[1].b, "consts[1].b  rodata  .rodata");
	SAY(&shared[2].b, "shared[2].b  bss  .bss");
	SAY(&aliased[2], "aliased[2]  bss  .bss");
	SAY(&nameless[1].in[1].c[2], "nameless[1].in[1].c[2]  bss  .bss");
	SAY(&self.many[1], "self.many[1]  bss  .bss");
	per_thread.hits += argc;
	buf[argc] = *argv[0];
	nameless[argc & 1].in[0].b++;
	sink = counter(argc) + consts[argc & 1].a + words[argc & 1][0] + other(argc);
	done();
}
END
cat > "$tmp/n.c" << 'END'
#include "m.h"
#include "say.h"
static int buf[5];
static struct { char c; double d; } only_here[2];
int other(int n)
{
	static long count[3];
	SAY(&buf[4], "buf@n.c[4]  bss  .bss");
	SAY(&only_here[1].d, "only_here[1].d  bss  .bss");
	SAY(&count[2], "count[2]  bss  .bss");
	buf[n & 3]++;
	only_here[n & 1].d += shared[n & 1].b;
	return (int)count[n & 1]++;
}
END

# members TEXT PROGRAM [raw]: what the program says of itself is what is said of it
members() {
	start "$tmp/$2" || return
	sed -n 's/^\(0x[0-9a-f]*\) .*/\1/p' "$tmp/out" > "$tmp/addrs"
	sed -n 's/^0x[0-9a-f]* //p' "$tmp/out" > "$tmp/want"
	# function statics keep what compilers make of their names: last.0[1].b, counter.last[1].b; LTO forgets files
	"$HOTVAR" sym -q -p "$pid" < "$tmp/addrs" 2> "$tmp/sym.err" |
		sed "s|^0x[0-9a-f]*  ||; s|  $tmp/$2\$||; s/^\\([a-z]*\\)\\.\\(lto_priv\\.\\)*[0-9][0-9.]*/\\1/; s/^\\(counter\\|other\\)\\.//" > "$tmp/got"
	case $2 in
	nolocal) sed -i 's/^count@n\.c/count/' "$tmp/got" ;; # without numbers there are two
	*lto*) sed -i 's/@[mn]\.c//' "$tmp/got" "$tmp/want" ;;
	esac
	if [ "$(grep -c . "$tmp/want")" -gt 35 ] && cmp -s "$tmp/want" "$tmp/got"; then
		ok "$1"
	else
		not_ok "$1" "$(diff "$tmp/want" "$tmp/got")" "$(cat "$tmp/sym.err")" "$("$HOTVAR" symbols "$tmp/$2")"
	fi
	stop
}
# oracle TEXT PROGRAM: gdb's opinion of every variable
gdb=
have gdb && have python3 && [ "$(gdb -batch -nx -ex 'python print(6*7)' 2> /dev/null)" = 42 ] && gdb=yes
oracle() {
	[ -n "$gdb" ] || { skip "$1: as gdb has it" "no gdb with python, or no python3, here"; return; }
	rm -f "$tmp/oracle"
	ORACLE_OUT=$tmp/oracle timeout 100 gdb -batch -nx -iex 'set auto-load no' -ex "source $top_srcdir/testsuite/real/oracle-gdb.py" \
		"$tmp/$2" > "$tmp/gdb.out" 2>&1
	grep -qs '^V' "$tmp/oracle" || { not_ok "$1: as gdb has it" "gdb says nothing:" "$(tail -n 5 "$tmp/gdb.out")"; return; }
	check "$1: as gdb has it" env ORACLE_LTO="$3" python3 "$top_srcdir/testsuite/real/oracle-compare.py" "$HOTVAR" "$tmp/$2" "$tmp/oracle"
	is "$1: gdb has some" "$(sed -n 's/^\([0-9]*\) variables, .*/\1/p' "$tmp/check.out" | awk '{ print ($1 > 0) }')" 1
}

for cc in gcc clang; do
	have $cc || { skip "$cc" "it is not here"; continue; }
	while read -r f; do
		n=$cc$(echo "$f" | tr -d ' ')
		lto=
		use=$f
		case $f in
		*flto*) lto=yes; [ $cc = gcc ] || use="$f -fuse-ld=lld" ;;
		esac
		# shellcheck disable=SC2086
		build "$cc $f" $cc $use m.c n.c -o "$n" || continue
		members "$cc $f" "$n"
		case $f in
		*-O2* | *split* | *gdwarf-4*) oracle "$cc $f" "$n" $lto ;;
		esac
		rm -f "$tmp/$n"
	done << 'END'
-O0 -g
-O2 -gdwarf-5
-O2 -gdwarf-4
-O1 -gdwarf-3
-O2 -gdwarf-5 -flto
-O1 -gdwarf-4 -fdebug-types-section
-O1 -gdwarf-5 -fdebug-types-section -gz
-O1 -gdwarf-5 -gz
-Os -gdwarf-4 -gstrict-dwarf
-O1 -gdwarf-5 -gdwarf64 -fno-common
END
	# split: the .dwo files are beside the objects
	for f in "-gdwarf-5" "-gdwarf-4" "-gdwarf-5 -fdebug-types-section" "-gdwarf-4 -fdebug-types-section"; do
		n=$cc-split
		rm -f "$tmp"/*.dwo
		# shellcheck disable=SC2086
		build "$cc split $f" sh -c "$cc -O1 $f -gsplit-dwarf -c m.c n.c && $cc m.o n.o -o $n" || continue
		members "$cc split $f" $n
		# gdb 13 cannot read gcc's DWARF 5 type units in .dwo files: those are compared with the program alone
		[ "$cc $f" = "gcc -gdwarf-5 -fdebug-types-section" ] || oracle "$cc split $f" $n
		for dwp in dwp llvm-dwp; do
			case $dwp-$cc-$f in
			# GNU dwp does not know DWARF 5; LLVM's of before 16 loses gcc's type units
			dwp-*-gdwarf-5* | llvm-dwp-gcc-*types*) continue ;;
			esac
			have $dwp && (cd "$tmp" && $dwp -e $n -o $n.dwp) > "$tmp/dwp.out" 2>&1 || continue
			mkdir "$tmp/away" && mv "$tmp"/*.dwo "$tmp/away/"
			members "$cc split $f, packed by $dwp" $n
			mv "$tmp"/away/* "$tmp/" && rmdir "$tmp/away"
			rm -f "$tmp/$n.dwp"
		done
	done
	# an image that is kept would have them still, and rightly so
	mkdir "$tmp/away" && mv "$tmp"/*.dwo "$tmp/away/" && rm -rf "$tmp/cache/hotvar"
	if [ -f "$tmp/$n" ]; then
		a=$(nm "$tmp/$n" | awk '$3 == "table" { print $1 }')
		is "$cc split: without its .dwo a variable has its name" "$("$HOTVAR" sym -q -e "$tmp/$n" "$a" | awk '{ print $2 }')" table
		like "$cc split: and it is said" "$("$HOTVAR" symbols "$tmp/$n")" '2 units without their \.dwo'
		cp "$tmp/away/"* "$tmp/"
		is "$cc split: when it is there again, its members" "$("$HOTVAR" sym -q -e "$tmp/$n" "$a" | awk '{ print $2 }')" 'table[0].next'
		# another compilation's: its id is another
		(cd "$tmp" && sed 's/hits/hots/g' m.c > m2.c && $cc -O1 -gdwarf-4 -gsplit-dwarf -c m2.c -o m2.o && mv m2.dwo m.dwo) > /dev/null 2>&1
		rm -rf "$tmp/cache/hotvar"
		is "$cc split: not of another's .dwo" "$("$HOTVAR" sym -q -e "$tmp/$n" "$a" | awk '{ print $2 }')" table
	fi
	rm -rf "$tmp/away" "$tmp"/*.dwo
done

# ---- unions, places, types in JSON ----
build "JSON" "${CC}" -O1 -gdwarf-5 m.c n.c -o j && {
	at() {
		"$HOTVAR" sym -q --json -e "$tmp/j" "$(printf %x $((0x$(nm "$tmp/j" | awk -v n="$1" '$3 == n { print $1 }') + $2)))" | tail -n 1
	}
	like "all members of a union" "$(at anon 9)" '"name":"anon\[0\]\.i".*"members":\["anon\[0\]\.i","anon\[0\]\.d","anon\[0\]\.hi","anon\[0\]\.raw\[1\]"\]'
	like "two bit-fields in a byte" "$(at bits 0)" '"name":"bits\[0\]\.a".*"members":\["bits\[0\]\.a","bits\[0\]\.b"\]'
	unlike "one member only" "$(at table 8)" '"members"'
	like "the type" "$(at table 8)" '"type_name":"(const char|char const) \*"'
	like "the type of a function's pointer" "$(at fn 0)" '"type_name":"int \(\*\)\(int, (const char|char const) \*\)"'
	like "the place, in another folder's way" "$(at shared 0)" "\"decl\":\"m.c:$(awk '/^struct pair shared/ { print NR }' "$tmp/m.c")\""
	is "no members when they are not wanted" "$("$HOTVAR" sym -q --no-members -e "$tmp/j" "$(nm "$tmp/j" | awk '$3 == "table" { print $1 }')" | awk '{ print $2 }')" table
	last=$(nm "$tmp/j" | awk '$3 ~ /^last\.[0-9]/ { print $3 }')
	like "a function's static says whose" "$(at "$last" 8)" '"function":"counter"'

	# ---- statics that no table has, a debug file of its own, no debug information ----
	build "without local symbols" "$CC" -O1 -g -Wl,--discard-all m.c n.c -o nolocal && members "without local symbols" nolocal
	like "and it is said how many" "$("$HOTVAR" symbols "$tmp/nolocal")" '[0-9]+ variables have no symbol'
	cp "$tmp/j" "$tmp/sep"
	objcopy --only-keep-debug "$tmp/sep" "$tmp/sep.debug" && strip -s "$tmp/sep" && (cd "$tmp" && objcopy --add-gnu-debuglink=sep.debug sep)
	members "stripped, with a debug file" sep
	if have dwz; then
		cp "$tmp/j" "$tmp/z1"
		"$CC" -O1 -gdwarf-5 "$tmp/m.c" "$tmp/n.c" -DX -o "$tmp/z2"
		if (cd "$tmp" && dwz -m common z1 z2) > "$tmp/dwz.out" 2>&1 && [ -f "$tmp/common" ]; then
			members "dwz: two files with one in common" z1
			oracle "dwz" z2
			mv "$tmp/common" "$tmp/gone"
			like "dwz: without the common one a variable has its name" "$("$HOTVAR" sym -q -e "$tmp/z2" "$(nm "$tmp/z2" | awk '$3 == "table" { print $1 }')")" '^[^ ]* +table'
		else
			skip "dwz" "it makes no common file here: $(head -n 1 "$tmp/dwz.out")"
		fi
	else
		skip "dwz" "it is not here"
	fi

	# ---- written anew in the same place, with the same symbols, and without a build-id to tell ----
	sed 's/misses/mosses/g' "$tmp/m.c" > "$tmp/m3.c"
	build "no build-id" sh -c "$CC -O1 -gdwarf-5 -Wl,--build-id=none m.c n.c -o old && $CC -O1 -gdwarf-5 -Wl,--build-id=none m3.c n.c -o new" && {
		cp "$tmp/old" "$tmp/same"
		a=$(printf %x $((0x$(nm "$tmp/same" | awk '$3 == "per_thread" || $3 == "table" { print $1 }' | tail -n 1) + 24)))
		is "no build-id: before" "$("$HOTVAR" sym -q -e "$tmp/same" "$a" | awk '{ print $2 }')" 'table[0].st.misses'
		cat "$tmp/new" > "$tmp/same"
		is "no build-id: after" "$("$HOTVAR" sym -q -e "$tmp/same" "$a" | awk '{ print $2 }')" 'table[0].st.mosses'
	}

	# ---- damage: names stay, members go ----
	size=$(readelf -SW "$tmp/j" | sed -n 's/^ *\[ *[0-9]*\] \.debug_info *PROGBITS *[0-9a-f]* \([0-9a-f]*\) \([0-9a-f]*\).*/\1 \2/p')
	cp "$tmp/j" "$tmp/broken"
	dd if=/dev/urandom of="$tmp/broken" bs=1 seek=$((0x${size% *} + 40)) count=$((0x${size#* } - 80)) conv=notrunc 2> /dev/null
	is "damaged: names stay" "$("$HOTVAR" sym -q --no-members -e "$tmp/broken" "$(nm "$tmp/broken" | awk '$3 == "table" { print $1 }')" | awk '{ print $2 }')" table
}

# ---- a struct that the compiler has taken apart: each part is a symbol of its own ----
cat > "$tmp/parts.c" << 'END'
static struct { int a; long b; double c; } s;
__attribute__((noinline)) void set(int n) { s.a += n; s.b += n * 2; s.c += n; }
__attribute__((noinline)) double sum(void) { return s.a + s.b + s.c; }
int main(int argc, char **argv) { (void)argv; for (int i = 0; i < argc; i++) set(i + argc); return (int)sum(); }
END
if have clang && build "a struct in parts" clang -O2 -gdwarf-5 parts.c -o parts && nm "$tmp/parts" | grep -q ' s\.1$'; then
	is "a struct in parts" "$(nm "$tmp/parts" | awk '$3 ~ /^s\./ { print $1 }' | "$HOTVAR" sym -q -e "$tmp/parts" | awk '{ print $2 }' | tr '\n' ' ')" 's.0.a s.1.b s.2.c '
else
	skip "a struct in parts" "no compiler here takes it apart"
fi

# ---- 32 bits ----
cat > "$tmp/m32.c" << 'END'
struct st { long hits; int b : 3, c : 7; };
struct e { struct e *next; struct st st; union { int i; char raw[6]; }; int (*fn)(int); } table[3];
int f(int n) { static struct st last[2]; last[n & 1].hits++; table[n].st.hits++; return (int)last[0].hits; }
END
if build "32 bits" gcc -m32 -O1 -g -nostdlib -shared -fPIC m32.c -o m32; then
	a=$((0x$(nm "$tmp/m32" | awk '$3 == "table" { print $1 }')))
	is "32 bits" "$(for o in 0 4 8 12 20 28; do printf '%x\n' $((a + o)); done | "$HOTVAR" sym -q -e "$tmp/m32" | awk '{ print $2 }' | tr '\n' ' ')" \
		'table[0].next table[0].st.hits table[0].st.b table[0].i table[0].fn table[1].st.hits '
	oracle "32 bits" m32
fi

# ---- C++ ----
cat > "$tmp/x.cc" << 'END'
#include <array>
#include <map>
#include <memory>
#include <string>
#include <vector>
#include <tuple>
struct base { int x; virtual ~base() {} virtual int f() { return x; } };
struct other { double y; char tag; };
struct none {};
struct child : base, other { short z; int f() override { return z; } };
struct thin : none { int v; };
struct left : virtual base { int l; };
struct right : virtual base { int r; };
struct diamond : left, right { int d; };
template <class T, int N> struct ring { T v[N]; unsigned head, tail; static int made; static inline long live = 3; };
template <class T, int N> int ring<T, N>::made = 1;
enum class mood : unsigned char { good, bad };
namespace app { namespace in { struct conf { int a; mood m; } conf; static struct conf hidden[2]; } ring<int, 4> ints; }
namespace { ring<char, 3> chars; struct local { int q; union { int u; float w; }; } loc; }
static union { int as_int; float as_float; };
std::array<std::array<int, 3>, 2> grid;
std::vector<int> vec;
std::string str = "x";
std::map<std::string, std::vector<int>> tree;
std::unique_ptr<child> owned;
std::shared_ptr<child> common;
std::tuple<int, char, double> tup;
child kids[2];
struct { int a; std::nullptr_t none; int b; } nulls[2];
thin th;
diamond dia;
int child::*mp; int (base::*mfp)();
inline int fun() { static std::array<int, 2> once; return once[0]++; }
template <class T> T *get() { static T it; return &it; }
struct holder { int run() { static other st; return ++st.tag; } };
int main() { holder h; app::in::hidden[0].a++; chars.head++; loc.q++; as_int++; ring<char, 3>::made++; ring<int, 4>::made += ring<int, 4>::live; return fun() + *get<int>() + get<child>()->z + h.run(); }
END
for cc in g++ clang++; do
	have $cc || { skip "$cc" "it is not here"; continue; }
	for f in "-O0 -gdwarf-5" "-O2 -gdwarf-4 -fdebug-types-section" "-O1 -gdwarf-5 -gsplit-dwarf"; do
		# shellcheck disable=SC2086
		build "$cc $f" $cc -std=c++17 $f x.cc -o x || continue
		oracle "$cc $f" x
	done
	build "$cc" $cc -std=c++17 -O1 -g x.cc -o x || continue
	# what the standard library's own debuggers' scripts take as known: names of libstdc++
	xat() {
		"$HOTVAR" sym -q -e "$tmp/x" "$(printf %x $((0x$(nm "$tmp/x" | awk -v n="$1" '$3 == n { print $1 }') + $2)))" | awk '{ print $2 }'
	}
	is "$cc: std::array" "$(xat grid 20)" 'grid._M_elems[1]._M_elems[2]'
	is "$cc: std::vector's header" "$(xat vec 8)" 'vec._M_impl._M_finish'
	is "$cc: members of a second base class" "$(xat kids $((40 + 24)))" 'kids[1].tag'
	is "$cc: in a namespace" "$(xat _ZN3app2in4confE 4)" 'app::in::conf.m'
done
if have rustc; then
	cat > "$tmp/r.rs" << 'END'
pub struct Stats { pub hits: u64, pub misses: u32 }
pub enum Shape { Dot, Round(f64), Box { w: u32, h: u64 } }
#[no_mangle] pub static mut TABLE: [Stats; 3] = [Stats { hits: 1, misses: 1 }, Stats { hits: 2, misses: 2 }, Stats { hits: 3, misses: 3 }];
#[no_mangle] pub static mut SHAPE: Shape = Shape::Box { w: 1, h: 2 };
#[no_mangle] pub static mut PAIR: (u8, u64) = (1, 2);
mod deep { pub static mut COUNT: [u32; 2] = [1, 2]; }
fn main() { unsafe {
	println!("{:#x} r::deep::COUNT[1]", core::ptr::addr_of!(deep::COUNT[1]) as usize);
	println!("{:#x} TABLE[2].misses", core::ptr::addr_of!(TABLE[2].misses) as usize);
	println!("{:#x} PAIR.__1", core::ptr::addr_of!(PAIR.1) as usize);
	if let Shape::Box { h, .. } = &*core::ptr::addr_of!(SHAPE) { println!("{:#x} SHAPE.Box.h", h as *const u64 as usize); }
	println!("ready");
	use std::io::Write; std::io::stdout().flush().unwrap();
	loop { std::thread::park(); }
} }
END
	cat > "$tmp/enums.rs" << 'END'
pub enum One { A(u8, u32), B { x: u64, y: [u16; 3] }, C }
pub enum Nest { In(One), Opt(Option<Box<u32>>), Str(String) }
pub struct Gen<T> { pub a: T, pub b: Option<T>, pub c: (T, u8) }
#[repr(C)] pub union Un { pub a: u32, pub b: [u8; 4] }
#[repr(u16)] pub enum Small { X = 300, Y(u32) = 5 }
#[no_mangle] pub static mut V1: [One; 3] = [One::C, One::A(1, 2), One::C];
#[no_mangle] pub static mut V2: [Nest; 2] = [Nest::In(One::C), Nest::Opt(None)];
#[no_mangle] pub static mut V3: Gen<u64> = Gen { a: 1, b: Some(3), c: (4, 5) };
#[no_mangle] pub static mut V4: Un = Un { a: 4 };
#[no_mangle] pub static mut V5: Small = Small::Y(4);
#[no_mangle] pub static mut V6: Option<Option<bool>> = None;
#[no_mangle] pub static mut V7: Result<u64, &'static str> = Err("x");
fn main() {}
END
	build "Rust's enums" rustc -g -A warnings enums.rs -o enums && oracle "Rust's enums" enums
	build "Rust" rustc -g -C opt-level=1 r.rs -o r && start "$tmp/r" && {
		sed -n 's/^\(0x[0-9a-f]*\) .*/\1/p' "$tmp/out" | "$HOTVAR" sym -q --json -p "$pid" > "$tmp/got"
		while read -r _ want; do
			check "Rust: $want" grep -qF "\"$want\"" "$tmp/got"
		done << END
$(grep '^0x' "$tmp/out")
END
		stop
	}
else
	skip "Rust" "no rustc here"
fi

done_testing
