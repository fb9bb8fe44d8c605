# SPDX-License-Identifier: GPL-2.0-or-later
# dwarf.sh - every static variable of real programs and every scalar in it, against gdb.
#
# Lua, SQLite and Redis from the distribution's source packages, by gcc and clang, with each form of debug information:
# paths, offsets, files and lines must be those that gdb has.  No disagreement is let pass.
. "$top_srcdir/testsuite/lib.sh"
. "$top_srcdir/testsuite/symlib.sh"

HOTVAR_TEST_CACHE=${HOTVAR_TEST_CACHE:-$HOME/.cache/hotvar-testsuite}
export HOTVAR_TEST_CACHE

if ! have gdb || ! have python3 || [ "$(gdb -batch -nx -ex 'python print(6*7)' 2> /dev/null)" != 42 ]; then
	skip "members of real programs" "no gdb with python, or no python3, here"
	done_testing
	exit
fi
jobs=$(nproc)

# oracle TEXT PROGRAM LEAST-VARIABLES [lto]
oracle() {
	ORACLE_OUT=$tmp/oracle timeout 200 gdb -batch -nx -iex 'set auto-load no' -ex "source $top_srcdir/testsuite/real/oracle-gdb.py" \
		"$2" > "$tmp/gdb.out" 2>&1
	if ! grep -q '^V' "$tmp/oracle"; then
		skip "$1" "this gdb cannot read it"
		return
	fi
	check "$1" env ORACLE_LTO="$4" python3 "$top_srcdir/testsuite/real/oracle-compare.py" "$HOTVAR" "$2" "$tmp/oracle"
	sed -n 's/^\([0-9]* variables, .*\)/# \1/p' "$tmp/check.out"
	is "$1: so many variables" "$(sed -n 's/^\([0-9]*\) variables, .*/\1/p' "$tmp/check.out" | awk -v n="$3" '{ print ($1 >= n) }')" 1
}
lto_of() {
	case $1 in
	*flto*) echo yes ;;
	esac
}
# flags CC FLAGS: with what clang needs to link its own form
flags() {
	case $1-$2 in
	clang*flto*) echo "$2 -fuse-ld=lld" ;;
	*) echo "$2" ;;
	esac
}

# ---- Lua: all forms ----
mkdir "$tmp/inc"
echo '#define DEB_HOST_MULTIARCH "none"' > "$tmp/inc/lua5.4-deb-multiarch.h" # the package's own build makes it
lua=$(sh "$top_srcdir/testsuite/real/apt-source" lua5.4) && for cc in gcc clang; do
	have $cc || { skip "Lua, $cc" "it is not here"; continue; }
	for v in 4 5; do
		for f in "" -flto -gsplit-dwarf "-fdebug-types-section -gz"; do
			dir=$tmp/lua
			mkdir "$dir"
			# shellcheck disable=SC2086,SC2046
			if (cd "$dir" && ls "$lua"/src/*.c | grep -v '/luac\.c$' | xargs -P "$jobs" -n 3 $cc -O1 -gdwarf-$v $f -DLUA_USE_LINUX -I"$tmp/inc" -w -c &&
				$cc -O1 -gdwarf-$v $(flags $cc "$f") ./*.o -o lua -lm -ldl) > "$tmp/build.out" 2>&1; then
				# by LTO hardly one is left to gdb
				oracle "Lua, $cc -gdwarf-$v $f" "$dir/lua" "$([ "$f" = -flto ] && echo 5 || echo 25)" "$(lto_of "$f")"
			else
				not_ok "Lua, $cc -gdwarf-$v $f: it builds" "$(tail -n 5 "$tmp/build.out")"
			fi
			rm -rf "$dir"
		done
	done
done
[ -n "$lua" ] || not_ok "Lua's source package"

# ---- SQLite: one source file of everything, made by Tcl ----
if have tclsh && sqlite=$(sh "$top_srcdir/testsuite/real/apt-source" sqlite3); then
	mkdir "$tmp/sqlite"
	if (cd "$tmp/sqlite" && "$sqlite/configure" && make sqlite3.c shell.c) > "$tmp/build.out" 2>&1; then
		for how in "gcc -gdwarf-5" "gcc -gdwarf-4 -fdebug-types-section" "clang -gdwarf-5 -gsplit-dwarf" "clang -gdwarf-4"; do
			have "${how%% *}" || { skip "SQLite, $how" "it is not here"; continue; }
			# shellcheck disable=SC2086
			if (cd "$tmp/sqlite" && $how -O1 -w -c sqlite3.c & cd "$tmp/sqlite" && $how -O1 -w -c shell.c; wait
				cd "$tmp/sqlite" && ${how%% *} sqlite3.o shell.o -o shell -lm -ldl -lpthread) > "$tmp/build.out" 2>&1; then
				oracle "SQLite, $how" "$tmp/sqlite/shell" 100
			else
				not_ok "SQLite, $how: it builds" "$(tail -n 5 "$tmp/build.out")"
			fi
		done
	else
		not_ok "SQLite's one source file" "$(tail -n 5 "$tmp/build.out")"
	fi
	rm -rf "$tmp/sqlite"
else
	skip "SQLite" "no tclsh, or no source package"
fi

# ---- Redis ----
redis=$(sh "$top_srcdir/testsuite/real/redis-build") && oracle "Redis, gcc -g" "$redis/redis-server" 800
[ -n "$redis" ] || not_ok "Redis' source package"
redis=$(sh "$top_srcdir/testsuite/real/apt-source" redis) && for how in "gcc -gdwarf-4 -fdebug-types-section" "clang -gdwarf-5" "clang -gdwarf-4 -gsplit-dwarf" \
	"gcc -gdwarf-5 -flto -ffat-lto-objects"; do
	have "${how%% *}" || { skip "Redis, $how" "it is not here"; continue; }
	cp -r "$redis" "$tmp/redis"
	if make -C "$tmp/redis" -j"$jobs" MALLOC=libc BUILD_TLS=no USE_SYSTEMD=no OPTIMIZATION=-O1 REDIS_CFLAGS="${how#* } -w" \
		CFLAGS="${how#* } -w" CC="${how%% *}" redis-server > "$tmp/build.out" 2>&1; then
		oracle "Redis, $how" "$tmp/redis/src/redis-server" "$([ -n "$(lto_of "$how")" ] && echo 200 || echo 700)" "$(lto_of "$how")"
	else
		not_ok "Redis, $how: it builds" "$(tail -n 5 "$tmp/build.out")"
	fi
	rm -rf "$tmp/redis"
done

done_testing
