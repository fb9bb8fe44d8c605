/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sym_names.h - one name at several addresses: what else is said to tell the symbols apart.
 */
#ifndef SYM_NAMES_H
#define SYM_NAMES_H

#include "sym_table.h"

/*
 * Flag local symbols whose name others have too, at another place (HVAR_SYM_SAME_NAME); others that have a version
 * get it into their names: "tab" at two addresses becomes "tab@V_1" and "tab@@V_2".  Returns 0, -ENOMEM or -EFBIG.
 */
int sym_names(struct sym_table *t);

#endif /* SYM_NAMES_H */
