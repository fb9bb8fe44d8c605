// SPDX-License-Identifier: GPL-2.0-or-later
/* shapes.c - a shared library with one of each that an ELF reader tells apart: a seed of the ELF fuzz target. */
#ifdef VERSIONED
long tab_1;
long tab_2[2];
__asm__(".symver tab_1, tab@V_1");
__asm__(".symver tab_2, tab@@V_2");
#else
int data[3] = { 1, 2, 3 };
extern int alias[3] __attribute__((alias("data")));
int bss[10];
const char ro[8] = "constant";
__thread int tls = 4;
static int hidden = 5;
int fn(int n);

/* known by its unwind information alone, once stripped */
__attribute__((noinline)) static int unnamed(int n)
{
	return hidden += bss[n & 7];
}

int fn(int n)
{
	hidden += n + unnamed(n);
	return data[n] + bss[n] + ro[n] + tls + hidden;
}
#endif
