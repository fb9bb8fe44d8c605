// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_image_cache.c - images kept on disk: found again, made anew, and every kind of folder that will not do.
 */
#include "config.h"

#include "elf_maker.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "runtime/core/hvar_image_format.h"
#include "translator-hooks/cache_dir.h"
#include "translator-hooks/image_cache.h"

#define DATA 0x2000

static char top[] = "/tmp/hotvar-test-XXXXXX";
static char home[64], cache[96], elf[64];

static void sh(const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	assert_int_equal(system(text), 0);
}

/*
 * A file with one variable, @name, and a build-id note; @strip leaves the static
 * ones out.
 */
static void write_elf(const char *path, const char *name, bool note, bool strip)
{
	static const uint8_t id[] = { 4, 0, 0, 0, 4, 0, 0, 0, 3, 0, 0, 0, 'G', 'N', 'U', 0, 0xde, 0xad, 0xbe, 0xef };
	struct maker_table t = { .n = 0 };
	struct elf_maker f;
	uint16_t data;
	FILE *out;

	elf_maker_init(&f, false);
	while (f.n % 0x1000)
		elf_maker_put(&f, NULL, 1);
	data = (uint16_t)elf_maker_section(&f, ".data", SHT_PROGBITS, SHF_ALLOC | SHF_WRITE, DATA, NULL, 0x100);
	elf_maker_seg(&f, PT_LOAD, PF_R | PF_W, 0x1000, DATA, 0x100, 0x100);
	if (note) {
		elf_maker_section(&f, ".note", SHT_NOTE, 0, 0, id, sizeof(id));
		elf_maker_seg(&f, PT_NOTE, PF_R, f.sh[f.n_sh - 1].sh_offset, 0, sizeof(id), sizeof(id));
	}
	elf_maker_sym(&f, &t, name, DATA, 8, STB_GLOBAL, STT_OBJECT, data);
	elf_maker_table(&f, &t, true, 0);
	if (!strip) {
		elf_maker_sym(&f, &t, "hidden", DATA + 0x10, 8, STB_LOCAL, STT_OBJECT, data);
		elf_maker_table(&f, &t, false, 0);
	}
	elf_maker_end(&f, true);
	out = fopen(path, "w");
	assert_non_null(out);
	assert_int_equal(fwrite(f.p, 1, f.n, out), f.n);
	assert_int_equal(fclose(out), 0);
	elf_maker_fini(&f);
}

static struct image_file *get(const char *path)
{
	struct image_file *f = NULL;
	struct err e = { 0, "" };
	int fd = open(path, O_RDONLY);

	assert_true(fd >= 0);
	if (image_cache_get(fd, path, &f, &e))
		fail_msg("%s", e.text);
	close(fd);
	return f;
}

/* Get it, check the name at DATA and whether it was in the cache, and let it go. */
static void expect(const char *path, const char *name, bool cached)
{
	struct image_file *f = get(path);
	uint32_t i = hvar_image_find(&f->img, DATA);

	assert_string_equal(hvar_image_str(&f->img, f->img.syms[i].name), name);
	assert_int_equal(f->cached, cached);
	assert_int_equal(f->mapped, cached);
	image_file_free(f);
}

/* Entries in the cache folder whose names begin with @prefix. */
static unsigned entries(const char *prefix)
{
	DIR *d = opendir(cache);
	struct dirent *e;
	unsigned n = 0;

	while (d && (e = readdir(d)) != NULL)
		n += e->d_name[0] != '.' ? !strncmp(e->d_name, prefix, strlen(prefix)) :
					   *prefix == '.' && !strncmp(e->d_name, ".tmp-", 5);
	if (d)
		closedir(d);
	return n;
}

static int setup(void **state)
{
	(void)state;
	snprintf(home, sizeof(home), "%s/home", top);
	snprintf(cache, sizeof(cache), "%s/.cache/hotvar", home);
	snprintf(elf, sizeof(elf), "%s/elf", top);
	sh("rm -rf '%s'", home);
	assert_int_equal(mkdir(home, 0755), 0);
	setenv("HOME", home, 1);
	unsetenv("XDG_CACHE_HOME");
	cache_dir_forget();
	write_elf(elf, "first", true, false);
	return 0;
}

static void test_kept(void **state)
{
	struct stat st;
	struct image_file *f;

	(void)state;
	expect(elf, "first", false);
	assert_int_equal(stat(cache, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0700);
	assert_string_equal(image_cache_dir(), cache);
	assert_null(image_cache_why());
	expect(elf, "first", true);
	f = get(elf);
	assert_int_equal(strncmp(f->path, cache, strlen(cache)), 0);
	assert_int_equal(stat(f->path, &st), 0);
	image_file_free(f);
	assert_int_equal(entries("deadbeef-"), 1);
	assert_int_equal(entries("."), 0);
	/* another copy of the same file has the same image */
	sh("cp '%s' '%s.copy'", elf, elf);
	sh("touch -d 2001-01-01 '%s.copy'", elf);
	snprintf(elf, sizeof(elf), "%s/elf.copy", top);
	expect(elf, "first", true);
	assert_int_equal(entries("deadbeef-"), 1);
}

/* One build-id, another file: nothing but the symbols' names differ, and the time is put back. */
static void test_changed(void **state)
{
	struct timespec times[2];
	struct stat st;

	(void)state;
	expect(elf, "first", false);
	expect(elf, "first", true);
	assert_int_equal(stat(elf, &st), 0);
	write_elf(elf, "other", true, false);
	times[0] = st.st_atim;
	times[1] = st.st_mtim;
	assert_int_equal(utimensat(AT_FDCWD, elf, times, 0), 0);
	expect(elf, "other", false);
	expect(elf, "other", true);
}

/* A stripped copy and the whole one do not fight, and the whole one is found by build-id. */
static void test_stripped(void **state)
{
	static const uint8_t id[] = { 0xde, 0xad, 0xbe, 0xef };
	char bare[96];
	struct image_file *f;

	(void)state;
	snprintf(bare, sizeof(bare), "%s.stripped", elf);
	write_elf(bare, "first", true, true);
	for (int i = 0; i < 2; i++) {
		expect(bare, "first", i);
		expect(elf, "first", i);
	}
	assert_int_equal(entries("deadbeef-"), 2);
	assert_int_equal(image_cache_find(id, sizeof(id), &f), 0);
	assert_false(f->img.flags & HVAR_IMAGE_STRIPPED);
	assert_int_not_equal(hvar_image_find(&f->img, DATA + 0x10), HVAR_IMAGE_NONE);
	image_file_free(f);
	assert_int_equal(image_cache_find(id, 3, &f), -ENOENT);
	assert_int_equal(image_cache_find((const uint8_t *)"1234", 4, &f), -ENOENT);
}

static void test_no_build_id(void **state)
{
	(void)state;
	write_elf(elf, "nameless", false, false);
	expect(elf, "nameless", false);
	expect(elf, "nameless", true);
	assert_int_equal(entries("no-"), 1);
	write_elf(elf, "changed!", false, false);
	expect(elf, "changed!", false);
}

/* Whatever is done to an entry, it is made anew and the answer is right. */
static void test_damaged(void **state)
{
	struct image_file *f;
	char path[4096];
	struct stat st;
	int fd;

	(void)state;
	expect(elf, "first", false);
	f = get(elf);
	snprintf(path, sizeof(path), "%s", f->path);
	image_file_free(f);
	assert_int_equal(stat(path, &st), 0);
	for (off_t n = 0; n < st.st_size; n += 64) {
		assert_int_equal(truncate(path, n), 0);
		expect(elf, "first", false);
	}
	for (off_t at = 0; at < st.st_size; at += 40) {
		fd = open(path, O_RDWR);
		assert_int_equal(pwrite(fd, "\xa5", 1, at), 1);
		close(fd);
		f = get(elf);
		assert_int_not_equal(hvar_image_find(&f->img, DATA), HVAR_IMAGE_NONE);
		image_file_free(f);
	}
	expect(elf, "first", true);
	/* what is no file in its place */
	unlink(path);
	assert_int_equal(symlink("/etc/passwd", path), 0);
	expect(elf, "first", false);
	expect(elf, "first", true);
	unlink(path);
	assert_int_equal(mkfifo(path, 0600), 0);
	expect(elf, "first", false);
	expect(elf, "first", true);
}

/* The seal of the entry at @path, and its mtime into *@st. */
static void read_seal(const char *path, uint64_t seal[2], struct stat *st)
{
	int fd = open(path, O_RDONLY);

	assert_int_equal(pread(fd, seal, 16, offsetof(struct hvar_image_header, seal)), 16);
	assert_int_equal(fstat(fd, st), 0);
	close(fd);
}

/* Change @n bytes in the entry as if nobody had. */
static void change_unseen(const char *path, const void *bytes, size_t n, off_t at, const struct stat *st)
{
	const struct timespec times[2] = { st->st_mtim, st->st_mtim };
	int fd = open(path, O_RDWR);

	assert_int_equal(pwrite(fd, bytes, n, at), n);
	assert_int_equal(futimens(fd, times), 0);
	close(fd);
}

/* What was checked since the boot is not checked again; what was not, is. */
static void test_sealed(void **state)
{
	const off_t at = offsetof(struct hvar_image_header, seal);
	const uint64_t none[2] = { 0, 0 };
	uint64_t first[2], seal[2];
	struct image_file *f;
	char path[4096];
	struct stat st;

	(void)state;
	expect(elf, "first", false);
	f = get(elf);
	snprintf(path, sizeof(path), "%s", f->path);
	image_file_free(f);
	read_seal(path, first, &st);
	assert_true(first[0] && first[1] == (uint64_t)st.st_mtim.tv_sec * 1000000000u + (uint64_t)st.st_mtim.tv_nsec);
	/* without a seal, and with one of another boot: checked, and sealed again */
	for (uint64_t boot = 0; boot < 2; boot++) {
		seal[0] = boot ? first[0] ^ 1 : 0;
		seal[1] = boot ? first[1] : 0;
		change_unseen(path, seal, sizeof(seal), at, &st);
		expect(elf, "first", true);
		read_seal(path, seal, &st);
		assert_memory_equal(seal, first, sizeof(seal));
	}
	/* a crash has left a hole in it: with no mtime to tell, but before this boot */
	change_unseen(path, none, sizeof(none), at, &st);
	change_unseen(path, "\0\0\0\0\0\0\0\0", 8, st.st_size - 100, &st);
	change_unseen(path, "\1", 1, st.st_size - 100, &st);
	expect(elf, "first", false);
	expect(elf, "first", true);
	/* a later change tells by the mtime */
	read_seal(path, seal, &st);
	st.st_mtim.tv_sec++;
	change_unseen(path, "\xa5", 1, st.st_size - 100, &st);
	expect(elf, "first", false);
}

static void replace(const char *path, int i)
{
	char rubbish[4200];
	FILE *f;

	snprintf(rubbish, sizeof(rubbish), "%s.rubbish%d", path, i);
	f = fopen(rubbish, "w");
	if (!f || fputs("hvarimg\nrubbish", f) < 0 || fclose(f) || rename(rubbish, path))
		_exit(2);
}

static void test_writers(void **state)
{
	enum { WRITERS = 8 };
	int status;

	(void)state;
	for (int i = 0; i < WRITERS; i++) {
		pid_t pid = fork();

		assert_true(pid >= 0);
		if (pid)
			continue;
		for (int k = 0; k < 40; k++) {
			struct image_file *f = NULL;
			int fd = open(elf, O_RDONLY);

			if (image_cache_get(fd, elf, &f, NULL) ||
			    hvar_image_find(&f->img, DATA) == HVAR_IMAGE_NONE)
				_exit(1);
			/* now and then it is gone again, or replaced by rubbish */
			if (*f->path && k % 4 == i % 4)
				unlink(f->path);
			else if (*f->path && k % 4 == (i + 1) % 4)
				replace(f->path, i);
			image_file_free(f);
			close(fd);
		}
		_exit(0);
	}
	for (int i = 0; i < WRITERS; i++) {
		assert_true(wait(&status) > 0);
		assert_int_equal(status, 0);
	}
	assert_int_equal(entries("."), 0);
	image_file_free(get(elf));
	expect(elf, "first", true);
}

/* A writer that was killed leaves its temporary file; the next one, later, sweeps it. */
static void test_swept(void **state)
{
	char path[160];

	(void)state;
	expect(elf, "first", false);
	sh("rm -f '%s'/*.img", cache);
	snprintf(path, sizeof(path), "%s/.tmp-1-dead-0", cache);
	sh("echo half > '%s' && touch -d '2 hours ago' '%s'", path, path);
	sh("echo young > '%s/.tmp-2-young-0'", cache);
	cache_dir_forget();
	expect(elf, "first", false);
	assert_int_equal(access(path, F_OK), -1);
	assert_int_equal(entries("."), 1);
}

/* ---- folders that will not do: the answer is right, and the reason is said ---- */

static void unkept(const char *word)
{
	cache_dir_forget();
	expect(elf, "first", false);
	cache_dir_forget();
	expect(elf, "first", false);
	assert_non_null(image_cache_why());
	if (!strstr(image_cache_why(), word))
		fail_msg("no '%s' in: %s", word, image_cache_why());
}

static void test_no_folder(void **state)
{
	(void)state;
	unsetenv("HOME");
	unkept("neither HOME nor XDG_CACHE_HOME names a folder: export XDG_CACHE_HOME=DIR");
	assert_null(image_cache_dir());
	setenv("XDG_CACHE_HOME", "relative", 1); /* to be ignored */
	unkept("neither HOME nor XDG_CACHE_HOME");
	unsetenv("XDG_CACHE_HOME");
	sh("rm -rf '%s'", home);
	setenv("HOME", home, 1); /* which is not there, and stays so */
	unkept("does not exist: export XDG_CACHE_HOME=DIR");
	assert_int_not_equal(access(home, F_OK), 0);
	sh("mkdir '%s'", home);
	cache_dir_forget();
	assert_string_equal(image_cache_dir(), cache);
	setenv("XDG_CACHE_HOME", "/proc/1/nothing", 1);
	unkept("/proc/1/nothing/hotvar");
}

static void test_folder_not_ours(void **state)
{
	(void)state;
	sh("mkdir -p '%s' && chmod 777 '%s'", cache, cache);
	unkept("chmod 700");
	sh("rmdir '%s' && ln -s /tmp '%s'", cache, cache);
	unkept("symbolic link");
	sh("rm '%s' && echo x > '%s'", cache, cache);
	unkept("no folder");
	sh("rm '%s'", cache);
	if (geteuid()) {
		print_message("not root: folders of another user are not tried\n");
		return;
	}
	sh("mkdir '%s' && chown 65534 '%s'", cache, cache);
	unkept("belongs to user 65534");
	/* sudo keeps HOME: nothing of root's is left in there */
	sh("rm -rf '%s/.cache' && chown 65534 '%s'", home, home);
	unkept("belongs to user 65534");
	assert_int_equal(access(cache, F_OK), -1);
	sh("test -z \"$(ls -A '%s')\"", home);
}

static void test_read_only(void **state)
{
	(void)state;
	if (geteuid()) {
		expect(elf, "first", false);
		sh("rm '%s'/* && chmod 500 '%s'", cache, cache);
		unkept("writable");
		sh("chmod 700 '%s'", cache);
		return;
	}
	sh("mkdir -p -m 700 '%s'", cache);
	if (mount("tmpfs", cache, "tmpfs", 0, "size=64k,mode=700") ||
	    mount(NULL, cache, NULL, MS_REMOUNT | MS_RDONLY, "size=64k,mode=700")) {
		print_message("no right to mount: a read-only folder is not tried\n");
		return;
	}
	unkept("Read-only");
	cache_dir_forget();
	assert_int_equal(umount(cache), 0);
}

static void test_full(void **state)
{
	struct rlimit was, small = { 100, RLIM_INFINITY };

	(void)state;
	/* a limit on the size of files, which would also kill */
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &was), 0);
	small.rlim_max = was.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	cache_dir_forget();
	expect(elf, "first", false);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &was), 0);
	assert_non_null(strstr(image_cache_why(), "File too large"));
	assert_int_equal(entries(""), 0);
	assert_int_equal(entries("."), 0);
	cache_dir_forget();
	expect(elf, "first", false);
	expect(elf, "first", true);
	sh("rm '%s'/*", cache);
	if (geteuid() || mount("tmpfs", cache, "tmpfs", 0, "size=4k,mode=700")) {
		print_message("no right to mount: a full disk is not tried\n");
		return;
	}
	sh("head -c 4096 /dev/zero > '%s/fill'", cache);
	unkept("No space left");
	assert_int_equal(entries("deadbeef"), 0);
	assert_int_equal(entries("."), 0);
	cache_dir_forget();
	assert_int_equal(umount(cache), 0);
}

static void test_of_mem(void **state)
{
	struct image_file *f = get(elf), *g = NULL;
	struct err e = { 0, "" };
	size_t n = f->size;
	void *copy = malloc(n);

	(void)state;
	memcpy(copy, f->data, n);
	assert_int_equal(image_file_of_mem(copy, n, &g, &e), 0);
	assert_int_not_equal(hvar_image_find(&g->img, DATA), HVAR_IMAGE_NONE);
	image_file_free(g);
	copy = malloc(n);
	memcpy(copy, f->data, n);
	((uint8_t *)copy)[n - 1] ^= 1;
	assert_int_equal(image_file_of_mem(copy, n, &g, &e), -EINVAL); /* it frees copy */
	assert_true(*e.text);
	image_file_free(f);
	image_file_free(NULL);
}

static int group_setup(void **state)
{
	(void)state;
	/* mounts of a test that is killed must not stay */
	if (!geteuid() && !unshare(CLONE_NEWNS))
		mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL);
	return mkdtemp(top) ? 0 : -1;
}

static int group_teardown(void **state)
{
	(void)state;
	cache_dir_forget();
	sh("rm -rf '%s'", top);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_kept, setup),
		cmocka_unit_test_setup(test_changed, setup),
		cmocka_unit_test_setup(test_stripped, setup),
		cmocka_unit_test_setup(test_no_build_id, setup),
		cmocka_unit_test_setup(test_sealed, setup),
		cmocka_unit_test_setup(test_damaged, setup),
		cmocka_unit_test_setup(test_writers, setup),
		cmocka_unit_test_setup(test_swept, setup),
		cmocka_unit_test_setup(test_no_folder, setup),
		cmocka_unit_test_setup(test_folder_not_ours, setup),
		cmocka_unit_test_setup(test_read_only, setup),
		cmocka_unit_test_setup(test_full, setup),
		cmocka_unit_test_setup(test_of_mem, setup),
	};

	return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
