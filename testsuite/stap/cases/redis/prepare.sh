# SPDX-License-Identifier: GPL-2.0-or-later
# prepare.sh - redis, built once from the distribution's source package, its symbol image, and the script.
redis=$(sh "$top_srcdir/testsuite/real/redis-build") || exit 1
cp "$redis/redis-server" "$redis/redis-cli" "$redis/redis-benchmark" . || exit 1
XDG_CACHE_HOME=$tmp/redis-cache "$HOTVAR" symbols "$PWD/redis-server" || exit 1
for f in "$tmp"/redis-cache/hotvar/*.img; do
	img=${f##*/}
	cp "$f" "$work/images/${img%%-*}.img" || exit 1
done
# See examples/prepare.sh.
sed '1a // stap: -DMAXTRYLOCK=2000000' "$top_srcdir/examples/hotvar.stp" > hotvar.stp
