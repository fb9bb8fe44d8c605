# SPDX-License-Identifier: GPL-2.0-or-later
# judge.sh - the functions say what was done to each page, and what the kernel says of it.
for r in pages alone; do
	is "$suite: staprun ends well: $r" "$(cat "$out/$r/status")" 0
done
judge pages python3 "$dir/pages.py" "$out/pages" "$(sed -n 's/.* \(vma_[a-z_]*\)(a).*/\1/p' "$dir/pages.stp")"
judge "pages, nothing followed" python3 "$dir/pages.py" "$out/alone" "$(sed -n 's/.* \(vma_[a-z_]*\)(a).*/\1/p' "$dir/alone.stp")"
for d in zeros thp hugetlb swap; do
	like "$suite: there were pages of this kind: $d" "$(cat "$out/pages/stdout")" "^DID $d"
done
