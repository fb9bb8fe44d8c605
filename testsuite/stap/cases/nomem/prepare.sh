# SPDX-License-Identifier: GPL-2.0-or-later
# prepare.sh - scripts for which each time, each third and each seventh time there is no memory.
for n in 1 3 7; do
	cat > "every$n.stp" << EOF
// every$n.stp - no memory each $n-th time, until a program says that there is.
// stap: -g -DHVK_FAIL_EVERY=$n -DMAXACTION=1000000
global told
function memory() %{ hvk_failing = false; %}
probe vma.map, vma.unmap, vma.change, vma.exec, vma.fork, vma.exit { @vma_each({ told++ }) }
probe mark { if (mark == 0x4d4d) { printf("MEMORY %d\\n", vma_lost()); memory() } }
probe mark.checkpoint {
	printf("CK %d %d %d\\n", pid(), a, vma_count())
	for (x = vma_next(0); x; x = vma_next(x))
		printf("AREA %d %d %x %x %s\\n", pid(), a, x, vma_end(x), vma_path(x))
}
probe end { printf("TOLD %d LOST %d\\n", told, vma_lost()) }
EOF
done
