/* SPDX-License-Identifier: GPL-2.0-or-later */
/* libwatched.c - a library of watch_library.c: two variables, and functions that write them a given number of times. */
struct {
	char before[8192]; /* what is behind lies not where the loader clears the rest of a file's page */
	long behind;
} in_bss;
long in_data = 5;

void write_bss(int n)
{
	while (n-- > 0)
		__asm__ volatile("movq $1, %0" : "=m"(in_bss.behind));
}

void write_data(int n)
{
	while (n-- > 0)
		__asm__ volatile("movq $1, %0" : "=m"(in_data));
}

long *where(void)
{
	return &in_bss.behind;
}
