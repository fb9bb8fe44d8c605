// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "turns.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "target.h"

enum {
	MOST_THREADS = 64, /* asked of a process */
	LONG_SLICE_NS = 2000000,
	ASK_AGAIN = 8, /* rounds */
};

uint64_t turns_slice_ns(pid_t pid)
{
	unsigned long long all_ns = 0, all_slices = 0;
	char path[300];
	struct dirent *d;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	dir = opendir(path);
	if (!dir)
		return 0;
	for (int n = 0; n < MOST_THREADS && (d = readdir(dir));) {
		unsigned long long ran_ns, waited_ns, slices;
		FILE *f;

		if (d->d_name[0] == '.')
			continue;
		n++;
		snprintf(path, sizeof(path), "/proc/%d/task/%s/schedstat", (int)pid, d->d_name);
		f = fopen(path, "re");
		if (!f)
			continue;
		if (fscanf(f, "%llu %llu %llu", &ran_ns, &waited_ns, &slices) == 3) {
			all_ns += ran_ns;
			all_slices += slices;
		}
		fclose(f);
	}
	closedir(dir);
	return all_slices ? all_ns / all_slices : 0;
}

int turns_open(pid_t pid, pid_t tid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/schedstat", (int)pid, (int)tid);
	return open(path, O_RDONLY | O_CLOEXEC);
}

/* "run_ns waited_ns slices" */
bool turns_begun_by(int fd, uint64_t *out)
{
	char text[96], *last;
	ssize_t n = pread(fd, text, sizeof(text) - 1, 0);

	if (n <= 0)
		return false;
	text[n] = '\0';
	last = strrchr(text, ' ');
	*out = last ? strtoull(last, NULL, 10) : 0;
	return *out;
}

bool turns_begun(pid_t pid, pid_t tid, uint64_t *out)
{
	int fd = turns_open(pid, tid);
	bool got = fd >= 0 && turns_begun_by(fd, out);

	if (fd >= 0)
		close(fd);
	return got;
}

bool turns_are_counted(void)
{
	int fd = open("/proc/self/schedstat", O_RDONLY | O_CLOEXEC);
	bool no = fd < 0 && errno == ENOENT;
	uint64_t n;

	if (fd >= 0) {
		no = !turns_begun_by(fd, &n);
		close(fd);
	}
	return !no;
}

bool turns_alone(pid_t pid)
{
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	if (stat(path, &st))
		return false;
	/* Itself, its parent, one thread; and a first one that has ended before. */
	return st.st_nlink == 3 || (st.st_nlink == 4 && target_state(pid) == 'Z');
}

void turns_cost_saw(struct turns_cost *t, pid_t pid)
{
	t->first_pid = t->first_pid ? t->first_pid : pid;
	t->many_processes |= pid != t->first_pid;
}

bool turns_cost_is_low(struct turns_cost *t, pid_t pid, uint64_t round)
{
	if (t->asked_pid == pid && round < t->asked_round + ASK_AGAIN)
		return t->is_low;
	t->asked_pid = pid;
	t->asked_round = round;
	t->is_low = (!t->many_processes && turns_alone(pid)) || turns_slice_ns(pid) >= LONG_SLICE_NS;
	return t->is_low;
}
