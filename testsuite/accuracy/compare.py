#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# compare.py - a report by samples against one of --exact of the same load: compare.py EXACT SAMPLED ERROR HELD
#
# ERROR: how far off, in points, a share may be over the eight with most accesses without its interval saying so.  HELD: the
# part of all of 0.5 % and more whose interval must hold the exact share.  The insides of heap and stacks are one row each.
import sys

import accuracy


def main(exact, sampled, error, held):
    rows, total = accuracy.read_report(sampled)
    m = accuracy.compare(accuracy.read_report(exact)[0], rows)
    print("# largest error %.2f points, %.2f of it without its interval saying so, %d of %d intervals hold, top five %.2f, %d samples" % (
        m["error"], m["bad"], m["held"], m["of"], m["top5"], total["samples"]))
    for key, t, s, lo, hi, ok in m["rows"]:
        print("#     %-36s exact %6.2f  sampled %6.2f  [%6.2f, %6.2f] %s" % (key, 100 * t, 100 * s, 100 * lo, 100 * hi, "" if ok else "MISSED"))
    return not (total["samples"] and not total["lost"] and m["bad"] <= float(error) and m["held"] >= float(held) * m["of"])


sys.exit(main(*sys.argv[1:]))
