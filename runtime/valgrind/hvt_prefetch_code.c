// SPDX-License-Identifier: GPL-2.0-or-later
#include "hvt_prefetch_code.h"

enum { LONGEST = 15 };

/* What comes before the opcode. */
struct prefixes {
	unsigned rex;
	bool narrow, locked;
	enum hvt_prefetch_segment segment;
};

/* The bytes that are prefixes: how many.  A REX counts only right before the opcode. */
static unsigned prefixes(const uint8_t *code, unsigned len, struct prefixes *p)
{
	unsigned n;

	*p = (struct prefixes){ 0 };
	for (n = 0; n < len; n++) {
		if ((code[n] & 0xf0) == 0x40) {
			p->rex = code[n];
			continue;
		}
		switch (code[n]) {
		case 0x64:
			p->segment = HVT_PREFETCH_FS;
			break;
		case 0x65:
			p->segment = HVT_PREFETCH_GS;
			break;
		case 0x67:
			p->narrow = true;
			break;
		case 0xf0:
			p->locked = true;
			break;
		case 0x26: /* other segments begin at 0 */
		case 0x2e:
		case 0x36:
		case 0x3e:
		case 0x66:
		case 0xf2:
		case 0xf3:
			break;
		default:
			return n;
		}
		p->rex = 0;
	}
	return n;
}

static int64_t signed_bytes(const uint8_t *p, unsigned n)
{
	uint32_t x = 0;
	unsigned i;

	for (i = 0; i < n; i++)
		x |= (uint32_t)p[i] << 8 * i;
	return n == 1 ? (int8_t)x : (int32_t)x;
}

/* Does @reg of the ModRM of 0F @opcode prefetch data? */
static bool is_data(uint8_t opcode, unsigned reg)
{
	return opcode == 0x18 ? reg <= 3 : opcode == 0x0d && reg <= 2;
}

bool hvt_prefetch_code(const uint8_t *code, unsigned len, struct hvt_prefetch_code *out)
{
	unsigned at, mod, rm, n_disp, sib;
	struct prefixes p;

	if (len > LONGEST)
		return false;
	at = prefixes(code, len, &p);
	if (p.locked || len - at < 3 || code[at] != 0x0f || !is_data(code[at + 1], code[at + 2] >> 3 & 7))
		return false;
	mod = code[at + 2] >> 6;
	rm = code[at + 2] & 7;
	at += 3;
	if (mod == 3)
		return false;
	*out = (struct hvt_prefetch_code){ .base = (int)(rm | (p.rex & 1) << 3), .index = HVT_PREFETCH_NONE,
					   .segment = p.segment, .narrow = p.narrow };
	n_disp = mod == 1 ? 1 : mod == 2 ? 4 : 0;
	if (rm == 4) {
		if (at == len)
			return false;
		sib = code[at++];
		rm = sib & 7;
		out->base = (int)(rm | (p.rex & 1) << 3);
		out->index = (int)((sib >> 3 & 7) | (p.rex & 2) << 2);
		out->shift = sib >> 6;
		if (out->index == 4) { /* the stack pointer's number stands for none */
			out->index = HVT_PREFETCH_NONE;
			out->shift = 0;
		}
		if (rm == 5 && !mod) {
			out->base = HVT_PREFETCH_NONE;
			n_disp = 4;
		}
	} else if (rm == 5 && !mod) {
		out->base = HVT_PREFETCH_IP;
		n_disp = 4;
	}
	if (len - at != n_disp)
		return false;
	if (n_disp)
		out->disp = signed_bytes(code + at, n_disp);
	return true;
}
