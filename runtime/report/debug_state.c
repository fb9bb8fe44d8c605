// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "debug_state.h"

#include "runtime/core/hvar_image_format.h"

static const char *const states[HVAR_DEBUG_STATES] = {
	[HVAR_DEBUG_NONE] = "none",
	[HVAR_DEBUG_READ] = "read",
	[HVAR_DEBUG_TOO_BIG] = "too-big",
	[HVAR_DEBUG_BAD] = "damaged",
};

static const struct hvar_image_debug *debug_of(const struct hvar_image *img)
{
	const struct hvar_image_debug *d;
	uint32_t n;

	d = hvar_image_table(img, HVAR_IMAGE_DEBUG, sizeof(*d), &n);
	return n && d->state != HVAR_DEBUG_NONE && d->state < HVAR_DEBUG_STATES ? d : NULL;
}

static void left_out(FILE *f, uint32_t n, const char *one, const char *many)
{
	if (n)
		fprintf(f, "; %u %s", n, n == 1 ? one : many);
}

void debug_state_text(FILE *f, const struct hvar_image *img)
{
	const struct hvar_image_debug *d = debug_of(img);

	if (!d)
		return;
	if (d->state == HVAR_DEBUG_BAD) {
		fputs("  members   none: the debug information is damaged, or packed in a way not known here\n", f);
		return;
	}
	if (d->state == HVAR_DEBUG_TOO_BIG && !img->n_vars && !img->n_tls_vars) {
		fprintf(f, "  members   none: %.1f MiB of debug information are more than %.0f MiB\n",
			(double)d->bytes / (1 << 20), (double)d->limit / (1 << 20));
		return;
	}
	fprintf(f, "  members   %u variables, %u types, %u members (%.1f MiB of debug information)",
		img->n_vars + img->n_tls_vars, img->n_types ? img->n_types - 1 : 0, img->n_members,
		(double)d->bytes / (1 << 20));
	left_out(f, d->added, "variable has no symbol", "variables have no symbol");
	left_out(f, d->missing, "unit without its .dwo or dwz file", "units without their .dwo or dwz files");
	left_out(f, d->broken, "unit is damaged", "units are damaged");
	left_out(f, d->unplaced, "variable has no fixed place", "variables have no fixed place");
	left_out(f, d->opaque, "type is not known inside", "types are not known inside");
	if (d->state == HVAR_DEBUG_TOO_BIG)
		fprintf(f, "; the rest is more than %.0f MiB", (double)d->limit / (1 << 20));
	putc('\n', f);
}

void debug_state_json(struct json *j, const struct hvar_image *img)
{
	const struct hvar_image_debug *d = debug_of(img);

	if (!d) {
		json_null(j, "debug");
		return;
	}
	json_open(j, "debug", '{');
	json_str(j, "state", states[d->state]);
	json_u64(j, "bytes", d->bytes);
	json_u64(j, "limit", d->limit);
	json_u64(j, "variables", img->n_vars + img->n_tls_vars);
	json_u64(j, "types", img->n_types ? img->n_types - 1 : 0);
	json_u64(j, "members", img->n_members);
	json_u64(j, "added", d->added);
	json_u64(j, "missing", d->missing);
	json_u64(j, "broken", d->broken);
	json_u64(j, "unplaced", d->unplaced);
	json_u64(j, "opaque", d->opaque);
	json_close(j, '}');
}
