// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * hvk_role.c - what an instruction does to the memory operand of its ModRM byte: see hvk_insn.h.
 *
 * After the opcode maps of the Intel SDM, volume 2, appendix A.
 */
#include "hvk_insn.h"

/* By opcode, in rows of 16: as hvk_role() answers, and g where it takes more than the opcode. */
static const char hvk_roles[2][16][17] = {
	{ /* one byte */
		"bbrr----bbrr----", "bbrr----bbrr----", "bbrr----bbrr----", "bbrr----rrrr----",
		"----------------", "----------------", "--rg-----r-r----", "----------------",
		"ggggrrbbwwrrw-rg", "----------------", "----------------", "----------------",
		"bb--rrgg--------", "bbbb----gggggggg", "----------------", "------gg------gg",
	},
	{ /* 0f */
		"xxrr-----------r", "rwrwrrrw--------", "--------rwrwrrrr", "----------------",
		"rrrrrrrrrrrrrrrr", "-rrrrrrrrrrrrrrr", "rrrrrrrrrrrrrrrr", "r---rrr-xx--rrgw",
		"----------------", "wwwwwwwwwwwwwwww", "---rbb-----bbbgr", "bbrbrrrrg-gbrrrr",
		"bbrwr-rg--------", "rrrrrrw-rrrrrrrr", "rrrrrrrwrrrrrrrr", "rrrrrrr-rrrrrrr-",
	},
};

/* Role of an x87 instruction's operand. */
static char hvk_role_x87(const struct hvk_insn *i)
{
	u8 reg = i->reg & 7;

	if (!(i->op & 1))
		return 'r';
	if ((i->op == 0xd9 && reg == 1) || (i->op == 0xdb && (reg == 4 || reg == 6)) ||
	    (i->op == 0xdd && reg == 5))
		return 'x';
	return 0xce >> reg & 1 ? 'w' : 'r';
}

static char hvk_role_group(bool wide, const struct hvk_insn *i)
{
	u8 reg = i->reg & 7;

	if (i->map == 1)
		switch (i->op) {
		case 0x63: /* movsxd; arpl in 32-bit code */
			return wide ? 'r' : 'b';
		case 0x80 ... 0x83:
			return reg == 7 ? 'r' : 'b';
		case 0x8f:
			return reg ? 'x' : 'w';
		case 0xc6: case 0xc7:
			return reg ? 'x' : 'w';
		case 0xd8 ... 0xdf:
			return hvk_role_x87(i);
		case 0xf6: case 0xf7:
			return reg == 2 || reg == 3 ? 'b' : 'r';
		case 0xfe:
			return reg < 2 ? 'b' : 'x';
		case 0xff:
			return reg < 2 ? 'b' : reg == 2 || reg == 4 || reg == 6 ? 'r' : 'x';
		}
	switch (i->op) {
	case 0x7e:
		return i->pp == 2 ? 'r' : 'w';
	case 0xae: /* fxsave fxrstor ldmxcsr stmxcsr xsave xrstor xsaveopt; then cache control */
		if (i->pp)
			return 'x';
		return reg == 7 ? '-' : reg == 4 || reg == 6 ? 'b' : reg == 0 || reg == 3 ? 'w' : 'r';
	case 0xb8:
		return i->pp == 2 ? 'r' : 'x';
	case 0xba:
		return reg < 4 ? 'x' : reg == 4 ? 'r' : 'b';
	case 0xc7:
		return reg == 1 ? 'b' : reg == 4 ? 'w' : 'x';
	}
	return 'x';
}

static char hvk_role_0f38(const struct hvk_insn *i)
{
	if (i->evex) {
		if (i->pp == 2 && i->op >= 0x10 && i->op < 0x36 && (i->op & 15) < 6)
			return 'w'; /* vpmov*: narrowed on the way out */
		if (i->op == 0x63 || i->op == 0x8a || i->op == 0x8b)
			return 'w';
		return (i->op & 0xfc) == 0x90 || (i->op & 0xfc) == 0xa0 || i->op >= 0xe0 ||
		       i->op == 0xc6 || i->op == 0xc7 ? 'x' : 'r';
	}
	if (i->vex) {
		if ((i->op & 0xfc) == 0x2c || (i->op & 0xfc) == 0x48 || i->op == 0x8c ||
		    i->op == 0x8e || (i->op & 0xfc) == 0x90 || i->op == 0xf8 || i->op == 0xf9)
			return 'x';
		return (i->op & 0xf0) == 0xe0 ? 'b' : 'r';
	}
	switch (i->op) {
	case 0x80: case 0x81: case 0x82: case 0xd8: case 0xf5: case 0xfc:
		return 'x';
	case 0xf1:
		return i->pp == 3 ? 'r' : 'w'; /* crc32, movbe */
	case 0xf6:
		return i->pp == 1 || i->pp == 2 ? 'r' : 'x';
	case 0xf8:
		return i->pp == 1 ? 'r' : 'x'; /* movdir64b */
	case 0xf9:
		return 'w';
	}
	return 'r';
}

static char hvk_role_0f3a(const struct hvk_insn *i)
{
	switch (i->op) {
	case 0x14: case 0x15: case 0x16: case 0x17:
	case 0x19: case 0x1b: case 0x1d: case 0x39: case 0x3b:
		return 'w';
	}
	return 'r';
}

HVK_API char hvk_role(bool wide, const struct hvk_insn *i)
{
	char role;

	switch (i->map) {
	case 3:
		return hvk_role_0f38(i);
	case 4:
		return hvk_role_0f3a(i);
	case 5:
		return i->op == 0x11 || i->op == 0x7e ? 'w' : 'r';
	case 6:
		return 'r';
	}
	if (i->evex && ((i->op >= 0x71 && i->op <= 0x73) || (i->op >= 0x78 && i->op <= 0x7b)))
		return 'r'; /* shifts and conversions, of memory only here */
	if (i->vex) {
		if (i->op == 0x90 || i->op == 0x91) /* kmov */
			return i->op == 0x90 ? 'r' : 'w';
		if ((i->op & 0xf0) == 0x90 || (i->op & 0xf0) == 0x40)
			return 'x';
	}
	role = hvk_roles[i->map - 1][i->op >> 4][i->op & 15];
	return role == 'g' ? hvk_role_group(wide, i) : role;
}
