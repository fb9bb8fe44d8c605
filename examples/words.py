# SPDX-License-Identifier: GPL-2.0-or-later
"""words.py - some seconds of ordinary Python: strings, a dictionary, integers, a sort.

    hotvar -- /usr/bin/python3 examples/words.py [SECONDS]
"""
import sys
import time

counts = {}
end = time.time() + (float(sys.argv[1]) if len(sys.argv) > 1 else 3)
while time.time() < end:
    for i in range(20000):
        word = str(i % 977)
        counts[word] = counts.get(word, 0) + len(word)
    ranking = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
print(len(ranking), "words, the most frequent:", *(word for word, _ in ranking[:3]))
