// SPDX-License-Identifier: GPL-2.0-or-later
/* test_locals_frames.c - which call frame information libdw is given. */
#include "config.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <dwarf.h>

#include "elf_maker.h"
#include "translator-hooks/locals_frames.h"

enum { FRAMES = 0x2000, TABLE = 0x8000, SIZE = 4096 };

struct section {
	uint8_t v[SIZE];
	size_t n;
};

static void put(struct section *s, const void *p, size_t n)
{
	assert_true(s->n + n <= SIZE);
	memcpy(s->v + s->n, p, n);
	s->n += n;
}

static void put_u32(struct section *s, uint32_t v)
{
	put(s, &v, sizeof(v));
}

/* A CIE "zR" of 4-byte pointers, or of .debug_frame, whose instructions are the @n at @ops. */
static size_t put_cie(struct section *s, bool eh, const uint8_t *ops, size_t n)
{
	static const uint8_t eh_body[] = {
		1,  'z',  'R',
		0,  0x01, 0x78,
		16, 1,	  DW_EH_PE_pcrel | DW_EH_PE_sdata4};
	static const uint8_t debug_body[] = {3, 0, 0x01, 0x78, 16};
	size_t at = s->n;

	put_u32(s, (uint32_t)(4 + n +
			      (eh ? sizeof(eh_body) : sizeof(debug_body))));
	put_u32(s, eh ? 0 : ~0u);
	if (eh)
		put(s, eh_body, sizeof(eh_body));
	else
		put(s, debug_body, sizeof(debug_body));
	put(s, ops, n);
	return at;
}

/* An FDE of the CIE at @cie. */
static size_t put_fde(struct section *s, bool eh, size_t cie,
		      const uint8_t *ops, size_t n)
{
	uint64_t range[2] = {0x1000, 0x100};
	size_t at = s->n;

	put_u32(s, (uint32_t)(4 + n + (eh ? 9 : sizeof(range))));
	put_u32(s, (uint32_t)(eh ? s->n - cie : cie));
	if (eh)
		put(s, "\0\0\0\0\0\1\0\0", 9); /* and no augmentation data */
	else
		put(s, range, sizeof(range));
	put(s, ops, n);
	return at;
}

/* @frames as .eh_frame, with @table; or as .debug_frame. */
static bool fit(const struct section *frames, const struct section *table,
		bool eh)
{
	struct elf_maker m;
	Elf *elf;
	bool is;

	elf_maker_init(&m, false);
	if (table)
		elf_maker_section(&m, ".eh_frame_hdr", SHT_PROGBITS, SHF_ALLOC,
				  TABLE, table->v, table->n);
	elf_maker_section(&m, eh ? ".eh_frame" : ".debug_frame", SHT_PROGBITS,
			  eh ? SHF_ALLOC : 0, eh ? FRAMES : 0, frames->v,
			  frames->n);
	elf_maker_end(&m, true);
	elf_version(EV_CURRENT);
	elf = elf_memory((char *)m.p, m.n);
	assert_non_null(elf);
	is = eh ? locals_frames_fit(elf) : locals_frames_debug_fit(elf);
	elf_end(elf);
	elf_maker_fini(&m);
	return is;
}

static const uint8_t usual[] = {
	DW_CFA_def_cfa, 7, 8, DW_CFA_offset | 16, 1, DW_CFA_nop,
};

/* One kind of instruction, in an FDE of each section; and in a CIE. */
static void check(const char *what, bool want, const uint8_t *ops, size_t n)
{
	int eh;

	for (eh = 0; eh < 2; eh++) {
		struct section fde = {.n = 0}, cie = {.n = 0};

		put_fde(&fde, eh, put_cie(&fde, eh, usual, sizeof(usual)), ops,
			n);
		put_fde(&cie, eh, put_cie(&cie, eh, ops, n), usual,
			sizeof(usual));
		if (fit(&fde, NULL, eh) != want || fit(&cie, NULL, eh) != want)
			fail_msg("%s", what);
	}
}

#define CASE(want, ...)                                                  \
	{                                                                \
#__VA_ARGS__, want,                                      \
			{__VA_ARGS__ }, sizeof((uint8_t[]){__VA_ARGS__}) \
	}

static const struct {
	const char *text;
	bool want;
	uint8_t ops[16];
	size_t n;
} cases[] = {
	CASE(true, DW_CFA_nop),
	CASE(true, DW_CFA_advance_loc | 3, DW_CFA_advance_loc1, 0xff,
	     DW_CFA_advance_loc2, 1, 2, DW_CFA_advance_loc4, 1, 2, 3, 4),
	CASE(true, DW_CFA_set_loc, 1, 2, 3, 4, 0, 0, 0, 0),
	CASE(true, DW_CFA_undefined, 0xff, 0x07), /* 1023 */
	CASE(false, DW_CFA_undefined, 0x80, 0x08),
	CASE(false, DW_CFA_same_value, 0x80, 0x08),
	CASE(false, DW_CFA_restore_extended, 0x80, 0x08),
	CASE(false, DW_CFA_offset_extended, 0xff, 0xff, 0xff, 0x3f, 1),
	CASE(false, DW_CFA_offset_extended_sf, 0x80, 0x08, 1),
	CASE(false, DW_CFA_val_offset, 0x80, 0x08, 1),
	CASE(false, DW_CFA_val_offset_sf, 0x80, 0x08, 1),
	CASE(false, DW_CFA_register, 0x80, 0x08, 1),
	CASE(false, DW_CFA_GNU_negative_offset_extended, 0x80, 0x08, 1),
	CASE(false, DW_CFA_expression, 0x80, 0x08, 1, 0),
	CASE(false, DW_CFA_val_expression, 0x80, 0x08, 1, 0),
	/* each behind one of every kind of operand: what is said wrong is seen */
	CASE(false, DW_CFA_offset | 3, 0x81, 2, DW_CFA_undefined, 0x80, 0x08),
	CASE(false, DW_CFA_def_cfa, 7, 8, DW_CFA_undefined, 0x80, 0x08),
	CASE(false, DW_CFA_def_cfa_register, 6, DW_CFA_undefined, 0x80, 0x08),
	CASE(false, DW_CFA_def_cfa_offset, 16, DW_CFA_undefined, 0x80, 0x08),
	CASE(false, DW_CFA_def_cfa_expression, 1, 2, DW_CFA_undefined, 0x80, 8),
	CASE(false, DW_CFA_expression, 3, 1, 2, DW_CFA_undefined, 0x80, 0x08),
	CASE(false, DW_CFA_GNU_args_size, 16, DW_CFA_undefined, 0x80, 0x08),
	CASE(false, DW_CFA_advance_loc | 1, DW_CFA_undefined, 0x80, 0x08),
	CASE(false, DW_CFA_restore | 3, DW_CFA_undefined, 0x80, 0x08),
	CASE(false, DW_CFA_advance_loc4, 0, 0, 0, 0, DW_CFA_undefined, 0x80, 8),
	CASE(false, DW_CFA_MIPS_advance_loc8, 0, 0, 0, 0, 0, 0, 0, 0,
	     DW_CFA_undefined, 0x80, 0x08),
	CASE(false, DW_CFA_GNU_window_save, DW_CFA_undefined, 0x80, 0x08),
	CASE(true, DW_CFA_def_cfa_expression, 3, DW_CFA_undefined, 0x80, 0x08),
	/* behind what it does not know libdw reads no further */
	CASE(true, 0x3f, DW_CFA_undefined, 0x80, 0x08),
	CASE(true, DW_CFA_restore_state, DW_CFA_undefined, 0x80, 0x08),
	/* operands that end nowhere */
	CASE(false, DW_CFA_undefined),
	CASE(false, DW_CFA_undefined, 0x80),
	CASE(false, DW_CFA_offset | 3, 0x80),
	CASE(false, DW_CFA_advance_loc4, 0, 0, 0),
	CASE(false, DW_CFA_def_cfa_expression, 2, 0),
	CASE(false, DW_CFA_def_cfa_offset, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
	     0x80, 0x80, 0x80, 0x00),
};

static void test_instructions(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		check(cases[i].text, cases[i].want, cases[i].ops, cases[i].n);
}

static void test_states(void **state)
{
	uint8_t ops[2 * LOCALS_FRAMES_STATES + 2];

	(void)state;
	memset(ops, DW_CFA_remember_state, sizeof(ops));
	check("remembered", true, ops, LOCALS_FRAMES_STATES);
	check("one more", false, ops, LOCALS_FRAMES_STATES + 1);
	memset(ops + 1, DW_CFA_restore_state, 1);
	memset(ops + LOCALS_FRAMES_STATES + 2, DW_CFA_restore_state,
	       LOCALS_FRAMES_STATES);
	check("restored", true, ops, sizeof(ops));
}

/* An FDE whose CIE is none, or comes later. */
static void test_entries(void **state)
{
	struct section s = {.n = 0};
	size_t cie = put_cie(&s, true, usual, sizeof(usual)), first = s.n;

	(void)state;
	put_fde(&s, true, cie, usual, sizeof(usual));
	assert_true(fit(&s, NULL, true));
	put_u32(&s, 0);
	assert_true(fit(&s, NULL, true));
	put_cie(&s, true, usual, sizeof(usual));
	put_fde(&s, true, cie, usual, sizeof(usual));
	assert_true(fit(&s, NULL, true));
	put_fde(&s, true, first, usual, sizeof(usual));
	assert_false(fit(&s, NULL, true));
	s.n = first;
	put_fde(&s, true, cie + 1, usual, sizeof(usual));
	assert_false(fit(&s, NULL, true));
	s.n = first;
	put_fde(&s, true, cie, usual, sizeof(usual));
	s.v[first]++;
	assert_false(fit(&s, NULL, true));
	/* pointers of a length nobody knows, augmentation nobody knows */
	s.v[first]--;
	assert_true(fit(&s, NULL, true));
	s.v[cie + 4 + 4 + 8] = DW_EH_PE_uleb128;
	assert_false(fit(&s, NULL, true));
	s.v[cie + 4 + 4 + 8] = DW_EH_PE_pcrel | DW_EH_PE_sdata4;
	s.v[cie + 4 + 4 + 2] = '?';
	assert_false(fit(&s, NULL, true));
}

/* One CIE with the @n bytes at @cie behind its version, one FDE with the @m at @fde behind its pointer to that. */
static bool pair_fits(const char *cie, size_t n, const char *fde, size_t m)
{
	struct section s = {.n = 0};

	put_u32(&s, (uint32_t)(4 + 1 + n));
	put_u32(&s, 0);
	put(&s, "\1", 1);
	put(&s, cie, n);
	put_u32(&s, (uint32_t)(4 + m));
	put_u32(&s, (uint32_t)s.n);
	put(&s, fde, m);
	return fit(&s, NULL, true);
}

#define PAIR(cie, fde) pair_fits(cie, sizeof(cie) - 1, fde, sizeof(fde) - 1)

/* Where an FDE's instructions begin, and how long an address is, by what its CIE says. */
static void test_augmentation(void **state)
{
	(void)state;
	/* 4 bytes each; DW_CFA_undefined of 1024 within augmentation is none, behind it is one */
	assert_true(PAIR("zR\0\1\x78\x10\1\x1b", "starsize\3\7\x80\x08\0"));
	assert_false(PAIR("zR\0\1\x78\x10\1\x1b", "starsize\0\7\x80\x08\0"));
	assert_false(PAIR("zR\0\1\x78\x10\1\x1b", "starsize\x7f\0\0\0\0"));
	/* no augmentation: 8 bytes each */
	assert_true(PAIR("\0\1\x78\x10", "12345678abcdefgh\0"));
	assert_false(PAIR("\0\1\x78\x10", "12345678abcdefgh\7\x80\x08"));
	assert_false(PAIR("\0\1\x78\x10", "12345678abcdefg"));
	/* DW_CFA_set_loc */
	assert_true(PAIR("zR\0\1\x78\x10\1\x1b", "starsize\0\1addr"));
	assert_false(PAIR("zR\0\1\x78\x10\1\x1b", "starsize\0\1adr"));
	/* a handler's pointer of 8 bytes before, and not as long as it says */
	assert_true(PAIR("zPLR\0\1\x78\x10\13\0"
			 "12345678"
			 "\x1b\x1b",
			 "starsize\0"));
	assert_false(PAIR("zPLR\0\1\x78\x10\12\0"
			  "12345678"
			  "\x1b\x1b",
			  "starsize\0"));
	/* relative to data, by LEB128, from where a pointer is; letters that nobody knows, or without a length */
	assert_false(PAIR("zR\0\1\x78\x10\1\x3b", "starsize\0"));
	assert_false(PAIR("zR\0\1\x78\x10\1\x01", "starsize\0"));
	assert_false(PAIR("zR\0\1\x78\x10\1\x9b", "starsize\0"));
	assert_false(PAIR("zXR\0\1\x78\x10\2\0\x1b", "starsize\0"));
	assert_true(PAIR("zSR\0\1\x78\x10\1\x1b", "starsize\0"));
	assert_false(PAIR("R\0\1\x78\x10\x1b", "starsize\0\0\0"));
}

/* Two of a name. */
static void test_twice(void **state)
{
	struct section s = {.n = 0};
	struct elf_maker m;
	Elf *elf;
	int i;

	(void)state;
	put_cie(&s, true, usual, sizeof(usual));
	elf_version(EV_CURRENT);
	for (i = 1; i <= 2; i++) {
		elf_maker_init(&m, false);
		elf_maker_section(&m, ".eh_frame", SHT_PROGBITS, SHF_ALLOC,
				  FRAMES, s.v, s.n);
		if (i == 2)
			elf_maker_section(&m, ".eh_frame", SHT_PROGBITS,
					  SHF_ALLOC, FRAMES, s.v, s.n);
		elf_maker_end(&m, true);
		elf = elf_memory((char *)m.p, m.n);
		assert_int_equal(locals_frames_fit(elf), i == 1);
		elf_end(elf);
		elf_maker_fini(&m);
	}
}

/* The table goes to FDEs, and to nothing else. */
static void test_table(void **state)
{
	struct section s = {.n = 0}, t = {.n = 0};
	size_t cie = put_cie(&s, true, usual, sizeof(usual)), fde;
	static const uint8_t head[] = {1, 0x1b, 0x03, 0x3b};

	(void)state;
	fde = put_fde(&s, true, cie, usual, sizeof(usual));
	put(&t, head, sizeof(head));
	put_u32(&t, (uint32_t)(FRAMES - (TABLE + 4)));
	put_u32(&t, 1);
	put_u32(&t, (uint32_t)(0x1000 - TABLE));
	put_u32(&t, (uint32_t)(FRAMES + fde - TABLE));
	assert_true(fit(&s, &t, true));
	t.v[16]++;
	assert_false(fit(&s, &t, true));
	t.v[16] = (uint8_t)(t.v[16] - 1 - (fde - cie));
	assert_false(fit(&s, &t, true));
	t.v[16] = (uint8_t)(t.v[16] + (fde - cie));
	t.v[8]++;
	assert_false(fit(&s, &t, true));
	t.v[2] = t.v[3] = DW_EH_PE_omit; /* then there is no table */
	assert_true(fit(&s, &t, true));
	t.v[4]++;
	assert_false(fit(&s, &t, true));
	t.n = 3;
	assert_false(fit(&s, &t, true));
	t.n = 0;
	assert_false(fit(&s, &t, true));
}

/* What the compiler made of this very program is fit. */
static void test_own(void **state)
{
	int fd = open("/proc/self/exe", O_RDONLY);
	Elf *elf;

	(void)state;
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	assert_non_null(elf);
	assert_true(locals_frames_fit(elf));
	assert_true(locals_frames_debug_fit(elf));
	elf_end(elf);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_instructions),
		cmocka_unit_test(test_states),
		cmocka_unit_test(test_entries),
		cmocka_unit_test(test_augmentation),
		cmocka_unit_test(test_twice),
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
