# SPDX-License-Identifier: GPL-2.0-or-later
# clang.sh - every source of hotvar, and every fuzz target, by clang with our warnings: the fuzz targets are built by it, minutes later.
. "$top_srcdir/testsuite/lib.sh"

command -v clang > "$tmp/where" || skip_all "no clang here (apt-get install clang)"
cd "$top_srcdir" || exit 1

# clean FOLDER STANDARD: no warning in any of its files
clean() {
	ls "$1"/*.c | xargs -P 2 -n 8 clang -I. -I"$top_builddir" -pthread -fsyntax-only -Wall -Wextra -Wshadow -Werror -std="$2"
}
for folder in runtime/user runtime/report runtime/cli translator-hooks testsuite/fuzz; do
	check "$folder is clean" clean $folder gnu11
done
check "runtime/core is clean" clean runtime/core gnu90

echo 'struct s { int n; char text[]; }; struct t { struct s s; int n; }; extern struct t t;' > "$tmp/odd.c"
check "and what gcc lets pass is found" sh -c '! clang -fsyntax-only -Wall -Wextra -Wshadow -Werror "$1"' odd "$tmp/odd.c"

done_testing
