// SPDX-License-Identifier: GPL-2.0-or-later
/* vm.c - a register machine that runs three programs of its own. */
#include "work.h"

enum { ADD, ADDI, MULI, XOR, SHR, LOAD, STORE, JNZ, JLT, AND, HALT };

struct op {
	uint8_t code, a, b, c;
	int32_t imm;
};
struct op programs[3][32];
int64_t registers[16];
int64_t vm_memory[1024];
uint32_t executed[16];
uint32_t taken[32];

static void emit(int p, int i, uint8_t code, uint8_t a, uint8_t b, uint8_t c, int32_t imm)
{
	programs[p][i] = (struct op){ code, a, b, c, imm };
}

static void assemble(void)
{
	/* r1 = i, r2 = limit, r3 = accumulator */
	emit(0, 0, LOAD, 4, 1, 0, 0);
	emit(0, 1, ADD, 3, 3, 4, 0);
	emit(0, 2, MULI, 4, 4, 0, 3);
	emit(0, 3, STORE, 4, 1, 0, 0);
	emit(0, 4, ADDI, 1, 1, 0, 1);
	emit(0, 5, JLT, 1, 2, 0, 0);
	emit(0, 6, HALT, 0, 0, 0, 0);
	emit(1, 0, MULI, 3, 3, 0, 1103515245);
	emit(1, 1, ADDI, 3, 3, 0, 12345);
	emit(1, 2, SHR, 4, 3, 0, 8);
	emit(1, 3, AND, 5, 4, 0, 1);
	emit(1, 4, JNZ, 5, 0, 0, 7);
	emit(1, 5, XOR, 6, 6, 4, 0);
	emit(1, 6, ADDI, 6, 6, 0, 1);
	emit(1, 7, ADDI, 1, 1, 0, 1);
	emit(1, 8, JLT, 1, 2, 0, 0);
	emit(1, 9, HALT, 0, 0, 0, 0);
	emit(2, 0, LOAD, 4, 3, 0, 0);
	emit(2, 1, ADD, 3, 4, 1, 0);
	emit(2, 2, ADDI, 1, 1, 0, 1);
	emit(2, 3, JLT, 1, 2, 0, 0);
	emit(2, 4, HALT, 0, 0, 0, 0);
}

NOINLINE static int64_t run(const struct op *p)
{
	const struct op *at = p;

	for (;;) {
		const struct op *o = at++;

		executed[o->code]++;
		switch (o->code) {
		case ADD:
			registers[o->a] = registers[o->b] + registers[o->c];
			break;
		case ADDI:
			registers[o->a] = registers[o->b] + o->imm;
			break;
		case MULI:
			registers[o->a] = registers[o->b] * o->imm;
			break;
		case XOR:
			registers[o->a] = registers[o->b] ^ registers[o->c];
			break;
		case SHR:
			registers[o->a] = (int64_t)((uint64_t)registers[o->b] >> o->imm);
			break;
		case AND:
			registers[o->a] = registers[o->b] & o->imm;
			break;
		case LOAD:
			registers[o->a] = vm_memory[registers[o->b] & 1023];
			break;
		case STORE:
			vm_memory[registers[o->b] & 1023] = registers[o->a];
			break;
		case JNZ:
			if (registers[o->a]) {
				taken[o - p]++;
				at = p + o->imm;
			}
			break;
		case JLT:
			if (registers[o->a] < registers[o->b]) {
				taken[o - p]++;
				at = p + o->imm;
			}
			break;
		default:
			return registers[3];
		}
	}
}

int main(int argc, char **argv)
{
	long n = work_amount(argc, argv, 48000);
	int64_t sum = 0;

	assemble();
	for (int i = 0; i < 1024; i++)
		vm_memory[i] = i * 77;
	for (long r = 0; r < n; r++) {
		for (int p = 0; p < 3; p++) {
			registers[1] = 0;
			registers[2] = p == 0 ? 1024 : p == 1 ? 3000 : 500;
			registers[3] = r;
			sum += run(programs[p]);
		}
	}
	printf("%lld %u\n", (long long)sum, executed[ADDI]);
	return 0;
}
