/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hvt_frame_wire.h - how counts of the stack lie in the counters' file (hvt_wire.h).
 *
 * Each frame reuses the addresses of those before it, so an address says nothing once its frame is gone.
 *
 *   points   A place in the code that accesses the stack at a constant distance from the stack or frame pointer has a
 *           counter of its own, one in each slot.
 *   frames  Each slot has the frames its thread is in now, from the first on, each with its CFA (the
 *           stack pointer before the call).  What is accessed through pointers is counted by
 *           address like any memory, and
 *   owned   put to the frame's account when it ends: by a place in its function and the distance from its CFA.
 *
 * Behind HVT_TAKING follow the points and the owned counts, which all threads share, then a part for each slot.
 */
#ifndef HVT_FRAME_WIRE_H
#define HVT_FRAME_WIRE_H

#include "hvt_wire.h"

#define HVT_POINTS_MAX	 (1u << 20)
#define HVT_OWNED_MAX	 (1u << 17)
#define HVT_ACTIVE_MAX	 (1u << 20)

#define HVT_POINTS	 HVT_STACKS			   /* struct hvt_points, struct hvt_point ... */
#define HVT_OWNED	 (HVT_STACKS + ((uint64_t)1 << 26)) /* struct hvt_owned ... */
#define HVT_STACK(slot)	 (HVT_STACKS + ((uint64_t)1 << 27) + (slot) * HVT_STACK_SIZE)
#define HVT_STACK_HEAD	 ((uint64_t)1 << 23) /* in a slot's part: struct hvt_pair of each point come first */
#define HVT_FRAME_FIRST	 ((uint64_t)1 << 25) /* likewise: struct hvt_frame ... */

enum hvt_point_flags {
	HVT_POINT_FP = 1,     /* the offset is from the frame pointer; else from the stack pointer */
	HVT_POINT_CALL = 2,   /* a call puts the address to return to there */
	HVT_POINT_RETURN = 4, /* a return takes it */
	HVT_POINT_OWNED = 8,  /* the offset is from the frame's CFA; the place is anywhere in its function */
	HVT_POINT_CFA = 16,  /* the offset is from the frame's CFA, the place is the instruction's */
	HVT_POINT_FLAGS = 31,
};

/* One place in the code; the offset is from what the register holds when the instruction begins. */
struct hvt_point {
	uint64_t ip;   /* 0: the code is gone */
	int32_t offset;
	uint16_t size; /* of the access */
	uint8_t flags; /* enum hvt_point_flags */
	uint8_t len;   /* of the instruction */
};

struct hvt_points {
	uint32_t n;    /* points, and number 0, which is none */
	uint32_t zero[3];
};

/* One place in a frame, by any place in its function. */
struct hvt_owned {
	uint64_t ip;   /* 0: free */
	int32_t offset;
	uint32_t slot;
	uint64_t reads, writes;
};

struct hvt_stack_head {
	uint64_t top;	 /* of its last frame, in bytes from HVT_FRAME_FIRST; goes round after HVT_ACTIVE_MAX */
	uint64_t lo, hi; /* the thread's stack, below where it was when the thread began */
	uint64_t slot;
};

/* One frame: from its CFA down to the next one's.  The first is none, and has the CFA ~0. */
struct hvt_frame {
	uint64_t cfa;
	uint64_t id;  /* of the function that has made a pointer into the frame: where it begins; 0: there is none */
	uint64_t ip;  /* where it has done so first */
	uint64_t low; /* below this no pointer of the frame's leads; ~0: there is none */
};

/* Counts of a point, or of a place in a frame: what a HVT_STACK_COUNTS message has. */
struct hvt_stack_count {
	uint64_t ip;
	int32_t offset;
	uint16_t size;
	uint8_t flags, len;
	uint64_t reads, writes;
};

#define HVT_STACK_COUNTS_MAX 512 /* in one message */

#endif /* HVT_FRAME_WIRE_H */
