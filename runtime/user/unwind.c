// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * unwind.c - frames by libdwfl, which is given no file but the one that is mapped, and no
 * debug file: unwind information is in the program's own.
 *
 * libdwfl's callbacks know nothing of their caller, so what they need is in a
 * variable of this file: one thread unwinds.
 */
#include "config.h"

#include "unwind.h"

#include <elfutils/libdwfl.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "live.h"
#include "look.h"
#include "modules_open.h"
#include "translator-hooks/image_name.h"

static struct {
	pid_t tid;
	struct look look;
	struct look_areas areas;
} now;

static int find_elf(Dwfl_Module *mod, void **userdata, const char *name, Dwarf_Addr base,
		    char **file_name, Elf **elf)
{
	const struct mapstext *a = NULL;
	size_t i;

	if (name[0] == '[')
		return dwfl_linux_proc_find_elf(mod, userdata, name, base, file_name, elf);
	for (i = 0; i < now.areas.n && !a; i++)
		if (now.areas.v[i].v.start <= base && base < now.areas.v[i].v.end)
			a = &now.areas.v[i];
	if (!a || !a->path_len || a->pseudo)
		return -1;

	struct modules_file f = {
		.dev_major = a->dev_major, .dev_minor = a->dev_minor, .ino = a->ino,
		.path = a->path, .deleted = a->v.flags & HVAR_VMA_DELETED,
		.pid = now.tid, .look = &now.look, .start = a->v.start, .end = a->v.end,
	};
	int fd = modules_open(&f);

	if (fd >= 0 && !f.elf) {
		close(fd);
		fd = -1;
	}
	return fd < 0 ? -1 : fd;
}

static int find_no_debug_file(Dwfl_Module *mod, void **userdata, const char *name, Dwarf_Addr base,
			      const char *file_name, const char *link, GElf_Word crc,
			      char **debug_name)
{
	(void)mod;
	(void)userdata;
	(void)name;
	(void)base;
	(void)file_name;
	(void)link;
	(void)crc;
	(void)debug_name;
	return -1;
}

static const Dwfl_Callbacks callbacks = {
	.find_elf = find_elf,
	.find_debuginfo = find_no_debug_file,
};

static char *copy(const char *s)
{
	return s && *s ? strdup(s) : NULL;
}

/* A return address is behind its call, which may be the last of its function. */
static void name_frame(struct unwind_frame *f, struct live *l, bool returns)
{
	const struct hvar_image *img;
	struct hvar_place p;
	uint32_t why;

	live_resolve(l, f->ip - returns, &p);
	f->module = copy(live_path(l, p.module));
	img = p.module ? live_image(l, p.module, &why) : NULL;
	if (img && p.symbol != HVAR_IMAGE_NONE && !(p.flags & HVAR_PLACE_TLS)) {
		f->symbol = image_name(img, p.symbol);
		f->offset = p.offset + returns;
	} else if (p.vma.region != HVAR_REGION_NONE) {
		p.file_offset += returns;
		p.vaddr += returns;
		f->place = image_place_name(&p, img, f->module, true);
	}
}

struct walk {
	struct unwind *u;
	struct live *live; /* NULL: nothing has a name */
};

static int take_frame(Dwfl_Frame *frame, void *arg)
{
	struct walk *w = arg;
	struct unwind_frame *f = &w->u->v[w->u->n];
	bool interrupted = true;
	Dwarf_Addr pc;

	if (w->u->n == UNWIND_FRAMES) {
		w->u->why = "there are more frames";
		return DWARF_CB_ABORT;
	}
	if (!dwfl_frame_pc(frame, &pc, &interrupted)) {
		w->u->why = dwfl_errmsg(-1);
		return DWARF_CB_ABORT;
	}
	*f = (struct unwind_frame){ .ip = pc };
	if (w->live)
		name_frame(f, w->live, !interrupted && w->u->n);
	w->u->n++;
	return DWARF_CB_OK;
}

int unwind_thread(struct unwind *u, pid_t pid, pid_t tid)
{
	struct walk w = { .u = u };
	Dwfl *dwfl;

	unwind_fini(u);
	now.tid = tid;
	now.look.fd = -1;
	if (!look_open(&now.look, tid))
		look_at(&now.look, 0, ~(uint64_t)0, &now.areas);
	w.live = live_open(pid, NULL);
	dwfl = dwfl_begin(&callbacks);
	if (!dwfl || dwfl_linux_proc_report(dwfl, tid) ||
	    dwfl_report_end(dwfl, NULL, NULL) || dwfl_linux_proc_attach(dwfl, tid, true) < 0)
		u->why = "its modules cannot be read";
	else if (dwfl_getthread_frames(dwfl, tid, take_frame, &w) && !u->why)
		u->why = dwfl_errmsg(-1);
	if (dwfl)
		dwfl_end(dwfl);
	live_free(w.live);
	look_areas_fini(&now.areas);
	now.areas = (struct look_areas){ 0 };
	look_close(&now.look);
	return u->n ? 0 : -ENODATA;
}

void unwind_fini(struct unwind *u)
{
	size_t i;

	for (i = 0; i < u->n; i++) {
		free(u->v[i].symbol);
		free(u->v[i].module);
		free(u->v[i].place);
	}
	u->n = 0;
	u->why = NULL;
}
