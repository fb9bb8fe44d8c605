/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * first_touch.c - touches each page of two arrays once: `big` by writing, `twice` by reading and then writing.
 *
 * Both begin and end at a page of their own.  Linux maps the page of zeros at a read, so that `twice` faults twice a page.
 */
enum { PAGE = 4096, BIG = 200, TWICE = 50 };

__attribute__((aligned(4096))) volatile char big[BIG * PAGE];
__attribute__((aligned(4096))) volatile char twice[TWICE * PAGE];
__attribute__((aligned(4096))) volatile char behind[PAGE];

int main(void)
{
	int sum = 0;

	for (int i = 0; i < BIG; i++)
		big[i * PAGE + 8] = (char)i;
	for (int i = 0; i < TWICE; i++)
		sum += twice[i * PAGE + 16];
	for (int i = 0; i < TWICE; i++)
		twice[i * PAGE + 16] = 1;
	return sum;
}
