// SPDX-License-Identifier: GPL-2.0-or-later
/* late.c - has a variable named, again and again, until the file in its argument is there. */
#include "mark.h"

int late_variable[16] = { 1 };

int main(int argc, char **argv)
{
	while (argc > 1 && access(argv[1], F_OK)) {
		mark(MARK_NAME, (long)&late_variable[3], 0);
		usleep(50000);
	}
	return 0;
}
