// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * test_stap_images.c - files of a file system that answers for a while and then never again; a folder that two make.
 *
 * The file system is a process that speaks the kernel's FUSE protocol: it has one file, which is this program.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "testsuite/unit/temp_tree.h"
#include "translator-hooks/stap_images.h"
#include "translator-hooks/stap_targets.h"

static pid_t server;

static void answer(int fuse, uint64_t unique, int error, const void *data, size_t n)
{
	char out[sizeof(struct fuse_out_header) + 65536];
	struct fuse_out_header h = { .len = (uint32_t)(sizeof(h) + n), .error = -error, .unique = unique };

	memcpy(out, &h, sizeof(h));
	if (n)
		memcpy(out + sizeof(h), data, n);
	if (write(fuse, out, sizeof(h) + n) < 0 && errno != ENOENT)
		_exit(3);
}

static struct fuse_attr attributes(uint64_t node, uint64_t size)
{
	return (struct fuse_attr){ .ino = node, .size = size, .mode = node == 1 ? S_IFDIR | 0755 : S_IFREG | 0755, .nlink = 1 };
}

/* Answers requests on @fuse; of those to read the file, @reads. */
static void serve(int fuse, int reads)
{
	static char in[1 << 17], data[65536];
	int file = open("/proc/self/exe", O_RDONLY);
	struct stat st;

	if (file < 0 || fstat(file, &st))
		_exit(1);
	for (;;) {
		const struct fuse_in_header *h = (const void *)in;
		const void *body = h + 1;
		ssize_t n = read(fuse, in, sizeof(in));

		if (n < (ssize_t)sizeof(*h))
			_exit(0);
		switch (h->opcode) {
		case FUSE_INIT: {
			struct fuse_init_out out = { .major = 7, .minor = 31, .max_write = 4096 };

			answer(fuse, h->unique, 0, &out, sizeof(out));
			break;
		}
		case FUSE_LOOKUP: {
			struct fuse_entry_out out = { .nodeid = 2, .attr_valid = 100, .entry_valid = 100, .attr = attributes(2, (uint64_t)st.st_size) };

			answer(fuse, h->unique, 0, &out, sizeof(out));
			break;
		}
		case FUSE_GETATTR: {
			struct fuse_attr_out out = { .attr_valid = 100, .attr = attributes(h->nodeid, (uint64_t)st.st_size) };

			answer(fuse, h->unique, 0, &out, sizeof(out));
			break;
		}
		case FUSE_OPEN: {
			struct fuse_open_out out = { .open_flags = FOPEN_DIRECT_IO };

			answer(fuse, h->unique, 0, &out, sizeof(out));
			break;
		}
		case FUSE_READ: {
			const struct fuse_read_in *r = body;
			ssize_t got;

			if (!reads)
				break; /* the rest is silence */
			reads -= reads > 0;
			got = pread(file, data, r->size < sizeof(data) ? r->size : sizeof(data), (off_t)r->offset);
			answer(fuse, h->unique, got < 0 ? EIO : 0, data, got < 0 ? 0 : (size_t)got);
			break;
		}
		case FUSE_FORGET:
		case FUSE_BATCH_FORGET:
		case FUSE_INTERRUPT:
			break;
		case FUSE_FLUSH:
		case FUSE_RELEASE:
			answer(fuse, h->unique, 0, NULL, 0);
			break;
		default:
			answer(fuse, h->unique, ENOSYS, NULL, 0);
			break;
		}
	}
}

/* A file of such a file system, open; the test is skipped where nothing can be mounted. */
static int begin_server(int reads)
{
	char options[100];
	int fuse, fd;

	if (geteuid() || unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))
		skip();
	fuse = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	mkdir(at("fs"), 0755);
	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other", fuse);
	if (fuse < 0 || mount("test", at("fs"), "fuse", MS_NOSUID | MS_NODEV, options))
		skip();
	server = fork();
	assert_true(server >= 0);
	if (!server)
		serve(fuse, reads);
	close(fuse);
	fd = open(at("fs/file"), O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	return fd;
}

static void end_server(int fd)
{
	kill(server, SIGKILL);
	assert_int_equal(waitpid(server, NULL, 0), server);
	close(fd);
	/* what could not be killed ends now */
	while (waitpid(-1, NULL, 0) > 0)
		;
	assert_int_equal(umount2(at("fs"), MNT_DETACH), 0);
}

static int get(int reads, struct stap_images *im, struct err *e)
{
	int fd = begin_server(reads), r;

	mkdir(at("images"), 0755);
	assert_int_equal(stap_images_open(im, at("images"), e), 0);
	im->patience_ms = 300;
	r = stap_images_put(im, fd, "file", -1, e);
	end_server(fd);
	stap_images_close(im);
	return r;
}

static void answers(void **state)
{
	struct stap_images im;
	struct err e = { 0, "" };

	(void)state;
	assert_int_equal(get(-1, &im, &e), 1);
	/* it is there */
	assert_int_equal(rmdir(at("images")), -1);
	assert_int_equal(errno, ENOTEMPTY);
}

/* Not even its head; and later, when there has been a build-id. */
static void never_answers(void **state)
{
	static const int reads[] = { 0, 1, 9 };

	(void)state;
	for (size_t i = 0; i < sizeof(reads) / sizeof(reads[0]); i++) {
		struct stap_images im;
		struct err e = { 0, "" };
		char command[300];

		snprintf(command, sizeof(command), "rm -rf '%s'", at("images"));
		assert_int_equal(system(command), 0);
		assert_int_equal(get(reads[i], &im, &e), -ETIMEDOUT);
		assert_non_null(strstr(e.text, "no image of 'file': it has not let itself be read"));
		/* nothing is in the folder */
		assert_int_equal(rmdir(at("images")), 0);
	}
}

/* What a process maps is read by nobody who can be kept waiting for ever by it: not even to see whether it is a program. */
static int what_is_mapped(struct stap_targets *t, int fd)
{
	struct stap_mapped_set known = { 0 };
	void *p = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	int r;

	assert_ptr_not_equal(p, MAP_FAILED);
	r = stap_targets_maps(t, getpid(), &known, false);
	munmap(p, 4096);
	free(known.v);
	return r;
}

/* That it is no script is seen, and it is not asked for its libraries when it has not answered before. */
static int what_is_named(struct stap_targets *t, int fd)
{
	(void)fd;
	stap_targets_file(t, at("fs/file"), "test");
	return 0;
}

static void targets(int reads, int (*ask)(struct stap_targets *t, int fd))
{
	struct stap_notes notes = { 0 };
	struct stap_images im;
	struct stap_targets t;
	struct err e = { 0, "" };
	int fd = begin_server(reads), found = 0;

	mkdir(at("images"), 0755);
	assert_int_equal(stap_images_open(&im, at("images"), &e), 0);
	im.patience_ms = 300;
	stap_targets_init(&t, &im, &notes);
	assert_int_equal(ask(&t, fd), 0);
	for (size_t i = 0; i < notes.n; i++)
		found += strstr(notes.v[i].text, "/fs/file': it has not let itself be read") != NULL;
	assert_int_equal(found, 1);
	end_server(fd);
	stap_targets_fini(&t);
	stap_notes_fini(&notes);
	stap_images_close(&im);
}

static void targets_never_answer(void **state)
{
	(void)state;
	targets(0, what_is_mapped);
	targets(1, what_is_named);
}

/* Two begin at once where the folder is not yet there: one makes it, both have it. */
static void made_at_once(void **state)
{
	(void)state;
	if (geteuid())
		skip();
	for (int round = 0; round < 100; round++) {
		int start[2], status;
		char c;

		rmdir(at("fresh"));
		assert_int_equal(pipe(start), 0);
		for (int i = 0; i < 2; i++) {
			struct stap_images im;
			struct err e = { 0, "" };

			if (fork())
				continue;
			close(start[1]);
			if (read(start[0], &c, 1))
				_exit(1);
			_exit(stap_images_open(&im, at("fresh"), &e) ? 2 : 0);
		}
		close(start[0]);
		close(start[1]);
		for (int i = 0; i < 2; i++) {
			assert_true(wait(&status) > 0);
			assert_int_equal(status, 0);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(made_at_once),
		cmocka_unit_test(answers),
		cmocka_unit_test(never_answers),
		cmocka_unit_test(targets_never_answer),
	};

	return cmocka_run_group_tests(tests, temp_begin, temp_end);
}
