# SPDX-License-Identifier: GPL-2.0-or-later
# prepare.sh - the scripts that call every function that tells of a page, and what is made of it.
"$here/generate" functions "$work/hotvar/tapset" | sed '/^probe mark.address/,/^}/!d' |
	grep -E '^probe|^}|vma_page_|vma_is_private|vma_key' > pages.stp
# Those of the page alone: such a script follows no process.
"$here/generate" functions "$work/hotvar/tapset" | sed '/^probe mark.address/,/^}/!d' |
	grep -E '^probe|^}|vma_page_' > alone.stp
