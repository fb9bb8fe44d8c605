/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * comms.h - what processes are called, by number.
 */
#ifndef COMMS_H
#define COMMS_H

#include <stddef.h>
#include <stdint.h>

struct comms {
	struct comm *v; /* by pid: open addressing */
	size_t n, cap;
};

/* Without memory for it the name is not known. */
void comms_set(struct comms *c, uint32_t pid, const char comm[16]);

/* "" if not known. */
void comms_get(const struct comms *c, uint32_t pid, char comm[16]);

void comms_fini(struct comms *c);

#endif /* COMMS_H */
