// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * stop_group CMD [ARG...] - runs CMD, which runs "tree spin", as a shell runs a job, and does to
 * both what ^Z, fg and a signal do.  Says what it saw; exit status 0 if each thing came about.
 */
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* The states of the tasks of @pid, "RRS", in @out; how many. */
static int states(pid_t pid, char out[16])
{
	char path[128];
	struct dirent *d;
	DIR *dir;
	int n = 0;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	dir = opendir(path);
	while (dir && n < 15 && (d = readdir(dir))) {
		FILE *f;

		snprintf(path, sizeof(path), "/proc/%d/task/%.16s/stat", (int)pid, d->d_name);
		f = d->d_name[0] != '.' ? fopen(path, "r") : NULL;
		if (f && fscanf(f, "%*d (%*[^)]) %c", &out[n]) == 1)
			n++;
		if (f)
			fclose(f);
	}
	if (dir)
		closedir(dir);
	out[n] = '\0';
	return n;
}

static pid_t child_of(pid_t parent)
{
	DIR *dir = opendir("/proc");
	struct dirent *d;
	pid_t found = 0;

	while (dir && !found && (d = readdir(dir))) {
		char path[128];
		int ppid = 0;
		FILE *f;

		snprintf(path, sizeof(path), "/proc/%.16s/stat", d->d_name);
		f = atoi(d->d_name) > 0 ? fopen(path, "r") : NULL;
		if (f && fscanf(f, "%*d (%*[^)]) %*c %d", &ppid) == 1 && ppid == parent)
			found = atoi(d->d_name);
		if (f)
			fclose(f);
	}
	if (dir)
		closedir(dir);
	return found;
}

/* Wait until the tree of @job has three tasks, all stopped or some running. */
static int wait_for(pid_t job, int stopped)
{
	int i;

	for (i = 0; i < 1000; i++) {
		char now[16];
		pid_t pid = child_of(job);
		int n = pid ? states(pid, now) : 0;

		if (n == 3 && stopped == (strspn(now, "tT") == 3))
			return 1;
		usleep(10000);
	}
	return 0;
}

static int say(const char *what, int ok)
{
	printf("%s%s\n", ok ? "" : "not ", what);
	fflush(stdout);
	return !ok;
}

int main(int argc, char **argv)
{
	int status = 0, bad = 0;
	pid_t job = argc > 1 ? fork() : -1;

	if (job < 0)
		return 2;
	if (!job) {
		setpgid(0, 0);
		execvp(argv[1], argv + 1);
		_exit(127);
	}
	setpgid(job, job);
	bad += say("running", wait_for(job, 0));
	kill(-job, SIGTSTP);
	waitpid(job, &status, WUNTRACED);
	bad += say("the shell sees it stopped by ^Z",
		   WIFSTOPPED(status) && WSTOPSIG(status) == SIGTSTP);
	bad += say("all threads of the program are stopped", wait_for(job, 1));
	kill(-job, SIGCONT);
	bad += say("continued, they run", wait_for(job, 0));
	kill(-job, SIGTSTP);
	waitpid(job, &status, WUNTRACED);
	bad += say("and stop again", WIFSTOPPED(status) && wait_for(job, 1));
	kill(-job, SIGTERM);
	kill(-job, SIGCONT);
	waitpid(job, &status, 0);
	bad += say("the status is that of the signal", WIFEXITED(status) && WEXITSTATUS(status) == 128 + SIGTERM);
	return bad != 0;
}
