# SPDX-License-Identifier: GPL-2.0-or-later
# guest.sh - symbol images that are not to be trusted: names by module and offset, nothing worse.
# needs: names
run trusted names/functions /srv/names/names
images=/var/cache/hotvar
cp -r $images /tmp/images
again() {
	rm -rf $images
	mkdir $images
	cp /tmp/images/* $images
	chmod 755 $images
	chmod 644 $images/*
}
for way in foreign writable folder truncated empty noise header odd; do
	n=0
	again
	for f in "$images"/*.img; do
		size=$(wc -c < "$f")
		case $way in
		foreign) chown 1000 "$f" ;;
		writable) chmod 666 "$f" ;;
		folder) chmod 777 $images ;;
		truncated) head -c $((size / 2)) "$f" > /tmp/x && cat /tmp/x > "$f" ;;
		empty) : > "$f" ;;
		noise) head -c "$size" /dev/urandom > "$f" ;;
		odd)
			n=$((n + 1))
			case $((n % 4)) in
			0) rm "$f" && mkfifo -m 644 "$f" ;;
			1) mv "$f" "${f%.img}.of" && ln -s "${f%.img}.of" "$f" ;;
			2) rm "$f" && mkdir "$f" ;;
			3) truncate -s 300M "$f" ;;
			esac
			;;
		header) dd if=/dev/urandom of="$f" bs=1 seek=$((64 + size % 199)) count=64 conv=notrunc 2> /dev/null ;;
		esac
	done
	run "$way" names/functions /srv/names/names
done
again
rm -rf /tmp/images
