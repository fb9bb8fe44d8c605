/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * code_access.h - the code of a stream's processes, asked for by address: which instruction did an access, and where that is.
 */
#ifndef CODE_ACCESS_H
#define CODE_ACCESS_H

#include "runtime/user/access_insn.h"
#include "runtime/user/estimate.h"

/* At the moment of @ev; both are borrowed. */
struct code_access {
	const struct estimate_env *env;
	const struct hvar_event *ev;
};

/* What access_insn_fault() asks; @out->ctx is @c. */
void code_access_init(const struct code_access *c, bool is32, struct access_code *out);

/* Where address @ip is; false if nothing is mapped there. */
bool code_access_site(const struct code_access *c, uint64_t ip, struct code_site *out);

#endif /* CODE_ACCESS_H */
