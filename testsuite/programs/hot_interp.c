// SPDX-License-Identifier: GPL-2.0-or-later
/* hotvar-cflags: -O2 -g -fno-tree-vectorize -fno-tree-slp-vectorize */
/* hot_interp.c - a register machine that runs a small program. */
#include "hot.h"

enum op { SET, ADD, SCALE, AND, LOAD, STORE, LESS, JUMPIF, HALT, OPS };
enum { WORDS = 1024 };

/* Each instruction is four bytes: op, a, b, c. */
uint8_t program[64][4];
int64_t registers[16];
int64_t memory[WORDS];
uint64_t op_count[OPS];
int64_t constants[16];

static int at;

static int emit(enum op o, int a, int b, int c)
{
	program[at][0] = (uint8_t)o;
	program[at][1] = (uint8_t)a;
	program[at][2] = (uint8_t)b;
	program[at][3] = (uint8_t)c;
	return at++;
}

/* sum over i of memory[i & mask] * 3, kept in memory[(i * 7) & mask] every round */
NOINLINE static void init(void)
{
	int loop;

	for (int i = 0; i < WORDS; i++)
		memory[i] = i * 5;
	constants[1] = 1;
	constants[2] = 4000;
	constants[3] = WORDS - 1;
	constants[4] = 3;
	constants[5] = 7;
	emit(SET, 0, 0, 0); /* i = 0 */
	emit(SET, 1, 1, 0);
	emit(SET, 2, 2, 0);
	emit(SET, 3, 3, 0);
	emit(SET, 4, 4, 0);
	emit(SET, 5, 5, 0);
	loop = emit(AND, 6, 0, 3); /* r6 = i & mask */
	emit(LOAD, 7, 6, 0);	   /* r7 = memory[r6] */
	emit(SCALE, 7, 7, 4);
	emit(ADD, 8, 8, 7);
	emit(SCALE, 9, 0, 5);
	emit(AND, 9, 9, 3);
	emit(LOAD, 11, 9, 0);
	emit(STORE, 9, 8, 0);
	emit(ADD, 0, 0, 1);
	emit(LESS, 10, 0, 2);
	emit(JUMPIF, 10, loop, 0);
	emit(HALT, 0, 0, 0);
}

NOINLINE static void run(void)
{
	const uint8_t(*pc)[4] = program;

	for (;;) {
		const uint8_t *in = *pc++;
		unsigned op = in[0];

		op_count[op]++;
		switch (op) {
		case SET:
			registers[in[1]] = constants[in[2]];
			break;
		case ADD:
			registers[in[1]] = registers[in[2]] + registers[in[3]];
			break;
		case SCALE:
			registers[in[1]] = registers[in[2]] * constants[in[3]];
			break;
		case AND:
			registers[in[1]] = registers[in[2]] & registers[in[3]];
			break;
		case LOAD:
			registers[in[1]] = memory[registers[in[2]] & (WORDS - 1)];
			break;
		case STORE:
			memory[registers[in[1]] & (WORDS - 1)] = registers[in[2]];
			break;
		case LESS:
			registers[in[1]] = registers[in[2]] < registers[in[3]];
			break;
		case JUMPIF:
			if (registers[in[1]])
				pc = program + in[2];
			break;
		default:
			return;
		}
	}
}

int main(int argc, char **argv)
{
	long n = work_asked(argc, argv, 36000);
	uint64_t all = 0, three, taken;
	const uint64_t *c = op_count;

	init();
	for (long i = 0; i < n; i++)
		run();
	for (int i = 0; i < OPS; i++)
		all += op_count[i];
	three = c[ADD] + c[AND] + c[LESS];
	taken = c[JUMPIF] - (uint64_t)n; /* the last of each run falls through */
	HOT_PRINT({ "program", all + 3 * (three + c[SCALE]) + 2 * (c[SET] + c[LOAD] + c[STORE]) +
				       c[JUMPIF] + taken },
		  { "registers", 3 * three + c[SET] + 2 * (c[SCALE] + c[LOAD] + c[STORE]) +
					 c[JUMPIF] },
		  { "op_count", 2 * all },
		  { "memory", c[LOAD] + c[STORE] },
		  { "constants", c[SET] + c[SCALE] });
	return 0;
}
