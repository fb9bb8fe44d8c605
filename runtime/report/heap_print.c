// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "heap_print.h"

#include <inttypes.h>
#include <stdlib.h>

#include "heap_names.h"
#include "runtime/valgrind/hvt_wire.h"

void heap_print_json(struct json *j, const struct heap_site *s)
{
	struct heap_frame v[HVT_FRAMES_MAX];
	size_t n = s->text ? heap_names_frames(s->text, s->text_len, v, HVT_FRAMES_MAX) : 0, i;

	json_u64(j, "objects_total", s->objects);
	json_u64(j, "objects_live", s->objects_live);
	json_u64(j, "bytes_total", s->bytes);
	json_u64(j, "bytes_live", s->bytes_live);
	json_u64(j, "size_least", s->size_least);
	json_u64(j, "size_most", s->size_most);
	json_u64(j, "never_read", s->never_read);
	json_u64(j, "never_written", s->never_written);
	json_u64(j, "stacks", s->stacks);
	json_open(j, "stack", '[');
	for (i = 0; i < n; i++) {
		json_open(j, NULL, '{');
		json_str(j, "function", *v[i].function ? v[i].function : NULL);
		json_str(j, "file", *v[i].file ? v[i].file : NULL);
		json_u64(j, "line", v[i].line);
		json_str(j, "module", *v[i].module ? v[i].module : NULL);
		json_hex(j, "vaddr", v[i].addr);
		json_close(j, '}');
	}
	json_close(j, ']');
}

static void frame(FILE *f, const struct heap_frame *v)
{
	if (*v->function)
		fputs(v->function, f);
	else
		fprintf(f, "0x%" PRIx64, v->addr);
	if (v->line)
		fprintf(f, " (%s:%" PRIu64 ")", v->file, v->line);
	else if (*v->module)
		fprintf(f, " (%s)", v->module);
}

char *heap_print_text(const struct heap_site *s)
{
	struct heap_frame v[HVT_FRAMES_MAX];
	size_t n = s->text ? heap_names_frames(s->text, s->text_len, v, HVT_FRAMES_MAX) : 0, i, size;
	char *text = NULL;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		return NULL;
	fprintf(f, "%" PRIu64 " object%s of ", s->objects, s->objects == 1 ? "" : "s");
	if (s->size_least == s->size_most)
		fprintf(f, "%" PRIu64, s->size_most);
	else
		fprintf(f, "%" PRIu64 " to %" PRIu64, s->size_least, s->size_most);
	fprintf(f, " bytes, %" PRIu64 " in all; %" PRIu64 " of %" PRIu64 " bytes there at the end; never read %" PRIu64 " bytes, never written %" PRIu64,
		s->bytes, s->objects_live, s->bytes_live, s->never_read, s->never_written);
	for (i = 0; i < n; i++) {
		fputs(i ? " < " : s->stacks > 1 ? "; mostly by " : "; by ", f);
		frame(f, &v[i]);
	}
	if (s->stacks > 1)
		fprintf(f, "; %" PRIu64 " other stack%s", s->stacks - 1, s->stacks == 2 ? "" : "s");
	if (fclose(f)) {
		free(text);
		return NULL;
	}
	return text;
}
