/* SPDX-License-Identifier: MIT
 *
 * The program that writes the report of a program that ends: the library starts it
 * (preload/writer.h), and it has the run's directory and an order.
 */
#ifndef CACHEPEEK_TOOLS_REPORTER_REPORTER_H
#define CACHEPEEK_TOOLS_REPORTER_REPORTER_H

#include "output/sink.h"
#include "regions/jobdir.h"
#include "regions/order.h"
#include "regions/record.h"

struct cp_writing {
	const struct cp_order *order;
	struct cp_arena *arena; /* out_of_memory is set */
	struct cp_job_id job;
	unsigned number;  /* of the report, in the names of its files */
	char record[600]; /* the path of the process's own */
};

/* Writes the report to the outputs of that kind.  Returns how many could not be
 * written. */
int cp_write_outputs(const struct cp_writing *writing, const struct cp_report *report,
	enum cp_sink_kind kind);

/* Says why there is no report, and what makes one. */
void cp_write_none(const struct cp_writing *writing, const char *error);

/* The report of a rank and its children. */
void cp_write_own(const struct cp_writing *writing, enum cp_sink_kind kind);

/* Writes the report of all ranks, which have sent their records. */
enum cp_order_end cp_write_gathered(const struct cp_writing *writing);

/* At the end of a rank: all that its job has so far. */
void cp_write_job(const struct cp_writing *writing);

#endif
