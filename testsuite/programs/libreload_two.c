// SPDX-License-Identifier: GPL-2.0-or-later
/* libreload_two.c - the second library of reload.c, as large as the first. */
long two_var[512];

long *variable(void)
{
	return two_var;
}
