// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * cmd_sym.c - "hotvar sym": name addresses of a running process or of an ELF file.
 *
 * Addresses come from the command line or, one a line, from stdin; each is answered
 * as it comes, and what is answered is written out before waiting for more.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/cli/cli.h"
#include "runtime/cli/options_debuginfod.h"
#include "runtime/report/json.h"
#include "runtime/report/pages.h"
#include "runtime/report/place.h"
#include "runtime/user/live.h"
#include "translator-hooks/image_build.h"
#include "translator-hooks/image_cache.h"
#include "translator-hooks/image_inside.h"
#include "translator-hooks/image_name.h"

enum { KEY_NO_DEMANGLE = 0x6000, KEY_NO_MEMBERS, LINE_MAX_BYTES = 256 };

struct sym {
	struct cli_common common;
	pid_t pid;
	const char *elf;
	char *outer;	 /* its name without "@0x5000"; owned */
	uint64_t inside; /* the ELF file begins there in it */
	char **addrs; /* of the command line */
	int n_addrs;
	/* what is asked */
	struct live *live;
	struct image_file *image;
	struct place_writer *writer;
	FILE *out;
	bool no_members;
	bool debuginfod;
	bool named; /* one at least */
};

static const struct argp_option options[] = {
	{ "pid", 'p', "PID", 0, "Addresses of the running process PID", 1 },
	{ "elf", 'e', "ELF", 0, "Link-time addresses of the file ELF, or of what begins at an offset in it: ELF@0x5000", 1 },
	{ "no-members", KEY_NO_MEMBERS, NULL, 0, "Name variables, not what in them lies there", 1 },
	{ "no-demangle", KEY_NO_DEMANGLE, NULL, 0, "Keep names as the file has them", 1 },
	{ 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct sym *s = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &s->debuginfod;
		state->child_inputs[1] = &s->common;
		return 0;
	case 'p':
		return cli_pid(arg, &s->pid);
	case 'e':
		s->elf = arg;
		return 0;
	case KEY_NO_MEMBERS:
		s->no_members = true;
		return 0;
	case KEY_NO_DEMANGLE:
		image_name_raw(true);
		return 0;
	case ARGP_KEY_ARG:
		s->addrs[s->n_addrs++] = arg;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_child children[] = { { &debuginfod_argp, 0, NULL, 0 }, { &cli_common_argp, 0, NULL, 0 }, { 0 } };
static const struct argp argp = {
	.options = options,
	.parser = parse,
	.args_doc = "-p PID [ADDRESS...]\n-e ELF [ADDRESS...]",
	.doc = "Say which variable or function lies at each ADDRESS (hexadecimal); without any, "
	       "at each line of stdin.\vExit status: 0 if at least one has a name, 1 if none has.",
	.children = children,
};

/* Hexadecimal, with or without 0x: as the map, nm and debuggers write addresses. */
static bool address(const char *text, uint64_t *out)
{
	char *end;

	if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X'))
		text += 2;
	if (!text[0] || text[strspn(text, "0123456789abcdefABCDEF")])
		return false;
	errno = 0;
	*out = strtoull(text, &end, 16);
	return !errno;
}

static int bad_address(const char *text, const char *where, uint64_t line, struct err *e)
{
	if (where)
		err_exit(e, EINVAL, CLI_USAGE, "'%.64s' in line %" PRIu64 " of %s is no address: "
			 "give hexadecimal ones, such as 0x4e10, one a line", text, line, where);
	else
		err_exit(e, EINVAL, CLI_USAGE, "'%.64s' is no address: give hexadecimal ones, such "
			 "as 0x4e10", text);
	return CLI_USAGE;
}

static int answer(struct sym *s, uint64_t addr)
{
	struct jit_code code;
	struct hvar_place p;
	struct place_answer a = { .addr = addr, .place = &p, .live = s->live };
	struct hvar_key key;
	char text[96];
	uint32_t why;

	if (s->live) {
		live_resolve(s->live, addr, &p);
		live_tls(s->live, addr, &p, &a.thread);
		if (p.module) {
			a.img = live_image(s->live, p.module, &why);
			a.module = live_path(s->live, p.module);
			a.facts = live_module(s->live, p.module);
			a.inside = a.facts ? (uint64_t)a.facts->elf_page << HVAR_PAGE_SHIFT : 0;
		}
		if (p.vma.region != HVAR_REGION_NONE) {
			if (s->common.json) {
				key = live_key(s->live, &p.vma, addr, live_page_state(s->live, addr));
				a.is_private = hvar_key_private(&key);
				pages_key(&key, text, sizeof(text));
				a.key = text;
			}
			a.vma_facts = live_module(s->live, p.vma.module);
			a.vma_path = live_path(s->live, p.vma.module);
		}
		if (live_jit(s->live, addr, &p, &code)) {
			a.jit = code.name;
			a.jit_start = code.start;
			a.jit_end = code.end;
			a.jit_dumped = code.dumped;
		}
	} else {
		hvar_resolve_static(&s->image->img, addr, &p);
		a.img = &s->image->img;
		a.module = s->elf;
		a.inside = s->inside;
	}
	s->named |= p.symbol != HVAR_IMAGE_NONE || a.jit;
	return place_write(s->writer, &a);
}

static int no_memory(struct err *e)
{
	err_set(e, ENOMEM, "cannot name addresses: no memory: free some");
	return CLI_FAILED;
}

/* One line, NUL-terminated, blanks around it allowed; an empty one asks nothing. */
static int answer_line(struct sym *s, char *line, uint64_t number, struct err *e)
{
	uint64_t addr;
	char *end;

	line += strspn(line, " \t\r");
	end = line + strcspn(line, " \t\r");
	if (!*line)
		return CLI_OK;
	if (end[strspn(end, " \t\r")])
		return bad_address(line, "stdin", number, e);
	*end = '\0';
	if (!address(line, &addr))
		return bad_address(line, "stdin", number, e);
	return answer(s, addr) ? no_memory(e) : CLI_OK;
}

/*
 * Read lines by read(2), so that it is known when no more are there yet: then
 * what is answered goes out, and the process may have changed meanwhile.
 */
static int answer_stdin(struct sym *s, struct err *e)
{
	static char buf[1 << 16];
	size_t have = 0, i;
	uint64_t number = 0;
	ssize_t n;
	int r = CLI_OK;

	do {
		char *line = buf, *end;

		fflush(s->out);
		if (ferror(s->out))
			return CLI_OK; /* cli_close() says it */
		n = read(STDIN_FILENO, buf + have, sizeof(buf) - 1 - have);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			err_set(e, errno, "cannot read addresses from stdin: %s: give them as "
				"arguments, or a file", strerror(errno));
			return CLI_FAILED;
		}
		have += (size_t)n;
		if (!n && have)
			buf[have++] = '\n'; /* the last line needs no newline */
		if (s->live)
			live_look(s->live, false);
		while (!r && (end = memchr(line, '\n', have - (size_t)(line - buf))) != NULL) {
			*end = '\0';
			number++;
			for (i = 0; line + i < end && line[i]; i++)
				;
			if (line + i < end) /* a NUL inside */
				return bad_address(line, "stdin", number, e);
			r = answer_line(s, line, number, e);
			line = end + 1;
		}
		have -= (size_t)(line - buf);
		memmove(buf, line, have);
		if (!r && have > LINE_MAX_BYTES) {
			buf[LINE_MAX_BYTES] = '\0';
			return bad_address(buf, "stdin", number + 1, e);
		}
	} while (!r && n);
	return r;
}

/* Of a name that no file has, with '@' in it: how an offset is written. */
static const char *at_offset(const struct sym *s, char *text, size_t size)
{
	const char *at = s->outer ? NULL : strrchr(s->elf, '@');
	unsigned long long n;
	char *end;

	*text = '\0';
	if (!at)
		return text;
	errno = 0;
	n = strtoull(at + 1, &end, at[1] == '0' && (at[2] | 32) == 'x' ? 16 : 10);
	if (end == at + 1 || *end || errno || n % 4096 || !n)
		snprintf(text, size, "; an offset in a file is hexadecimal and a multiple of 0x1000, as in FILE@0x5000");
	else
		snprintf(text, size, "; an offset in a file is hexadecimal: %.*s@0x%llx", (int)(at - s->elf), s->elf, n);
	return text;
}

/* Open what is a regular file; a FIFO or a device is not touched. */
static int open_elf(struct sym *s, struct err *e)
{
	char text[512];
	struct stat st;
	size_t len;
	int fd, r;

	/* a file of that very name goes first */
	if (lstat(s->elf, &st) && image_inside_name(s->elf, &len, &s->inside) && s->inside) {
		s->outer = strndup(s->elf, len);
		if (!s->outer)
			return no_memory(e);
		s->elf = s->outer;
	}
	if (stat(s->elf, &st) || (S_ISREG(st.st_mode) && access(s->elf, R_OK))) {
		int error = errno;

		err_set(e, error, "cannot open '%s': %s: check the path and its permissions%s", s->elf, strerror(error),
			at_offset(s, text, sizeof(text)));
		return CLI_FAILED;
	}
	fd = open(s->elf, S_ISREG(st.st_mode) ? O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC :
						O_PATH | O_CLOEXEC);
	if (fd < 0) {
		err_set(e, errno, "cannot open '%s': %s: check the path and its permissions",
			s->elf, strerror(errno));
		return CLI_FAILED;
	}
	r = s->inside ? image_inside_get(fd, s->elf, s->inside, &s->image, e) :
			image_cache_get(fd, s->elf, &s->image, e);
	close(fd);
	return r ? CLI_FAILED : CLI_OK;
}

static void meta(struct sym *s)
{
	struct json j;

	json_meta(&j, s->out, "sym");
	if (s->live)
		json_i64(&j, "pid", s->pid);
	else
		json_str(&j, "elf", s->elf);
	if (s->inside)
		json_hex(&j, "elf_offset", s->inside);
	json_end(&j);
}

static int run(struct sym *s, struct err *e)
{
	uint64_t addr;
	int i, r = CLI_OK;

	image_build_debug(IMAGE_BUILD_DEBUG_ALL);
	for (i = 0; i < s->n_addrs; i++)
		if (!address(s->addrs[i], &addr))
			return bad_address(s->addrs[i], NULL, 0, e);
	if (s->debuginfod)
		r = debuginfod_start(&s->common, e);
	if (r)
		return r;
	if (s->elf)
		r = open_elf(s, e);
	else if (!(s->live = live_open(s->pid, e)))
		r = CLI_FAILED;
	if (r)
		return r;
	if (image_cache_why() && !s->common.quiet)
		cli_say(image_cache_why());
	s->out = cli_spares(&s->common, NULL, s->elf, e) ? NULL : cli_open(&s->common, stdout, e);
	if (!s->out)
		return CLI_FAILED;
	s->writer = place_writer_new(s->out, s->common.json);
	if (s->writer)
		place_writer_members(s->writer, !s->no_members);
	if (!s->writer)
		r = no_memory(e);
	else if (s->common.json)
		meta(s);
	for (i = 0; i < s->n_addrs && !r; i++) {
		address(s->addrs[i], &addr);
		if (answer(s, addr))
			r = no_memory(e);
	}
	if (!s->n_addrs && !r)
		r = answer_stdin(s, e);
	place_writer_free(s->writer);
	if (cli_close(s->out, &s->common, r ? NULL : e) && !r)
		r = CLI_FAILED;
	return r ? r : s->named ? CLI_OK : CLI_NOTHING;
}

int cmd_sym(int argc, char **argv, struct err *e)
{
	struct sym s = { .pid = 0 };
	int rest, r;

	s.addrs = calloc((size_t)argc + 1, sizeof(*s.addrs));
	if (!s.addrs)
		return no_memory(e);
	r = cli_parse(&argp, argc, argv, false, &rest, &s, e);
	while (!r && rest < argc)
		s.addrs[s.n_addrs++] = argv[rest++];
	if (!r && !s.pid == !s.elf) {
		err_exit(e, EINVAL, CLI_USAGE, s.pid ?
			 "-p and -e cannot both be given: name one process or one file" :
			 "whose addresses? Name a process with -p PID or a file with -e ELF");
		r = CLI_USAGE;
	}
	if (!r)
		r = run(&s, e);
	live_free(s.live);
	image_file_free(s.image);
	free(s.outer);
	free(s.addrs);
	return r < 0 ? CLI_OK : r;
}
