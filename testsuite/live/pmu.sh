#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# pmu.sh - --source pmu: accesses where a PMU samples them, else what failed, why, and what to do.
. "$top_srcdir/testsuite/lib.sh"

cd "$tmp" || exit 1
cat > spin.c <<'C'
volatile long hot[8];
int main(void)
{
	for (long i = 0; i < 200000000; i++)
		hot[i & 7]++;
	return 3;
}
C
"${CC:-cc}" -O1 -g -o spin spin.c || exit 1
"$HOTVAR" doctor > doctor.out 2>&1
"$HOTVAR" --source pmu --json -o pmu.json -- ./spin > out 2> err
status=$?
if [ "$status" = 3 ]; then
	like "the variable is found, by its addresses" "$(cat pmu.json)" '"name":"hot".*"share":0\.[5-9]'
	like "... with cycles" "$(cat pmu.json)" '"name":"hot".*"latency_mean":[0-9]'
	"$HOTVAR" --json -o auto.json -- ./spin > out 2> err
	like "auto takes it" "$(cat auto.json)" '"source":"(Intel PEBS|AMD IBS)"'
	like "doctor says so" "$(cat doctor.out)" 'source pmu'
else
	is "without one the status is that of a failure" "$status" 125
	is "... one line is said" "$(grep -c . err)" 1
	like "... what failed, why, what to do" "$(cat err)" '^hotvar: PMU: .*: .*leave out --source pmu'
	"$HOTVAR" --json -o auto.json -- ./spin > out 2> err
	unlike "auto takes another" "$(cat auto.json)" '"source":"(Intel PEBS|AMD IBS)"'
	"$HOTVAR" --source pmu -p $$ > out 2> err
	is "of a process that runs, likewise" "$? $(grep -c '^hotvar: PMU: ' err)" "125 1"
	"$HOTVAR" record --source pmu -o rec -- ./spin > out 2> err
	is "record says it and leaves no file" "$? $(grep -c '^hotvar: PMU: ' err) $(ls rec 2> /dev/null)" "125 1 "
	like "doctor has the same" "$(tr -s '\n ' ' ' < doctor.out)" 'pmu .*(samples accesses|max_precise|cannot be opened|tells of no access|refused)'
fi
done_testing
