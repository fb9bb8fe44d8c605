// SPDX-License-Identifier: GPL-2.0-or-later
/* lab: no image */
/* libplugged.c - a plug-in with a variable that no other file can name. */
static long plug_hidden[16] = { 3 };

void *plug_address(void)
{
	return plug_hidden;
}
