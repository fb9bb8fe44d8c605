// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * cmd_symbols.c - "hotvar symbols": build symbol images, keep them, and list what they hold.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/cli/cli.h"
#include "runtime/cli/options_debuginfod.h"
#include "runtime/report/debug_state.h"
#include "runtime/report/json.h"
#include "runtime/report/printable.h"
#include "translator-hooks/debug_file.h"
#include "translator-hooks/image_build.h"
#include "translator-hooks/image_cache.h"

struct symbols {
	struct cli_common common;
	char **files;
	int n_files;
	bool debuginfod;
	FILE *out;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct symbols *s = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &s->debuginfod;
		state->child_inputs[1] = &s->common;
		return 0;
	case ARGP_KEY_ARG:
		s->files[s->n_files++] = arg;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_child children[] = { { &debuginfod_argp, 0, NULL, 0 }, { &cli_common_argp, 0, NULL, 0 }, { 0 } };
static const struct argp argp = {
	.parser = parse,
	.args_doc = "ELF...",
	.doc = "Build the symbol image of each ELF file, keep it in the cache, and say what is in "
	       "it.\vThe cache is $XDG_CACHE_HOME/hotvar, else ~/.cache/hotvar.  Exit status: 0 if "
	       "at least one symbol was found, 1 if none was, 125 if a file could not be used.",
	.children = children,
};

/* Symbols by what they name. */
struct counts {
	uint32_t text, data, tls, labels;
};

static struct counts count(const struct hvar_image *img)
{
	struct counts c = { .tls = img->n_tls_syms };
	uint32_t i;

	for (i = 0; i < img->n_syms; i++) {
		const struct hvar_image_sym *y = &img->syms[i];
		const struct hvar_image_seg *seg = hvar_image_seg_at(img, y->vaddr);
		bool text = y->section != HVAR_IMAGE_NONE ?
				    img->sections[y->section].kind == HVAR_KIND_TEXT :
				    seg && seg->prot & HVAR_PROT_EXEC;

		if (y->flags & HVAR_SYM_LABEL)
			c.labels++;
		else if (text)
			c.text++;
		else
			c.data++;
	}
	return c;
}

static void hex(const uint8_t *id, size_t n, char *out)
{
	size_t i;

	*out = '\0';
	for (i = 0; i < n; i++)
		sprintf(out + 2 * i, "%02x", id[i]);
}

/* Where else than in the file its names are from. */
struct elsewhere {
	char path[4096]; /* of the debug file; "": none */
	const char *how;
	struct err why;	 /* one that was not believed */
};

/* Of a file without .symtab. */
static void look_elsewhere(int fd, const char *file, struct elsewhere *out)
{
	struct debug_file d;
	struct elf_file f;

	memset(out, 0, sizeof(*out));
	if (elf_file_open(&f, fd, NULL, 0, file, true, NULL))
		return;
	if (!elf_file_section(&f, ".symtab") && !debug_file_open(&f, &d, &out->why)) {
		memcpy(out->path, d.path, sizeof(out->path));
		out->how = d.origin == DEBUG_BY_BUILD_ID ? "by build-id" :
			   d.origin == DEBUG_BY_LINK ? "by .gnu_debuglink" : "from debuginfod";
		out->why.text[0] = '\0';
		debug_file_close(&d);
	}
	elf_file_close(&f);
}

/* How many symbols each source gave. */
static void list_origins(struct json *j, const struct hvar_image *img)
{
	uint32_t n[HVAR_ORIGINS] = { 0 }, i;

	for (i = 0; i < img->n_syms; i++)
		n[img->syms[i].origin]++;
	for (i = 0; i < img->n_tls_syms; i++)
		n[img->tls_syms[i].origin]++;
	json_open(j, "origins", '{');
	for (i = 1; i < HVAR_ORIGINS; i++)
		if (n[i])
			json_u64(j, hvar_origin_name(i), n[i]);
	json_close(j, '}');
}

static void list_json(const struct symbols *s, const char *file, const struct image_file *f,
		      const struct elsewhere *debug, const char *error)
{
	char id[2 * HVAR_BUILD_ID_MAX + 1];
	struct counts c;
	struct json j;

	json_begin(&j, s->out, "image");
	json_str(&j, "file", file);
	if (f) {
		c = count(&f->img);
		hex(f->img.build_id, f->img.build_id_len, id);
		json_str(&j, "build_id", *id ? id : NULL);
		json_u64(&j, "text", c.text);
		json_u64(&j, "data", c.data);
		json_u64(&j, "tls", c.tls);
		json_u64(&j, "labels", c.labels);
		list_origins(&j, &f->img);
		json_str(&j, "debug_file", *debug->path ? debug->path : NULL);
		debug_state_json(&j, &f->img);
		json_bool(&j, "stripped", f->img.flags & HVAR_IMAGE_STRIPPED);
		json_u64(&j, "bytes", f->img.size);
		json_str(&j, "cache", *f->path ? f->path : NULL);
		json_bool(&j, "cached", f->cached);
	}
	json_str(&j, "error", error);
	json_end(&j);
}

/* What the file does not have, and how it is got. */
static void list_missing(const struct symbols *s, const struct image_file *f, const char *id)
{
	bool stripped = f->img.flags & HVAR_IMAGE_STRIPPED, members = f->img.n_vars || f->img.n_tls_vars;

	if (!stripped && members)
		return;
	fprintf(s->out, "  missing   %s%s%s: ", stripped ? "names of static variables and functions (no .symtab)" : "",
		stripped && !members ? ", " : "", members ? "" : "members and declarations (no debug information)");
	if (!*id)
		fputs("the file has no build-id to look for a debug file by; build it with -g, do not strip it, or keep its debug file beside it\n", s->out);
	else
		fprintf(s->out, "install the package with .build-id/%.2s/%s.debug (NAME-dbgsym or NAME-dbg), or ask a server: "
			"--debuginfod, DEBUGINFOD_URLS being set; of what you build yourself: -g, and no strip\n", id, id + 2);
}

static void list_text(const struct symbols *s, const char *file, const struct image_file *f,
		      const struct elsewhere *debug)
{
	char id[2 * HVAR_BUILD_ID_MAX + 1];
	struct counts c = count(&f->img);

	hex(f->img.build_id, f->img.build_id_len, id);
	printable_put(s->out, file);
	fprintf(s->out, "\n  build-id  %s\n  symbols   %u data, %u text, %u thread-local, %u labels%s\n",
		*id ? id : "none", c.data, c.text, c.tls, c.labels,
		f->img.flags & HVAR_IMAGE_STRIPPED ? " (stripped: no static ones)" : "");
	if (*debug->path)
		fputs("  debug     ", s->out), printable_put(s->out, debug->path), fprintf(s->out, " (%s)\n", debug->how);
	debug_state_text(s->out, &f->img);
	if (*f->path)
		fputs("  image     ", s->out), printable_put(s->out, f->path), fputs(f->cached ? ", was there\n" : ", made now\n", s->out);
	else
		fputs("  image     not kept\n", s->out);
	if (s->common.verbose)
		list_missing(s, f, id);
}

/* Returns 1 if @file has symbols, 0 if it has none, or -errno and @e. */
static int one(const struct symbols *s, const char *file, struct err *e)
{
	struct image_file *f = NULL;
	struct elsewhere debug;
	struct stat st;
	int fd = -1, r;

	/* what is no regular file is refused without being opened for reading */
	if (!stat(file, &st))
		fd = open(file, S_ISREG(st.st_mode) ? O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC :
						      O_PATH | O_CLOEXEC);
	if (fd < 0)
		return err_set(e, errno, "cannot open '%s': %s: check the path and its "
			       "permissions", file, strerror(errno));
	r = image_cache_get(fd, file, &f, e);
	if (!r)
		look_elsewhere(fd, file, &debug);
	close(fd);
	if (r)
		return r;
	if (s->common.json)
		list_json(s, file, f, &debug, NULL);
	else
		list_text(s, file, f, &debug);
	if (*debug.why.text && !s->common.quiet)
		cli_say(debug.why.text);
	r = f->img.n_syms || f->img.n_tls_syms;
	image_file_free(f);
	return r;
}

static int run(struct symbols *s, struct err *e)
{
	int i, r = CLI_NOTHING;
	bool failed = false;

	if (s->debuginfod && debuginfod_start(&s->common, e))
		return CLI_FAILED;
	image_build_debug(IMAGE_BUILD_DEBUG_ALL);
	for (i = 0; i < s->n_files; i++)
		if (cli_spares(&s->common, NULL, s->files[i], e))
			return CLI_FAILED;
	s->out = cli_open(&s->common, stdout, e);
	if (!s->out)
		return CLI_FAILED;
	if (s->common.json) {
		struct json j;

		json_meta(&j, s->out, "symbols");
		json_str(&j, "cache", image_cache_dir());
		json_str(&j, "cache_why", image_cache_why());
		json_end(&j);
	}
	for (i = 0; i < s->n_files; i++) {
		struct err one_e = { 0, "" };
		int n = one(s, s->files[i], &one_e);

		if (n > 0)
			r = CLI_OK;
		if (n >= 0)
			continue;
		failed = true;
		if (s->common.json)
			list_json(s, s->files[i], NULL, NULL, one_e.text);
		/* the last one is for main to print, the others here */
		if (*e->text)
			cli_say(e->text);
		*e = one_e;
	}
	if (image_cache_why() && !s->common.quiet)
		cli_say(image_cache_why());
	if (cli_close(s->out, &s->common, failed ? NULL : e))
		failed = true;
	return failed ? CLI_FAILED : r;
}

int cmd_symbols(int argc, char **argv, struct err *e)
{
	struct symbols s = { .n_files = 0 };
	int rest, r;

	s.files = calloc((size_t)argc + 1, sizeof(*s.files));
	if (!s.files) {
		err_set(e, ENOMEM, "cannot list symbols: no memory: free some");
		return CLI_FAILED;
	}
	r = cli_parse(&argp, argc, argv, false, &rest, &s, e);
	while (!r && rest < argc)
		s.files[s.n_files++] = argv[rest++];
	if (!r && !s.n_files) {
		err_exit(e, EINVAL, CLI_USAGE, "which files? Name at least one ELF file, such as "
			 "'hotvar symbols ./program'");
		r = CLI_USAGE;
	}
	if (!r)
		r = run(&s, e);
	free(s.files);
	return r < 0 ? CLI_OK : r;
}
