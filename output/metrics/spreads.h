/* SPDX-License-Identifier: MIT
 *
 * How far predicted time may be off because the machine's figures are: each part of the
 * cycles (tools/sim/request.h) by the spread of what it hangs on, and all of them by that
 * of the clock.  What the model itself gets wrong is not in it.
 */
#ifndef CACHEPEEK_OUTPUT_METRICS_SPREADS_H
#define CACHEPEEK_OUTPUT_METRICS_SPREADS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/out.h"

enum cp_time_part {
	CP_PART_ISSUE,
	CP_PART_BRANCH,
	CP_PART_L2,
	CP_PART_L3,
	CP_PART_MEMORY,
	CP_PART_TLB,
	CP_PART_BANDWIDTH,
	CP_PART_STORE,
	CP_PART_CLOCK, /* no part of the cycles: it makes seconds of all of them */
	CP_NPARTS,
	/* Another cause of errors: the time of some instructions stands for that of
	 * others.
	 */
	CP_OF_SAMPLE = CP_NPARTS,
	CP_NCAUSES
};

#define CP_MOST_SPREAD 9999 /* percent */

/* known: of[] has a share of each part, 0.05 for 5 %.  Else why tells what lacks, and is
 * "" where no time is predicted. */
struct cp_spreads {
	bool known;
	double of[CP_NPARTS];
	char why[96];
};

/* The sum of which parts the quantity is: a bit for each.  0: it is none of theirs. */
unsigned cp_parts_of_quantity(const char *quantity);

/* "time_memory": the quantity that is that part of the cycles. */
const char *cp_part_quantity(enum cp_time_part part);

/* As records and jobs keep them, in whole percent; it fits into CP_SPREADS_TEXT bytes.
 * What cannot be read is not known. */
#define CP_SPREADS_TEXT 256
void cp_spreads_print(const struct cp_spreads *spreads, char *to, size_t size);
struct cp_spreads cp_spreads_read(const char *text);

/* The half-width of a value, which with_part[] says for figures that are off by their
 * spread: each is so for a reason of its own. */
double cp_spreads_error(double value, const double with_part[CP_NCAUSES]);

/* The counts that describe a sample of time (tools/sim/model/units.h), and the name of
 * each one's quantity. */
enum cp_time_sample {
	CP_TIMED_INSTRUCTIONS,
	CP_UNTIMED_INSTRUCTIONS,
	CP_TIME_VARIANCE,
	CP_MISS_TIME_VARIANCE,
	CP_NTIME_SAMPLE
};
const char *cp_time_sample_quantity(unsigned which);
bool cp_is_of_time_sample(const char *quantity);
/* Is it there for intervals to be computed of, and for nobody to see? */
bool cp_is_variance(const char *quantity);

/* ",\n  "spreads": {…}", if they are known. */
void cp_spreads_write_json(struct cp_out *out, const struct cp_spreads *spreads);

#endif
