// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * hvk_image.c - symbol images: found by build-id, checked by the core, kept until the end.
 *
 * Only works read them: they sleep.  An image is trusted for what its owner is: directory and
 * file must be root's and writable by nobody else, whoever runs the script.  They are
 * opened below the directory as it was when the script began, or as it was first there after that, below the root
 * directory of who began the script, with the kernel's own rights: so neither a chroot nor
 * the rights of the followed program change what is found.
 *
 * A file without a good image is asked for again when the directory has changed, and for as
 * long as what changed there is young: it may be half written, or not be alone.  A directory that
 * is not there, or not root's alone, is asked for again twice a second, by works of programs that lack an image.
 */
#include "hvk_host.h"

struct hvk_image {
	struct rcu_head rcu;
	u64 bytes;
	struct hvar_image img;
	u64 data[];
};

static struct file *hvk_image_root;	/* what "/" was when the script began */
static struct file *hvk_image_dir;	/* NULL: cannot be opened */
static char hvk_image_path[256];	/* its name, for people */
static const struct cred *hvk_cred;	/* the kernel's */
static struct task_work hvk_images_begin_work;
static bool hvk_images_begun;		/* that work is queued or done */
static atomic64_t hvk_image_bytes = ATOMIC64_INIT(0);
static u64 hvk_image_seen;		/* the directory's mtime when last searched in peace */
static unsigned long hvk_image_next;	/* neither to be searched nor opened before: jiffies */
static atomic_t hvk_image_opening = ATOMIC_INIT(0); /* one work does */
static atomic_t hvk_missing = ATOMIC_INIT(0); /* modules without an image that may yet come */
static bool hvk_image_dir_refused;

static bool hvk_roots_alone(const struct file *file)
{
	const struct inode *inode = file_inode(file);

	return uid_eq(inode->i_uid, GLOBAL_ROOT_UID) &&
	       !(inode->i_mode & (S_IWGRP | S_IWOTH));
}

/* Open the directory, with the kernel's rights, if it is there and root's alone. */
static void hvk_image_dir_open(void)
{
	struct file *dir = file_open_root(&hvk_image_root->f_path, hvk_image_path,
					  O_RDONLY | O_DIRECTORY, 0);

	WRITE_ONCE(hvk_image_dir_refused, false);
	if (IS_ERR(dir))
		return;
	if (hvk_roots_alone(dir)) {
		smp_store_release(&hvk_image_dir, dir);
	} else {
		WRITE_ONCE(hvk_image_dir_refused, true);
		fput(dir);
	}
}

static void hvk_images_begin_fn(struct task_work *work)
{
	const struct cred *cred = prepare_kernel_cred(&init_task), *mine;
	struct file *root;

	if (cred) {
		mine = override_creds(cred);
		root = filp_open("/", O_RDONLY | O_DIRECTORY, 0);
		if (!IS_ERR(root)) {
			hvk_image_root = root;
			hvk_image_dir_open();
		}
		revert_creds(mine);
		hvk_image_next = jiffies + HZ / 2;
		smp_store_release(&hvk_cred, cred);
	}
	stp_task_work_func_done();
}

/* From probe begin: current will open @dir before it returns to user mode. */
HVK_API int hvk_images_begin(const char *dir)
{
	int err;

	if (hvk_images_begun)
		return 0;
	strscpy(hvk_image_path, dir, sizeof(hvk_image_path));
	stp_init_task_work(&hvk_images_begin_work, &hvk_images_begin_fn);
	err = stp_task_work_add(current, &hvk_images_begin_work);
	hvk_images_begun = !err;
	return err;
}

/* All of @file, checked, as the image of build-id @id; or -errno. */
static struct hvk_image *hvk_image_read(struct file *file, const u8 *id, u32 len)
{
	u64 size = i_size_read(file_inode(file)), got = 0;
	struct hvk_image *im;
	int err;

	if (!S_ISREG(file_inode(file)->i_mode) || !hvk_roots_alone(file))
		return ERR_PTR(-EPERM);
	if (size > HVK_MAX_IMAGE ||
	    atomic64_read(&hvk_image_bytes) + size > HVK_MAX_IMAGES) {
		hvk_lose(HVK_LOST_IMAGES);
		return ERR_PTR(-EFBIG);
	}
	im = hvk_kvmalloc(sizeof(*im) + size);
	if (!im) {
		hvk_lose(HVK_LOST_IMAGES);
		return ERR_PTR(-ENOMEM);
	}
	while (got < size) {
		u32 n = hvk_file_read(file, (u8 *)im->data + got,
				      min_t(u64, size - got, 1 << 20), got);

		if (!n)
			break;
		got += n;
		cond_resched();
	}
	im->bytes = size;
	err = got == size ? hvar_image_open(&im->img, im->data, size) : -EIO;
	if (!err && (im->img.build_id_len != len || memcmp(im->img.build_id, id, len)))
		err = -EINVAL;
	if (err) {
		kvfree(im);
		return ERR_PTR(err);
	}
	atomic64_add(size, &hvk_image_bytes);
	return im;
}

/* Has @file changed within the last second? */
static bool hvk_is_young(const struct file *file)
{
	return ktime_get_real_ns() - hvk_inode_mtime(file_inode(file)) < NSEC_PER_SEC;
}

/* Look for the image of @m; *@young: what was found may not be finished. */
static enum hvk_module_state hvk_image_find_file(struct hvk_module *m, bool *young)
{
	char name[2 * HVAR_BUILD_ID_MAX + sizeof(".img")];
	struct hvk_image *im;
	const struct cred *mine;
	struct file *file;
	u32 i;

	if (!hvk_image_dir)
		return HVK_MODULE_MISSING;
	for (i = 0; i < m->facts.build_id_len; i++)
		snprintf(name + 2 * i, 3, "%02x", m->facts.build_id[i]);
	strcpy(name + 2 * i, ".img"); /* there is room: see the declaration */
	mine = override_creds(hvk_cred);
	file = file_open_root(&hvk_image_dir->f_path, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0);
	im = IS_ERR(file) ? NULL :
			    hvk_image_read(file, m->facts.build_id, m->facts.build_id_len);
	revert_creds(mine);
	if (IS_ERR(file))
		return HVK_MODULE_MISSING;
	/* Half written, or no memory: it may be better soon. */
	if (IS_ERR(im) && (hvk_is_young(file) || PTR_ERR(im) == -ENOMEM))
		*young = true;
	fput(file);
	if (IS_ERR(im))
		return PTR_ERR(im) == -ENOMEM ? HVK_MODULE_MISSING : HVK_MODULE_REFUSED;
	smp_store_release(&m->image, im);
	return HVK_MODULE_LOADED;
}

/* First sight of @m's file: its build-id, then its image. */
static enum hvk_module_state hvk_module_read(struct hvk_module *m, u8 *buf, bool *young)
{
	struct file *file = m->file;
	const struct cred *mine = override_creds(hvk_cred);
	int len = hvk_build_id(file, buf, m->facts.build_id);

	revert_creds(mine);
	m->file = NULL;
	fput(file);
	if (len == -ENOEXEC)
		return HVK_MODULE_NO_ELF;
	m->facts.flags |= HVAR_MODULE_ELF;
	if (len <= 0)
		return HVK_MODULE_NO_ID;
	m->facts.build_id_len = len;
	return hvk_image_find_file(m, young);
}

/* Is the directory one to be searched again: changed, or to be opened first? */
static bool hvk_image_dir_changed(void)
{
	struct file *dir = READ_ONCE(hvk_image_dir);

	if (dir ? hvk_inode_mtime(file_inode(dir)) == READ_ONCE(hvk_image_seen) :
		  !hvk_image_root)
		return false;
	return time_after_eq(jiffies, READ_ONCE(hvk_image_next));
}

/* Is there anything for a work to do?  Cheap: asked at every call. */
HVK_API bool hvk_images_due(void)
{
	if (!READ_ONCE(hvk_cred))
		return false;
	if (atomic_read(&hvk_modules_new) > 0)
		return true;
	return atomic_read(&hvk_missing) > 0 && hvk_image_dir_changed();
}

/* The directory was not there. */
static void hvk_image_dir_again(void)
{
	const struct cred *mine;

	if (hvk_image_dir || !hvk_image_root || atomic_xchg(&hvk_image_opening, 1))
		return;
	if (!hvk_image_dir) {
		mine = override_creds(hvk_cred);
		hvk_image_dir_open();
		revert_creds(mine);
	}
	atomic_set(&hvk_image_opening, 0);
}

/* Ask for the image of @m, if it is @m's turn.  Only one work does. */
static void hvk_images_work_on(struct hvk_module *m, bool changed, u8 *buf, bool *young)
{
	int state = HVK_MODULE_NEW;

	if (atomic_try_cmpxchg(&m->state, &state, HVK_MODULE_READING)) {
		atomic_dec(&hvk_modules_new);
		state = hvk_module_read(m, buf, young);
	} else if (changed && (state == HVK_MODULE_MISSING || state == HVK_MODULE_REFUSED) &&
		   atomic_try_cmpxchg(&m->state, &state, HVK_MODULE_READING)) {
		atomic_dec(&hvk_missing);
		state = hvk_image_find_file(m, young);
	} else {
		return;
	}
	if (state == HVK_MODULE_MISSING || state == HVK_MODULE_REFUSED)
		atomic_inc(&hvk_missing);
	atomic_set(&m->state, state);
}

/* In a work: read the files not read yet, and ask again for what is missing. */
HVK_API void hvk_images_work(void)
{
	bool changed = hvk_image_dir_changed(), young;
	struct file *dir;
	u64 mtime;
	u8 *buf;
	u32 i;

	if (!smp_load_acquire(&hvk_cred) || (atomic_read(&hvk_modules_new) <= 0 && !changed))
		return;
	buf = hvk_kmalloc(PAGE_SIZE, GFP_KERNEL | __GFP_NOWARN);
	if (!buf)
		return; /* due still: at the next call */
	if (changed) {
		WRITE_ONCE(hvk_image_next, jiffies + (hvk_image_dir ? HZ / 10 : HZ / 2));
		hvk_image_dir_again();
	}
	dir = smp_load_acquire(&hvk_image_dir);
	mtime = dir ? hvk_inode_mtime(file_inode(dir)) : 0;
	young = dir && hvk_is_young(dir);
	for (i = 1; i < HVK_MAX_MODULES && hvk_module_get(i); i++)
		hvk_images_work_on(hvk_modules[i], changed && dir, buf, &young);
	kfree(buf);
	if (changed && dir && !young)
		WRITE_ONCE(hvk_image_seen, mtime);
}

/* hvar_image_of_fn: callable anywhere. */
HVK_API const struct hvar_image *hvk_image_of(void *ctx, uint32_t id, uint32_t *why)
{
	const struct hvk_module *m = hvk_module_get(id);
	const struct hvk_image *im;

	*why = HVAR_REASON_NO_ACCESS;
	if (!m)
		return NULL;
	im = smp_load_acquire(&m->image);
	if (im)
		return &im->img;
	switch (atomic_read(&m->state)) {
	case HVK_MODULE_NO_ELF:
		*why = HVAR_REASON_NO_ELF;
		break;
	case HVK_MODULE_REFUSED:
		*why = HVAR_REASON_BAD_ELF;
		break;
	}
	/* Somebody has asked for a name in it: for the list at the end. */
	if (!READ_ONCE(m->wanted))
		WRITE_ONCE(((struct hvk_module *)m)->wanted, true);
	return NULL;
}

/*
 * @path as a word that a shell takes for it, in @out of @size bytes; false if there is no room. One that needs it is
 * $'...', with a backslash ahead of each quote and backslash, and \nnn for what cannot be printed. @path has
 * \012 for a line end.
 */
static bool hvk_shell_word(const char *path, char *out, size_t size)
{
	const char *s;
	size_t n = 2;

	for (s = path; *s && (isalnum((u8)*s) || strchr("/._+-@%:,=", *s)); s++)
		;
	if (!*s)
		return strscpy(out, path, size) > 0;
	strscpy(out, "$'", size);
	for (s = path; *s && n + 6 < size; s++) {
		if (!strncmp(s, "\\012", 4))
			out[n++] = '\\'; /* and the rest as it is */
		else if ((u8)*s < ' ' || (u8)*s >= 0x7f)
			n += snprintf(out + n, size - n, "\\%03o", (u8)*s);
		else if (*s == '\'' || *s == '\\')
			n += snprintf(out + n, size - n, "\\%c", *s);
		else
			out[n++] = *s;
	}
	out[n++] = '\'';
	out[n] = '\0';
	return !*s;
}

/* "no names for PATH: WHY (REMEDY)", where REMEDY may end with PATH. */
static void hvk_no_names(const struct hvk_module *m, const char *why, const char *where, const char *remedy, bool path)
{
	static char word[1024]; /* only at the end: nobody else runs */
	bool fits = hvk_shell_word(m->path, word, sizeof(word));

	_stp_warn("vma: no names for %s%s: %s%s (%s%s)\n", word, fits ? "" : "...", why, where, remedy,
		  !path ? "" : fits ? word : "FILE");
}

/* What could not be named for want of an image, and what to do, to the script's stderr. */
HVK_API void hvk_images_report(void)
{
	u32 i;

	if (hvk_image_dir_refused)
		_stp_warn("vma: %s is not used: it must be root's and writable by nobody else (chown root, chmod go-w)\n",
			  hvk_image_path);
	for (i = 1; i < HVK_MAX_MODULES && hvk_module_get(i); i++) {
		const struct hvk_module *m = hvk_modules[i];

		if (!m->wanted)
			continue;
		switch (atomic_read(&m->state)) {
		case HVK_MODULE_NEW:
		case HVK_MODULE_MISSING:
			hvk_no_names(m, "it has no symbol image in ", hvk_image_path,
				     "as root: hotvar stap --also ", true);
			break;
		case HVK_MODULE_REFUSED:
			hvk_no_names(m, "its symbol image is damaged, another file's, or not root's alone, in ",
				     hvk_image_path, "as root: hotvar stap --also ", true);
			break;
		case HVK_MODULE_NO_ID:
			hvk_no_names(m, "it has no build-id, or cannot be read", "",
				     "link it with -Wl,--build-id", false);
			break;
		}
	}
}

/* At the end only. */
HVK_API void hvk_images_free(void)
{
	u32 i;

	for (i = 1; i < HVK_MAX_MODULES && hvk_module_get(i); i++) {
		struct hvk_image *im = (struct hvk_image *)hvk_modules[i]->image;

		if (im)
			kvfree_rcu(im, rcu);
		hvk_modules[i]->image = NULL;
	}
	if (hvk_image_dir)
		fput(hvk_image_dir);
	if (hvk_image_root)
		fput(hvk_image_root);
	if (hvk_cred)
		put_cred(hvk_cred);
	hvk_image_dir = NULL;
	hvk_image_root = NULL;
	hvk_cred = NULL;
	hvk_images_begun = false;
	atomic64_set(&hvk_image_bytes, 0);
	atomic_set(&hvk_missing, 0);
}
