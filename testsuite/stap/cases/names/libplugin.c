// SPDX-License-Identifier: GPL-2.0-or-later
/* libplugin.c - what is loaded while the program runs, with variables of its own. */
int plugin_table[64] = { 1, 2, 3 };
int plugin_zeros[4096];
const char plugin_words[] = "words that nobody writes";
static int plugin_hidden[32] = { 4 };

int *plugin_hidden_at(void)
{
	return plugin_hidden;
}

int plugin_sum(int x)
{
	return plugin_table[x] + plugin_zeros[x] + plugin_hidden[x & 31];
}
