// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * stap_runtime.c - what does not fit, and a copy in which it does.
 *
 * The copy is called after a hash of all of the original's text, so that it is made once, and made anew
 * when the package is.  It is filled under another name and renamed.
 */
#include "config.h"

#include "stap_runtime.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cache_dir.h"
#include "stap_copies.h"
#include "stap_text.h"

/* What is put into relay_v2.c: see the mend of that name. */
#define LINGER \
	"/* The script has ended, and stapio is to be told. */\n" \
	"static int _stp_lingering;\n" \
	"\n" \
	"/* Have the readers all that was written, or taken none of it for five seconds? */\n" \
	"static bool _stp_transport_data_fs_linger(void)\n" \
	"{\n" \
	"\tstatic size_t last;\n" \
	"\tstatic int idle;\n" \
	"\tsize_t taken = 0;\n" \
	"\tbool empty = true;\n" \
	"\tint cpu;\n" \
	"\n" \
	"\tif (!_stp_relay_data.rchan)\n" \
	"\t\treturn true;\n" \
	"\tfor_each_online_cpu(cpu) {\n" \
	"\t\tstruct rchan_buf *buf = _stp_get_rchan_subbuf(_stp_relay_data.rchan->buf, cpu);\n" \
	"\n" \
	"\t\tif (!buf)\n" \
	"\t\t\tcontinue;\n" \
	"\t\tempty = empty && __stp_relay_buf_empty(buf);\n" \
	"\t\ttaken += buf->subbufs_consumed * buf->chan->subbuf_size + buf->bytes_consumed;\n" \
	"\t}\n" \
	"\tif (taken != last)\n" \
	"\t\tidle = 0;\n" \
	"\tlast = taken;\n" \
	"\tatomic_set(&_stp_relay_data.wakeup, 1);\n" \
	"\treturn empty || idle++ >= 5 * HZ / STP_CTL_TIMER_INTERVAL;\n" \
	"}\n" \
	"\n"

/* One buffer, its lock, and what is put into relay_v2.c for them: see the mend of that name. */
#define LOCK \
	"\n" \
	"#ifdef STP_BULKMODE\n" \
	"static bool __stp_relay_lock(void) { return true; }\n" \
	"static void __stp_relay_unlock(void) { }\n" \
	"static void __stp_relay_publish(void) { }\n" \
	"static void __stp_relay_reserve(struct rchan_buf *buf, size_t n) { buf->offset += n; }\n" \
	"static bool __stp_relay_room(size_t n) { return true; }\n" \
	"static ssize_t __stp_relay_read(struct file *filp, char __user *to, size_t count, loff_t *ppos)\n" \
	"{\n" \
	"\treturn relay_file_operations.read(filp, to, count, ppos);\n" \
	"}\n" \
	"#else\n" \
	"/* The processor that writes to the one buffer, interrupts off; what it has reserved there, and not yet shown to the reader. */\n" \
	"static atomic_t __stp_relay_holder = ATOMIC_INIT(-1);\n" \
	"static struct rchan_buf *__stp_relay_reserved_in;\n" \
	"static size_t __stp_relay_reserved;\n" \
	"\n" \
	"/* False in an NMI that came between. */\n" \
	"static bool __stp_relay_lock(void)\n" \
	"{\n" \
	"\tint cpu = raw_smp_processor_id(), holder;\n" \
	"\n" \
	"\twhile ((holder = atomic_cmpxchg(&__stp_relay_holder, -1, cpu)) != -1) {\n" \
	"\t\tif (holder == cpu)\n" \
	"\t\t\treturn false;\n" \
	"\t\tcpu_relax();\n" \
	"\t}\n" \
	"\treturn true;\n" \
	"}\n" \
	"\n" \
	"static void __stp_relay_publish(void)\n" \
	"{\n" \
	"\tif (!__stp_relay_reserved)\n" \
	"\t\treturn;\n" \
	"\tsmp_wmb();\n" \
	"\t__stp_relay_reserved_in->offset += __stp_relay_reserved;\n" \
	"\t__stp_relay_reserved = 0;\n" \
	"}\n" \
	"\n" \
	"static void __stp_relay_unlock(void)\n" \
	"{\n" \
	"\t__stp_relay_publish();\n" \
	"\tatomic_set_release(&__stp_relay_holder, -1);\n" \
	"}\n" \
	"\n" \
	"static void __stp_relay_reserve(struct rchan_buf *buf, size_t n)\n" \
	"{\n" \
	"\t__stp_relay_reserved_in = buf;\n" \
	"\t__stp_relay_reserved = n;\n" \
	"}\n" \
	"\n" \
	"/* Is there room for all of it?  What is written in part is no message, and the reader takes what follows for the rest. */\n" \
	"static bool __stp_relay_room(size_t n)\n" \
	"{\n" \
	"\tstruct rchan_buf *buf = _stp_get_rchan_subbuf(_stp_relay_data.rchan->buf, raw_smp_processor_id());\n" \
	"\tsize_t size, left, used;\n" \
	"\n" \
	"\tif (!buf || _stp_relay_data.overwrite_flag)\n" \
	"\t\treturn true;\n" \
	"\tsize = buf->chan->subbuf_size;\n" \
	"\tleft = buf->offset + sizeof(struct _stp_trace) < size ? size - buf->offset : 0;\n" \
	"\tused = buf->subbufs_produced - buf->subbufs_consumed + (buf->offset <= size); /* full, it has offset size + 1 */\n" \
	"\treturn n <= left + (used < buf->chan->n_subbufs ? (buf->chan->n_subbufs - used) * size : 0);\n" \
	"}\n" \
	"\n" \
	"/* What of the sub-buffer that is read next is not read yet; NULL if there is none that is closed. */\n" \
	"static char *__stp_relay_unread(struct rchan_buf *buf, size_t took, size_t *n)\n" \
	"{\n" \
	"\tsize_t size = buf->chan->subbuf_size, slot;\n" \
	"\tunsigned long flags;\n" \
	"\tchar *from = NULL;\n" \
	"\n" \
	"\tlocal_irq_save(flags);\n" \
	"\tif (__stp_relay_lock()) {\n" \
	"\t\tbuf->bytes_consumed += took;\n" \
	"\t\t/* not full, but written over */\n" \
	"\t\tif (buf->offset <= size && buf->subbufs_produced - buf->subbufs_consumed >= buf->chan->n_subbufs) {\n" \
	"\t\t\tbuf->subbufs_consumed = buf->subbufs_produced - buf->chan->n_subbufs + 1;\n" \
	"\t\t\tbuf->bytes_consumed = 0;\n" \
	"\t\t}\n" \
	"\t\twhile (!from && buf->subbufs_produced != buf->subbufs_consumed) {\n" \
	"\t\t\tslot = buf->subbufs_consumed % buf->chan->n_subbufs;\n" \
	"\t\t\tif (buf->bytes_consumed + buf->padding[slot] < size) {\n" \
	"\t\t\t\tfrom = (char *)buf->start + slot * size + buf->bytes_consumed;\n" \
	"\t\t\t\t*n = size - buf->padding[slot] - buf->bytes_consumed;\n" \
	"\t\t\t} else {\n" \
	"\t\t\t\tbuf->subbufs_consumed++;\n" \
	"\t\t\t\tbuf->bytes_consumed = 0;\n" \
	"\t\t\t}\n" \
	"\t\t}\n" \
	"\t\t__stp_relay_unlock();\n" \
	"\t}\n" \
	"\tlocal_irq_restore(flags);\n" \
	"\treturn from;\n" \
	"}\n" \
	"\n" \
	"/*\n" \
	" * The kernel's reader of relay takes no lock that a writer on another processor has, and skips what is in a buffer that is full if\n" \
	" * it looks while the writer does.\n" \
	" */\n" \
	"static ssize_t __stp_relay_read(struct file *filp, char __user *to, size_t count, loff_t *ppos)\n" \
	"{\n" \
	"\tstruct rchan_buf *buf = filp->private_data;\n" \
	"\tsize_t done = 0, took = 0, n;\n" \
	"\tchar *from;\n" \
	"\n" \
	"\tinode_lock(file_inode(filp));\n" \
	"\twhile ((from = __stp_relay_unread(buf, took, &n)) != NULL && done < count) {\n" \
	"\t\ttook = min(n, count - done);\n" \
	"\t\tif (copy_to_user(to + done, from, took)) {\n" \
	"\t\t\tinode_unlock(file_inode(filp));\n" \
	"\t\t\treturn done ? done : -EFAULT;\n" \
	"\t\t}\n" \
	"\t\tdone += took;\n" \
	"\t}\n" \
	"\tinode_unlock(file_inode(filp));\n" \
	"\t*ppos += done;\n" \
	"\treturn done;\n" \
	"}\n" \
	"#endif\n"
#define ONE_BUFFER "*is_global =\n#ifdef STP_BULKMODE\n\t\t\t0;\n#else\n\t\t\t1;\n#endif"

/*
 * Where the kernel's @header has @says (NULL: whatever the kernel), the runtime's file @lacks_in has not
 * @lacks, and each of the files to be edited has what is to be replaced.
 */
static const struct mend {
	const char *header, *says;
	const char *lacks_in, *lacks;
	struct edit {
		const char *file, *from, *to;
	} edits[10];
	const char *what;
} mends[] = {
	/* task_work_cancel() came to mean another function: what it was is task_work_cancel_func(). */
	{ "include/linux/task_work.h", "task_work_cancel_func(",
	  "stp_task_work.c", "task_work_cancel_func",
	  { { "stp_task_work.c", "&task_work_cancel)", "&task_work_cancel_func)" },
	    { "stp_task_work.c", "\"task_work_cancel\"", "\"task_work_cancel_func\"" } },
	  "task_work_cancel_func in stp_task_work.c" },
	/* uprobe_unregister() was split in two; the name looked up last is one of kernels long gone. */
	{ "include/linux/uprobes.h", "uprobe_unregister_nosync(",
	  "transport/transport.c", "uprobe_unregister_nosync",
	  { { "transport/transport.c", "\"unregister_uprobe\"", "\"uprobe_unregister_nosync\"" } },
	  "uprobe_unregister_nosync in transport.c" },
	/* The same split, for probes on user functions, and uprobe_register()'s other shape in the kernels that have it. */
	{ "include/linux/uprobes.h",
	  "struct uprobe *uprobe_register(struct inode *inode, loff_t offset, loff_t ref_ctr_offset, struct uprobe_consumer *uc);",
	  "linux/uprobes-inode.c", "uprobe_unregister_nosync",
	  { { "linux/uprobes-inode.c", "typedef typeof(&uprobe_unregister) uprobe_unregister_fn;",
	      "typedef typeof(&uprobe_unregister_nosync) uprobe_unregister_fn;" },
	    { "linux/uprobes-inode.c", "  struct stapiu_consumer *sconsumer;",
	      "  struct uprobe *uprobe;\n  struct stapiu_consumer *sconsumer;" },
	    { "linux/uprobes-inode.c", "    ret = uprobe_register (inst->inode, c->offset, &inst->kconsumer);",
	      "    {\n      inst->uprobe = (uprobe_register) (inst->inode, c->offset, 0, &inst->kconsumer);\n"
	      "      ret = PTR_ERR_OR_ZERO(inst->uprobe);\n    }" },
	    { "linux/uprobes-inode.c", "  (void) uprobe_unregister (inst->inode, c->offset, &inst->kconsumer);",
	      "  uprobe_unregister_nosync(inst->uprobe, &inst->kconsumer);\n  uprobe_unregister_sync();" },
	    { "linux/uprobes-inode.c", "    ; // already unlocked", "    {} // already unlocked" } },
	  "uprobe_register in uprobes-inode.c" },
	/*
	 * What is printed is sent with 8 bytes ahead of it.  Where a page of the relay buffer has no more left than
	 * those, they are lost, and what is printed ("transport failures"): that rest is padding.
	 */
	{ NULL, NULL,
	  "print_flush.c", "straddle",
	  { { "transport/relay_v2.c", "if (buf->offset >= buf->chan->subbuf_size) {",
	      "if (buf->offset + sizeof(struct _stp_trace) >= buf->chan->subbuf_size) {" } },
	  "lost output in relay_v2.c" },
	/*
	 * A task work is counted after it was added, when it may have run already: then unloading the module may
	 * wait for ever for one that is not there, or not wait for one that is.
	 */
	{ NULL, NULL,
	  "stp_task_work.c", "\tif (rc != 0)\n\t\tstp_task_work_put();",
	  { { "stp_task_work.c", "\trc = task_work_add(", "\tstp_task_work_get();\n\trc = task_work_add(" },
	    { "stp_task_work.c", "\tif (rc == 0)\n\t\tstp_task_work_get();",
	      "\tif (rc != 0)\n\t\tstp_task_work_put();" } },
	  "the count of task works in stp_task_work.c" },
	/*
	 * stapio ends when the module says that it is over, and what it has not read by then (4.8: at once, later:
	 * after 0.4 s) is lost.  The module says so when all has been read.  It must not wait for that where it is told
	 * to end: that may be the thread that reads, since it takes the signal that the command has ended as any other does.
	 */
	{ NULL, NULL,
	  "transport/relay_v2.c", "_linger",
	  { { "transport/relay_v2.c", "static void _stp_transport_data_fs_stop(void)\n",
	      LINGER "static void _stp_transport_data_fs_stop(void)\n" },
	    { "transport/transport.c", "\t\t_stp_transport_data_fs_stop();\n\n\t\tdbug_trans(1, \"ctl_send STP_EXIT",
	      "\t\tif (!send_exit)\n\t\t\t_stp_transport_data_fs_stop();\n\n\t\tdbug_trans(1, \"ctl_send STP_EXIT" },
	    { "transport/transport.c", "\t\t\t_stp_ctl_send_notify(STP_EXIT, NULL, 0);\n",
	      "\t\t\tWRITE_ONCE(_stp_lingering, 1);\n" },
	    { "transport/transport.c", "\t/* if exit flag is set AND we have finished with",
	      "\tif (unlikely(READ_ONCE(_stp_lingering)) && _stp_transport_data_fs_linger() &&\n"
	      "\t    _stp_ctl_send_notify(STP_EXIT, NULL, 0) > 0)\n"
	      "\t\tWRITE_ONCE(_stp_lingering, 0);\n\n"
	      "\t/* if exit flag is set AND we have finished with" } },
	  "unread output in transport.c" },
	/*
	 * Each processor has a buffer and a reader of its own, and stapio sorts what they read, but waits for none of them
	 * longer than two seconds.  Where one is later than that, what was printed first comes out last.  One buffer for
	 * all is in order by itself.
	 */
	{ NULL, NULL,
	  "transport/relay_v2.c", "__stp_relay_lock",
	  { { "transport/relay_v2.c", "static struct file_operations relay_file_operations_w_owner;\n",
	      "static struct file_operations relay_file_operations_w_owner;\n" LOCK },
	    { "transport/relay_v2.c", "\t\tif (buf->offset)\n\t\t\t__stp_relay_switch_subbuf(buf, 0);\n",
	      "\t\tif (__stp_relay_lock()) {\n\t\t\tif (buf->offset)\n\t\t\t\t__stp_relay_switch_subbuf(buf, 0);\n"
	      "\t\t\t__stp_relay_unlock();\n\t\t}\n" },
	    { "transport/relay_v2.c", "\treturn relay_file_operations.read(filp, buffer, count, ppos);\n",
	      "\treturn __stp_relay_read(filp, buffer, count, ppos);\n" },
	    { "transport/relay_v2.c", "\t\t\t\t    smp_processor_id());\n",
	      "\t\t\t\t    smp_processor_id());\n\t__stp_relay_publish();\n" },
	    { "transport/relay_v2.c", "\tbuf->offset += size_request;\n",
	      "\t__stp_relay_reserve(buf, size_request);\n" },
	    /* before the reader is told that there is something */
	    { "transport/relay_v2.c", "static int _stp_data_write_commit(void *entry)\n{\n",
	      "static int _stp_data_write_commit(void *entry)\n{\n\t__stp_relay_publish();\n" },
	    { "transport/debugfs.c", "*is_global = 0;", ONE_BUFFER },
	    { "transport/procfs.c", "*is_global = 0;", ONE_BUFFER },
	    { "print_flush.c", "\tdbug_trans(1, \"len = %zu\\n\", len);\n",
	      "\tdbug_trans(1, \"len = %zu\\n\", len);\n"
	      "\tif (!__stp_relay_lock()) {\n\t\tatomic_inc(&_stp_transport_failures);\n\t\treturn;\n\t}\n"
	      "\tif (!__stp_relay_room(hlen + len)) {\n\t\t__stp_relay_unlock();\n"
	      "\t\tatomic_inc(&_stp_transport_failures);\n\t\treturn;\n\t}\n" },
	    { "print_flush.c", "                atomic_inc(&_stp_transport_failures);\n        }\n}\n",
	      "                atomic_inc(&_stp_transport_failures);\n        }\n\t__stp_relay_unlock();\n}\n" } },
	  "order of output in relay_v2.c" },
};
#define N_MENDS (sizeof(mends) / sizeof(mends[0]))
#define N_EDITS (sizeof(mends[0].edits) / sizeof(mends[0].edits[0]))
enum { DEPTH = 16 };

/* ---- what does not fit ---- */

/* The text of @name in the folder @dir, or in that of what it links to. */
static char *text_of(const char *dir, const char *between, const char *name)
{
	char path[4096];
	int n = snprintf(path, sizeof(path), "%s%s/%s", dir, between, name);

	return n > 0 && (size_t)n < sizeof(path) ? stap_text_read(path, NULL) : NULL;
}

/*
 * A kernel's header: in the build tree, in the sources beside it, or where the build tree's Makefile includes
 * another from:
 *
 *	include /usr/src/linux-headers-6.1.0-57-common/Makefile
 */
static char *header(const char *build, const char *name)
{
	char *text = text_of(build, "", name), *make, *line, *save;

	if (!text)
		text = text_of(build, "/source", name);
	if (!text)
		text = text_of(build, "/../source", name);
	if (text)
		return text;
	make = text_of(build, "", "Makefile");
	if (!make)
		return NULL;
	for (line = strtok_r(make, "\n", &save); line && !text; line = strtok_r(NULL, "\n", &save)) {
		size_t n = strlen(line);

		if (strncmp(line, "include /", 9) || n < 18 || strcmp(line + n - 9, "/Makefile"))
			continue;
		line[n - 9] = '\0';
		text = text_of(line + 8, "", name);
	}
	free(make);
	return text;
}

/* Has the runtime's @file @words? */
static bool has(const char *dir, const char *file, const char *words)
{
	char *text = text_of(dir, "", file);
	bool r = text && strstr(text, words);

	free(text);
	return r;
}

static bool is_due(const struct mend *m, const char *dir, const char *build)
{
	char *text;
	bool due;

	for (size_t i = 0; i < N_EDITS && m->edits[i].file; i++)
		if (!has(dir, m->edits[i].file, m->edits[i].from))
			return false;
	if (has(dir, m->lacks_in, m->lacks))
		return false;
	if (!m->header)
		return true;
	text = header(build, m->header);
	due = text && strstr(text, m->says);
	free(text);
	return due;
}

int stap_runtime_faults(const char *dir, const char *build, char *what, size_t n)
{
	size_t at = 0;
	int found = 0;

	*what = '\0';
	for (size_t i = 0; i < N_MENDS; i++) {
		if (!is_due(&mends[i], dir, build))
			continue;
		if (at < n)
			at += (size_t)snprintf(what + at, n - at, "%s%s", found ? ", " : "", mends[i].what);
		found++;
	}
	return found;
}

/* ---- the copy ---- */

/* Replace each @from in the malloc'd *@text. */
static int replace(char **text, size_t *size, const char *from, const char *to)
{
	size_t len = strlen(from), done;
	char *out = NULL, *p = *text, *at;
	FILE *f = open_memstream(&out, &done);

	if (!f)
		return -ENOMEM;
	while ((at = strstr(p, from)) != NULL) {
		fwrite(p, 1, (size_t)(at - p), f);
		fputs(to, f);
		p = at + len;
	}
	fwrite(p, 1, *size - (size_t)(p - *text), f);
	if (fclose(f))
		return -ENOMEM;
	free(*text);
	*text = out;
	*size = done;
	return 0;
}

/* A walk through the runtime: hashing (@to < 0), or copying into the folder @to. */
struct walk {
	const char *dir;
	bool due[N_MENDS];
	int to;
	uint64_t hash;
};

static void hash(struct walk *w, const char *data, size_t n)
{
	/* FNV-1a */
	for (size_t i = 0; i < n; i++)
		w->hash = (w->hash ^ (unsigned char)data[i]) * 0x100000001b3u;
}

static int put_text(int to, const char *rel, const char *text, size_t size)
{
	int fd = openat(to, rel, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	int r = 0;

	if (fd < 0)
		return -errno;
	while (size && !r) {
		ssize_t n = write(fd, text, size);

		if (n > 0) {
			text += n;
			size -= (size_t)n;
		} else if (n == 0 || errno != EINTR) {
			r = n ? -errno : -ENOSPC;
		}
	}
	if (!r && fchmod(fd, 0644))
		r = -errno;
	if (close(fd) && !r)
		r = -errno;
	return r;
}

static int one_file(struct walk *w, const char *rel)
{
	char path[4096];
	size_t size;
	char *text;
	int r = 0;

	snprintf(path, sizeof(path), "%s/%s", w->dir, rel);
	text = stap_text_read(path, &size);
	if (!text)
		return -errno;
	for (size_t i = 0; i < N_MENDS; i++)
		for (size_t k = 0; w->due[i] && k < N_EDITS && mends[i].edits[k].file && !r; k++)
			if (!strcmp(mends[i].edits[k].file, rel))
				r = replace(&text, &size, mends[i].edits[k].from, mends[i].edits[k].to);
	hash(w, rel, strlen(rel) + 1);
	hash(w, text, size);
	if (!r && w->to >= 0)
		r = put_text(w->to, rel, text, size);
	free(text);
	return r;
}

static int plain_name(const struct dirent *de)
{
	return de->d_name[0] != '.';
}

/* The folder @rel of the runtime ("": itself) and what is below it, in the order of names. */
static int walk(struct walk *w, const char *rel, int depth)
{
	struct dirent **list;
	char path[4096];
	int n, r = 0;

	snprintf(path, sizeof(path), "%s/%s", w->dir, rel);
	n = scandir(path, &list, plain_name, alphasort);
	if (n < 0)
		return -errno;
	if (w->to >= 0 && *rel && (mkdirat(w->to, rel, 0700) || fchmodat(w->to, rel, 0755, 0)))
		r = -errno;
	for (int i = 0; i < n; i++) {
		char below[2048];
		struct stat st;
		int len = snprintf(below, sizeof(below), "%s%s%s", rel, *rel ? "/" : "", list[i]->d_name);

		free(list[i]);
		if (r)
			continue;
		snprintf(path, sizeof(path), "%s/%s", w->dir, below);
		if (len < 0 || (size_t)len >= sizeof(below))
			r = -ENAMETOOLONG;
		else if (stat(path, &st))
			r = errno == ENOENT ? 0 : -errno; /* a link to nowhere */
		else if (S_ISDIR(st.st_mode))
			r = depth < DEPTH ? walk(w, below, depth + 1) : -ELOOP;
		else if (S_ISREG(st.st_mode))
			r = one_file(w, below);
	}
	free(list);
	return r;
}

/* Is @name a folder of ours that nobody else writes to? */
static bool is_ours(int at, const char *name)
{
	struct stat st;

	return !fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) && S_ISDIR(st.st_mode) &&
	       st.st_uid == geteuid() && !(st.st_mode & (S_IWGRP | S_IWOTH));
}

static int copy(struct walk *w, int cache, const char *name)
{
	char temp[64];
	int r;

	snprintf(temp, sizeof(temp), ".stap-runtime-%d", (int)getpid());
	stap_copies_remove(cache, temp);
	if (mkdirat(cache, temp, 0700))
		return -errno;
	w->to = openat(cache, temp, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	r = w->to < 0 ? -errno : walk(w, "", 0);
	if (!r && fchmod(w->to, 0755))
		r = -errno;
	if (w->to >= 0)
		close(w->to);
	if (!r && renameat(cache, temp, cache, name))
		r = is_ours(cache, name) ? 0 : -errno; /* another was first */
	stap_copies_remove(cache, temp);
	return r;
}

int stap_runtime_mend(const char *dir, const char *build, char *out, size_t n, struct err *e)
{
	struct walk w = { .dir = dir, .to = -1, .hash = 0xcbf29ce484222325u };
	int cache = cache_dir_fd(), tries = 0, r;
	char name[64];

	if (cache < 0)
		return err_set(e, EACCES, "cannot mend a copy of stap's runtime: %s",
			       cache_dir_why() ? cache_dir_why() : "there is no cache folder: set XDG_CACHE_HOME");
	for (size_t i = 0; i < N_MENDS; i++)
		w.due[i] = is_due(&mends[i], dir, build);
	r = walk(&w, "", 0);
	if (r)
		return err_set(e, -r, "cannot read stap's runtime '%s': %s: install systemtap again", dir,
			       strerror(-r));
	snprintf(name, sizeof(name), "stap-runtime-%016" PRIx64, w.hash);
	do {
		if (!is_ours(cache, name))
			r = copy(&w, cache, name);
	} while (!r && !stap_copies_use(cache, name) && !tries++);
	stap_copies_sweep(cache, name);
	if (r)
		return err_set(e, -r, "cannot make a mended copy of stap's runtime in '%s': %s: make room there, or set XDG_CACHE_HOME",
			       cache_dir_path(), strerror(-r));
	if ((size_t)snprintf(out, n, "%s/%s", cache_dir_path(), name) >= n)
		return err_set(e, ENAMETOOLONG, "cannot use a mended copy of stap's runtime: the path of the cache folder is too long: set XDG_CACHE_HOME to a shorter one");
	return 0;
}
