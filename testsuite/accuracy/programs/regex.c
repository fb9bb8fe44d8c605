// SPDX-License-Identifier: GPL-2.0-or-later
/* regex.c - patterns compiled to a state set machine, run over lines. */
#include "work.h"

enum { STATES = 64, LINES = 4096, LEN = 64 };

struct state {
	uint8_t kind, low, high;
	uint8_t out, out2;
};
struct state machine[STATES];
uint8_t lines[LINES][LEN];
uint32_t mark[STATES];
uint8_t now_list[STATES], next_list[STATES];
uint32_t matches[LINES];
uint8_t fold[256];
uint32_t generation;
unsigned n_states;

enum { CHARS = 1, SPLIT, MATCH };

static unsigned add(uint8_t kind, uint8_t low, uint8_t high, uint8_t out, uint8_t out2)
{
	machine[n_states] = (struct state){ kind, low, high, out, out2 };
	return n_states++;
}

/* ([a-f]+[0-9]|x.*y)z? from any place */
static void compile(void)
{
	add(MATCH, 0, 0, 0, 0);		/* 0 */
	add(CHARS, 'z', 'z', 0, 0);	/* 1 */
	add(SPLIT, 0, 0, 1, 0);		/* 2: z? */
	add(CHARS, '0', '9', 2, 0);	/* 3 */
	add(SPLIT, 0, 0, 5, 3);		/* 4 */
	add(CHARS, 'a', 'f', 4, 0);	/* 5 */
	add(CHARS, 'y', 'y', 2, 0);	/* 6 */
	add(SPLIT, 0, 0, 8, 6);		/* 7 */
	add(CHARS, 0, 255, 7, 0);	/* 8 */
	add(CHARS, 'x', 'x', 7, 0);	/* 9 */
	add(SPLIT, 0, 0, 5, 9);		/* 10: start */
}

static unsigned follow(uint8_t *list, unsigned n, uint8_t s)
{
	while (mark[s] != generation) {
		mark[s] = generation;
		if (machine[s].kind != SPLIT) {
			list[n++] = s;
			break;
		}
		n = follow(list, n, machine[s].out2);
		s = machine[s].out;
	}
	return n;
}

NOINLINE static unsigned run(const uint8_t *line)
{
	unsigned n = 0, found = 0;

	for (unsigned i = 0; i < LEN; i++) {
		uint8_t c = fold[line[i]];
		unsigned m = 0;

		generation++;
		n = follow(now_list, n, 10);
		generation++;
		for (unsigned k = 0; k < n; k++) {
			const struct state *s = &machine[now_list[k]];

			if (s->kind == MATCH)
				found++;
			else if (c >= s->low && c <= s->high)
				m = follow(next_list, m, s->out);
		}
		memcpy(now_list, next_list, m);
		n = m;
	}
	return found;
}

int main(int argc, char **argv)
{
	uint64_t s = 5, sum = 0;
	long n = work_amount(argc, argv, 360);

	compile();
	for (int c = 0; c < 256; c++)
		fold[c] = (uint8_t)(c >= 'A' && c <= 'Z' ? c + 32 : c);
	for (int i = 0; i < LINES; i++)
		for (int k = 0; k < LEN; k++)
			lines[i][k] = "abcdefgh01234xyzABCXYZ      "[random_next(&s) % 28];
	for (long r = 0; r < n; r++)
		for (int i = 0; i < LINES; i++)
			matches[i] += run(lines[i]);
	for (int i = 0; i < LINES; i++)
		sum += matches[i];
	printf("%llu\n", (unsigned long long)sum);
	return 0;
}
