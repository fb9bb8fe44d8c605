// SPDX-License-Identifier: GPL-2.0-or-later
/* libreload_one.c - the first library of reload.c, as large as the second. */
long one_var[512];

long *variable(void)
{
	return one_var;
}
