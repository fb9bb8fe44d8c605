# SPDX-License-Identifier: GPL-2.0-or-later
# judge.sh - each argument is called as the program says.
is "$suite: staprun ends well: functions" "$(cat "$out/functions/status")" 0
is "$suite: names in probes on user functions" "$(cat "$out/functions/events")" \
	"$(sed 's,$, [/srv/uprobes/touched] in touch,' "$out/functions/stdout")"
is "$suite: nine of them" "$(grep -c . "$out/functions/stdout")" 9
