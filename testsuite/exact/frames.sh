# SPDX-License-Identifier: GPL-2.0-or-later
# frames.sh - live/exact-frames.sh, built by more compilers in more ways.
EXACT_FRAMES="gcc -O0
gcc -O0 -static
gcc -O2 -static
clang -O0 -static
gcc -O2
gcc -O2 -fno-omit-frame-pointer
gcc -Os -gdwarf-4
clang -O0
clang -O2
clang -O1 -fno-omit-frame-pointer"
. "$top_srcdir/testsuite/live/exact-frames.sh"
