/* SPDX-License-Identifier: MIT
 *
 * A plan says what a run counts, as it was decided: names are resolved, and nothing has
 * to be looked up any more.  It is data: a fork child inherits it, and the next image
 * reads it from a file (preload/decide.h) instead of deciding again.
 */
#ifndef CACHEPEEK_BASE_COUNTERS_PLAN_H
#define CACHEPEEK_BASE_COUNTERS_PLAN_H

#include "base/arena.h"
#include "output/metrics/weights.h"
#include "base/machine/machine.h"
#include "base/counters/sample.h"
#include "base/counters/sweep.h"
#include "base/engine/engine.h"

struct cp_plan {
	struct cp_event_set set;
	struct cp_weights weights;
	/* The machines that are simulated; none if the hardware counts.  The report is
	 * about the first. */
	unsigned nmachines;
	struct cp_machine machine[CP_MAX_MACHINES];
	struct cp_sweep_plan sweep;   /* of the first machine; npoints 0: none */
	struct cp_sample_plan sample; /* of that machine; sets 0: all is simulated */
	unsigned window;              /* of working sets: instructions; 0: none */
	/* One behind the other, each with its kind in front of it and a NUL behind. */
	char *texts;
	size_t texts_size, texts_room;
};

enum cp_plan_text {
	CP_PLAN_GROUP = 'g', /* a group's, with the user's constants */
	CP_PLAN_SAID = 's',  /* what cannot be as asked: for the user, and the record */
	CP_PLAN_NOTED = 'n', /* for the record */
};

/* The first machine, or NULL. */
const struct cp_machine *cp_plan_machine(const struct cp_plan *plan);

void cp_plan_add_text(struct cp_plan *plan, struct cp_arena *arena,
	enum cp_plan_text kind, const char *text);

/* The next text of the kind; *at: 0 at first.  NULL: there is no other. */
const char *cp_plan_next_text(
	const struct cp_plan *plan, enum cp_plan_text kind, size_t *at);

/*
 * The plan as the content of a file, for libraries of this version, of the settings that
 * have this key.  0 or -errno; -EBADMSG: it is of something else, or damaged.  Writing
 * is async-signal-safe; reading takes memory for the texts.
 */
#define CP_PLAN_MOST ((uint64_t)8 << 20) /* bytes of the file */
int cp_plan_write(const struct cp_plan *plan, uint64_t key, int fd);
int cp_plan_read(struct cp_plan *plan, uint64_t key, int fd, struct cp_arena *arena);

#endif
