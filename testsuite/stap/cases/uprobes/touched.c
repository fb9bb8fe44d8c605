// SPDX-License-Identifier: GPL-2.0-or-later
/* hotvar-cflags: -O1 -g */
/* touched.c - calls a function with the address of each of its variables; prints what they are called. */
#include <stdio.h>

struct pair { int a, b; };
int shared_word = 3;
static long hidden_table[8] = { 1 };
static struct pair zero_pairs[16];

static int __attribute__((noinline)) touch(const char *p)
{
	__asm__ volatile("" : : "r"(p) : "memory");
	return *p;
}

int main(void)
{
	int i, sum = 0;

	for (i = 0; i < 3; i++) {
		sum += touch((const char *)&shared_word);
		sum += touch((const char *)&hidden_table[i]);
		sum += touch((const char *)&zero_pairs[i].b);
		printf("shared_word+0x0/0x4\nhidden_table+0x%x/0x40\nzero_pairs+0x%x/0x80\n", 8 * i, 8 * i + 4);
	}
	return sum < 0;
}
