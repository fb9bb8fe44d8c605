// SPDX-License-Identifier: GPL-2.0-or-later
/* test_image_name.c - how variables, and places without one, are written. */
#include "config.h"

#include "image_maker.h"

#include <dlfcn.h>
#include <elf.h>

#include "translator-hooks/image_name.h"

struct fixture {
	struct hvar_image img;
	void *data;
};

static int setup(void **state)
{
	static struct hvar_image_seg seg = { .vaddr = 0x1000, .memsz = 0x1000, .prot = 3 };
	static struct hvar_image_section secs[] = { { 0x1000, 0x800, 0, HVAR_KIND_DATA },
						    { 0x1800, 0x800, 0, HVAR_KIND_BSS } };
	static struct maker_sym syms[] = {
		{ 0x1100, 0x100, "table", STB_GLOBAL, STT_OBJECT, NULL },
		{ 0x1200, 4, "counter", STB_LOCAL, STT_OBJECT, "parser.c" },
		{ 0x1204, 4, "counter", STB_LOCAL, STT_OBJECT, NULL },
		{ 0x1208, 4, "_ZN1SIiE3cntE", STB_GLOBAL, STT_OBJECT, NULL },
		{ 0x1210, 4, "_Znot_mangled", STB_GLOBAL, STT_OBJECT, NULL },
	};
	static const struct maker m = { &seg, 1, secs, 2, syms, 5, 0, 0, 0, 0 };
	static struct fixture f;
	size_t size;

	f.data = maker_image(&m, &size);
	*state = &f;
	return hvar_image_open(&f.img, f.data, size);
}

static int teardown(void **state)
{
	free(((struct fixture *)*state)->data);
	return 0;
}

static void expect(char *got, const char *want)
{
	assert_non_null(got);
	assert_string_equal(got, want);
	free(got);
}

/*
 * A hash at the end of a Rust name is no part of it; what only looks like one stays.  The right forms are c++filt's
 * (without hashes and numbers of crates), those of letters beyond ASCII RFC 2603's.
 */
static void test_rust(void **state)
{
	static const char *const names[][2] = {
		{ "_ZN3app5COUNT17h0123456789abcdefE", "app::COUNT" },
		{ "_ZN3app5COUNT17h0123456789abcdefE.llvm.77", "app::COUNT" },
		{ "_ZN3app5COUNT17h0123456789abcdefE.0", "app::COUNT.0" },
		{ "_ZN45_$LT$foo..Bar$u20$as$u20$core..fmt..Debug$GT$3fmt17h0123456789abcdefE", "<foo::Bar as core::fmt::Debug>::fmt" },
		{ "_ZN3app3lenEv", "app::len()" },
		{ "_ZN3app5COUNT17h0000000000000000E", "app::COUNT::h0000000000000000" },
		{ "_ZN3app5COUNT17h0123456789abcdegE", "app::COUNT::h0123456789abcdeg" },
		{ "_ZN3app5COUNT16h123456789abcdefE", "app::COUNT::h123456789abcdef" },
		{ "_ZN17h0123456789abcdef5COUNTE", "h0123456789abcdef::COUNT" },
		{ "_RNvCs6GmmlP4bgsG_1r4NAME", "r::NAME" },
		{ "_RNvCs6GmmlP4bgsG_1r4NAME.llvm.77", "r::NAME" },
		{ "_RNvNvNtCs6GmmlP4bgsG_1r4deep1f3CNT.0", "r::deep::f::CNT.0" },
		{ "_RNqCs4fqI2P2rA04_11utf8_identsu30____7hkackfecea1cbdathfdh9hlq6y",
		  "utf8_idents::\xe1\x83\xa1\xe1\x83\x90\xe1\x83\xad\xe1\x83\x9b\xe1\x83\x94\xe1\x83\x9a\xe1\x83\x90\xe1\x83\x93_"
		  "\xe1\x83\x92\xe1\x83\x94\xe1\x83\x9b\xe1\x83\xa0\xe1\x83\x98\xe1\x83\x94\xe1\x83\x9a\xe1\x83\x98_"
		  "\xe1\x83\xa1\xe1\x83\x90\xe1\x83\x93\xe1\x83\x98\xe1\x83\x9a\xe1\x83\x98" },
		{ "_RINtC8arrayvec8ArrayVechKj7b_E", "arrayvec::ArrayVec::<u8, 123>" },
		{ "_RNCNCNgCs6DXkGYLi8lr_2cc5spawn00B5_", "cc::spawn::{closure#0}::{closure#0}" },
		{ "_RINvNtC3std3mem8align_ofdE", "std::mem::align_of::<f64>" },
		{ "_RNvXs_C3appNtB4_1TNtNtC3std3fmt5Debug3NUM", "<app::T as std::fmt::Debug>::NUM" },
		{ "_RIC0KRe616263_E", "::<\"abc\">" },
	};
	/* cut short, back to itself, without end, of another version: none of these is a name */
	static const char *const bad[] = { "_R", "_RNv", "_RNvC", "_RNvB_1a", "_RNvC1a9b", "_RIC1aTB1_B1_E", "_R1NvC1a1b", "_RNvC1a1b!",
					   "_RNvC1a99999999999999999999b", "_RIC1aKc110000_E", "_RIC1aKb2_E", "_RTTTT" };
	char deep[8000] = "_RI";
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_null(image_demangle(bad[i]));
	memset(deep + 3, 'S', sizeof(deep) - 4);
	assert_null(image_demangle(deep));
	if (!dlopen("libstdc++.so.6", RTLD_NOW))
		skip();
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		expect(image_demangle(names[i][0]), names[i][1]);
}

/* What a compiler puts behind a variable's name stays. */
static void test_tails(void **state)
{
	(void)state;
	if (!dlopen("libstdc++.so.6", RTLD_NOW))
		skip();
	expect(image_demangle("_ZN3app2in12_GLOBAL__N_14confE.0"), "app::in::(anonymous namespace)::conf.0");
	expect(image_demangle("_ZL5count.lto_priv.1"), "count.lto_priv.1");
	assert_null(image_demangle("_Znot_mangled.0"));
}

static void test_symbols(void **state)
{
	const struct hvar_image *img = &((struct fixture *)*state)->img;
	void *cxx = dlopen("libstdc++.so.6", RTLD_NOW);
	struct hvar_place p;

	expect(image_name(img, hvar_image_find(img, 0x1200)), "counter@parser.c");
	expect(image_name(img, hvar_image_find(img, 0x1204)), "counter");
	expect(image_name(img, hvar_image_find(img, 0x1210)), "_Znot_mangled");
	expect(image_name(img, hvar_image_find(img, 0x1208)), cxx ? "S<int>::cnt" : "_ZN1SIiE3cntE");
	image_name_raw(true);
	expect(image_name(img, hvar_image_find(img, 0x1208)), "_ZN1SIiE3cntE");
	image_name_raw(false);
	hvar_resolve_static(img, 0x1178, &p);
	expect(image_place_name(&p, img, "/usr/bin/app", true), "table+0x78");
	expect(image_place_name(&p, img, "/usr/bin/app", false), "table");
	hvar_resolve_static(img, 0x1200, &p);
	expect(image_place_name(&p, img, NULL, true), "counter@parser.c");
}

static void test_places(void **state)
{
	const struct hvar_image *img = &((struct fixture *)*state)->img;
	struct hvar_place p;

	hvar_resolve_static(img, 0x1920, &p);
	expect(image_place_name(&p, img, "/usr/lib/libfoo.so.1", true), "libfoo.so.1:.1+0x120");
	p.section = HVAR_IMAGE_NONE;
	expect(image_place_name(&p, img, "/usr/lib/libfoo.so.1", true), "libfoo.so.1+0x1920");
	expect(image_place_name(&p, img, NULL, true), "[bss]");
	hvar_resolve_static(img, 0x9000, &p);
	expect(image_place_name(&p, img, "app", true), "[unmapped]");
	memset(&p, 0, sizeof(p));
	p.symbol = p.section = HVAR_IMAGE_NONE;
	p.kind = HVAR_KIND_HEAP;
	expect(image_place_name(&p, NULL, "", true), "[heap]");
	p.kind = HVAR_KIND_ANON;
	expect(image_place_name(&p, NULL, "[anon:x/y]", true), "[anon:x/y]");
	p.kind = HVAR_KIND_SHM;
	expect(image_place_name(&p, NULL, "/memfd:my name", true), "[shm]");
	p.kind = HVAR_KIND_FILE;
	p.flags = HVAR_PLACE_OFFSET;
	p.file_offset = 0x40;
	expect(image_place_name(&p, NULL, "/a/b c.txt", true), "b c.txt[0x40]");
}

/* Sixty references, each to what the last two of its kind made: a name of 2^30 parts. */
static void test_no_end(void **state)
{
	char name[4096] = "_Z1fSt4pairIiiE", deep[8192];

	(void)state;
	for (int i = 0; i < 30; i++) {
		const char *digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";

		sprintf(name + strlen(name), "S_IS%c_S%c_E", digits[i], digits[i]);
	}
	assert_null(image_demangle(name));
	assert_null(image_demangle("main"));
	assert_null(image_demangle(""));
	/* nested without end */
	memset(deep, 'P', sizeof(deep));
	memcpy(deep, "_Z1f", 4);
	deep[sizeof(deep) - 2] = 'i';
	deep[sizeof(deep) - 1] = '\0';
	free(image_demangle(deep));
	memset(deep + 2, 'N', sizeof(deep) - 3);
	free(image_demangle(deep));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_symbols),
		cmocka_unit_test(test_rust), cmocka_unit_test(test_tails),
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_no_end),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
