// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * hvk_module.c - mapped files, and areas with a name, by number.
 *
 * A file is known by its dentry, inode, generation and last name: as long as it is
 * mapped these are its own, and where it is renamed or another took its place, it is another
 * module, as /proc/PID/maps then shows another path.  d_path() only runs for those not
 * known yet, and when anything at all has been renamed since: it may be a directory above.
 * A file that is seen from several roots or mounts has the name that it has in the first.
 * Modules are added by looks and live until the end, so that a number stays good.
 */
#include "hvk_host.h"

static struct hlist_head hvk_module_hash[1 << HVK_HASH_BITS];
static struct hvk_module *hvk_modules[HVK_MAX_MODULES]; /* by number; [0] is none */
static u32 hvk_n_modules;
static atomic_t hvk_modules_new = ATOMIC_INIT(0); /* whose file is still to be read */

static const char hvk_deleted[] = " (deleted)";

HVK_API const struct hvk_module *hvk_module_get(u32 id)
{
	return id && id < HVK_MAX_MODULES ? READ_ONCE(hvk_modules[id]) : NULL;
}

static struct hlist_head *hvk_module_bucket(const void *dentry, u64 name_hash)
{
	return &hvk_module_hash[hash_64((u64)(unsigned long)dentry ^ name_hash,
					HVK_HASH_BITS)];
}

/*
 * The module of these facts, and of path @name if that is not NULL (of areas without a file: @inode
 * is NULL): the last that was added.
 */
static struct hvk_module *hvk_module_find(const void *dentry, u64 name_hash,
					  const struct inode *inode, const char *name)
{
	struct hvk_module *m;

	hlist_for_each_entry_rcu(m, hvk_module_bucket(dentry, name_hash), node,
				 lockdep_is_held(&hvk_lock)) {
		if (m->dentry != dentry || m->name_hash != name_hash)
			continue;
		if (inode && (m->facts.ino != inode->i_ino ||
			      m->generation != inode->i_generation ||
			      m->facts.dev_major != MAJOR(inode->i_sb->s_dev) ||
			      m->facts.dev_minor != MINOR(inode->i_sb->s_dev)))
			continue;
		if (!name || !strcmp(m->path, name))
			return m;
	}
	return NULL;
}

/* Changes with each rename, of whatever. */
static u32 hvk_renames(void)
{
	return raw_read_seqcount(&rename_lock.seqcount);
}

/* Give @m a number, unless another CPU has just added the like: then that one. */
static struct hvk_module *hvk_module_add(struct hvk_module *m, const struct inode *inode)
{
	struct hvk_module *other;
	unsigned long flags;

	raw_spin_lock_irqsave(&hvk_lock, flags);
	other = hvk_module_find(m->dentry, m->name_hash, inode, m->path);
	if (!other && hvk_n_modules + 1 < HVK_MAX_MODULES) {
		m->id = ++hvk_n_modules;
		hlist_add_head_rcu(&m->node,
				   hvk_module_bucket(m->dentry, m->name_hash));
		smp_store_release(&hvk_modules[m->id], m);
		other = m;
	}
	raw_spin_unlock_irqrestore(&hvk_lock, flags);
	if (!other)
		hvk_lose(HVK_LOST_MODULES);
	if (other == m) {
		if (m->file)
			atomic_inc(&hvk_modules_new);
	} else {
		if (m->file)
			fput(m->file);
		kfree(m);
	}
	return other;
}

static struct hvk_module *hvk_module_new(const char *path, u32 len)
{
	struct hvk_module *m = hvk_kmalloc(sizeof(*m) + len + 1, HVK_GFP | __GFP_ZERO);

	if (!m) {
		hvk_lose(HVK_LOST_MODULES);
		return NULL;
	}
	memcpy(m->path, path, len);
	m->len = len;
	return m;
}

/* Memory that the kernel's own tmpfs or hugetlbfs keeps, under the name of a deleted file. */
static bool hvk_module_is_shm(const struct hvk_module *m)
{
	const char *s = m->path;
	u32 i;

	if (m->facts.dev_major || !(m->facts.flags & HVAR_MODULE_DELETED))
		return false;
	if (!strncmp(s, "/memfd:", 7))
		return true;
	if (strncmp(s, "/SYSV", 5) || m->len != 13)
		return false;
	for (i = 5; i < 13; i++)
		if (!isxdigit(s[i]))
			return false;
	return true;
}

/* What its areas are: as /proc/PID/maps' path tells every reader. */
static void hvk_module_classify(struct hvk_module *m)
{
	bool kernels = !m->facts.dev_major && (m->facts.flags & HVAR_MODULE_DELETED);

	m->shared_region = HVAR_REGION_FILE;
	m->private_region = HVAR_REGION_FILE;
	if (m->path[0] != '/') {
		m->facts.flags |= HVAR_MODULE_PSEUDO;
	} else if (hvk_module_is_shm(m)) {
		m->facts.flags |= HVAR_MODULE_PSEUDO;
		if (m->path[1] == 'S')
			m->facts.flags |= HVAR_MODULE_SYSV;
		m->shared_region = HVAR_REGION_SHM;
		m->private_region = HVAR_REGION_SHM;
	} else if (kernels && (!strcmp(m->path, "/dev/zero") ||
			       !strcmp(m->path, "/anon_hugepage"))) {
		m->facts.flags |= HVAR_MODULE_PSEUDO;
		m->shared_region = HVAR_REGION_SHM;
		m->private_region = HVAR_REGION_ANON;
	} else if (!strncmp(m->path, "/dev/shm/", 9)) {
		m->shared_region = HVAR_REGION_SHM;
		m->private_region = HVAR_REGION_SHM;
	} else if (!strcmp(m->path, "/dev/zero")) {
		m->private_region = HVAR_REGION_ANON;
	}
}

/* From where current sees @path: in another root or by another mount it may have another name. */
static u64 hvk_view(const struct path *path)
{
	const struct fs_struct *fs = current->fs;

	return fs ? hash_64((u64)(unsigned long)fs->root.dentry, 64) ^
		    (u64)(unsigned long)fs->root.mnt ^ (u64)(unsigned long)path->mnt : 0;
}

/*
 * The path @s of *@len bytes, at the end of @buf of PATH_MAX bytes, with each line end as \012, as /proc/PID/maps has
 * it: whoever prints a line for each area prints one. Returns where it begins then.
 */
static char *hvk_one_line(char *s, u32 *len, char *buf)
{
	char *from, *to;
	u32 n = 0;

	for (from = s; *from; from++)
		n += *from == '\n';
	if (!n)
		return s;
	if (s - buf < 3 * (long)n) {
		strreplace(s, '\n', '?'); /* there is no room */
		return s;
	}
	for (from = s, s = to = s - 3 * n; *from; from++) {
		if (*from == '\n') {
			memcpy(to, "\\012", 4);
			to += 4;
		} else {
			*to++ = *from;
		}
	}
	*to = '\0';
	*len += 3 * n;
	return s;
}

/* The path of @file without " (deleted)", in @buf of PATH_MAX bytes; *@deleted: it had that. */
static char *hvk_module_path(const struct path *path, char *buf, u32 *len, bool *deleted)
{
	const struct dentry *dentry = path->dentry;
	const u32 tail = sizeof(hvk_deleted) - 1;
	char *s = d_path(path, buf, PATH_MAX);

	if (IS_ERR(s))
		s = strcpy(buf, "?"); /* longer than any path may be */
	*len = strlen(s);
	*deleted = (d_unlinked(dentry) || (dentry->d_op && dentry->d_op->d_dname)) &&
		   *len >= tail && !strcmp(s + *len - tail, hvk_deleted);
	if (*deleted) {
		*len -= tail;
		s[*len] = '\0';
	}
	return hvk_one_line(s, len, buf);
}

/* The module of @file, which an area maps; names are read into @buf, of PATH_MAX bytes. */
HVK_API struct hvk_module *hvk_module_of(struct file *file, char *buf)
{
	const struct path *path = hvk_file_path(file);
	const struct inode *inode = hvk_file_inode(file);
	struct dentry *dentry = path->dentry;
	u64 name_hash = READ_ONCE(dentry->d_name.hash_len);
	struct hvk_module *m = hvk_module_find(dentry, name_hash, inode, NULL);
	u32 renames = hvk_renames(), len;
	u64 view;
	bool deleted;
	char *s;

	if (m && READ_ONCE(m->renames) == renames)
		return m;
	view = hvk_view(path);
	if (m && m->view != view)
		return m; /* as it was called where it was first seen */
	s = hvk_module_path(path, buf, &len, &deleted);
	if (m)
		m = hvk_module_find(dentry, name_hash, inode, s);
	if (m) {
		WRITE_ONCE(m->renames, renames);
		return m;
	}
	m = hvk_module_new(s, len);
	if (!m)
		return NULL;
	m->dentry = dentry;
	m->name_hash = name_hash;
	m->renames = renames;
	m->view = view;
	m->generation = inode->i_generation;
	m->facts.dev_major = MAJOR(inode->i_sb->s_dev);
	m->facts.dev_minor = MINOR(inode->i_sb->s_dev);
	m->facts.ino = inode->i_ino;
	m->facts.size = i_size_read(inode);
	m->facts.mtime_ns = hvk_inode_mtime(inode);
	if (deleted)
		m->facts.flags |= HVAR_MODULE_DELETED;
	hvk_module_classify(m);
	if (S_ISREG(inode->i_mode) && m->private_region == HVAR_REGION_FILE &&
	    !(m->facts.flags & HVAR_MODULE_PSEUDO)) {
		atomic_set(&m->state, HVK_MODULE_NEW);
		m->file = get_file(file);
	} else {
		atomic_set(&m->state, HVK_MODULE_NO_ELF);
	}
	return hvk_module_add(m, inode);
}

/* The module of areas without a file that are called @name: "[vdso]", "[anon:x]". */
HVK_API struct hvk_module *hvk_module_named(const char *name)
{
	u32 len = strlen(name);
	u64 hash = full_name_hash(NULL, name, len);
	struct hvk_module *m = hvk_module_find(NULL, hash, NULL, name);

	if (m)
		return m;
	m = hvk_module_new(name, len);
	if (!m)
		return NULL;
	m->name_hash = hash;
	m->facts.flags = HVAR_MODULE_PSEUDO;
	atomic_set(&m->state, HVK_MODULE_NO_ELF);
	return hvk_module_add(m, NULL);
}

/* At the end only. */
HVK_API void hvk_modules_free(void)
{
	u32 i;

	for (i = 1; i <= hvk_n_modules; i++) {
		if (hvk_modules[i]->file)
			fput(hvk_modules[i]->file);
		kfree(hvk_modules[i]);
		hvk_modules[i] = NULL;
	}
	hvk_n_modules = 0;
	atomic_set(&hvk_modules_new, 0);
	memset(hvk_module_hash, 0, sizeof(hvk_module_hash));
}
