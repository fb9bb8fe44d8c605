// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "follow.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/user/clock.h"

struct follow {
	pthread_t thread;
	struct stream_reader *reader;
	struct analysis *a;
	struct stream *file;
	bool begun; /* there is more to record than what was asked for */
};

/* A failure to write is kept in the file's stream and told when that is closed. */
static void record(struct follow *f, const struct stream_record *r)
{
	struct analysis_need need;

	while (analysis_need(f->a, &need))
		stream_put(f->file, need.type, need.head, need.head_len, need.body, need.body_len);
	stream_put(f->file, r->type, r->data, r->len, NULL, 0);
	f->begun = f->begun || r->type != STREAM_META;
	if (f->begun && stream_drained(f->reader))
		stream_flush(f->file);
}

static void *follow(void *arg)
{
	struct follow *f = arg;
	struct stream_record r;
	struct stream_end end;

	while (stream_next(f->reader, &r) > 0) {
		if (r.type == STREAM_END) {
			/* What solving looks at belongs into the recording too. */
			if (f->file)
				analysis_solve(f->a);
			memcpy(&end, r.data, sizeof(end));
			end.own_cpu_ns += clock_own_cpu_ns();
			r.data = &end;
		}
		analysis_record(f->a, &r);
		if (f->file)
			record(f, &r);
	}
	return NULL;
}

struct follow *follow_start(struct stream *queue, struct analysis *a, struct stream *file,
			    struct err *e)
{
	struct follow *f = calloc(1, sizeof(*f));
	sigset_t all, was;
	int error = ENOMEM;

	if (f) {
		f->a = a;
		f->file = file;
		f->reader = stream_reader_of_queue(queue);
	}
	if (f && f->reader) {
		/* Signals are the engine's thread's. */
		sigfillset(&all);
		pthread_sigmask(SIG_SETMASK, &all, &was);
		error = pthread_create(&f->thread, NULL, follow, f);
		pthread_sigmask(SIG_SETMASK, &was, NULL);
		if (!error)
			return f;
		stream_reader_free(f->reader);
	}
	free(f);
	err_set(e, error, "cannot start the report's thread: %s: free some memory, or raise \"ulimit -u\"",
		strerror(error));
	return NULL;
}

void follow_join(struct follow *f)
{
	if (!f)
		return;
	pthread_join(f->thread, NULL);
	stream_reader_free(f->reader);
	free(f);
}
