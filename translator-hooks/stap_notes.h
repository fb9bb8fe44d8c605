/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stap_notes.h - lines for the user that end nothing: kept in order until they are printed.
 */
#ifndef STAP_NOTES_H
#define STAP_NOTES_H

#include <stddef.h>

enum stap_note_kind {
	STAP_NOTE_FAULT,   /* something will not work: said always */
	STAP_NOTE_CHANGE,  /* what was changed on the way: not with -w */
	STAP_NOTE_DETAIL,  /* with -v */
};

struct stap_note {
	enum stap_note_kind kind;
	char *text;
};

/* All zero at first. */
struct stap_notes {
	struct stap_note *v;
	size_t n, cap;
};

/* printf-like.  The same text is kept once.  Without memory it is lost. */
void stap_notes_add(struct stap_notes *n, enum stap_note_kind kind, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void stap_notes_fini(struct stap_notes *n);

#endif /* STAP_NOTES_H */
