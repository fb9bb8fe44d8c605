// SPDX-License-Identifier: GPL-2.0-or-later
/* fuzz_demangle.c - any string as a Rust symbol's name: a text of bounded length, or none. */
#include "config.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "translator-hooks/rust_name.h"
#include "translator-hooks/rust_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *name = strndup((const char *)data, size), *plain;

	plain = rust_name(name);
	if (plain && strlen(plain) > RUST_PLAIN_MAX)
		abort();
	free(plain);
	free(name);
	return 0;
}
