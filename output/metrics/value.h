/* SPDX-License-Identifier: MIT
 *
 * A number and how much it may be trusted: the currency of the report.
 */
#ifndef CACHEPEEK_OUTPUT_METRICS_VALUE_H
#define CACHEPEEK_OUTPUT_METRICS_VALUE_H

/*
 * From best to worst; what is computed from several values has the worst
 * status among them.  "simulated" ranks below "scaled" because it is about a
 * model and not about this processor at all; "estimated" (no error bar can be
 * given) ranks below both; without one of its inputs nothing can be said.
 */
enum cp_status {
	CP_EXACT,       /* counted, all the time */
	CP_SCALED,      /* counted part of the time, extrapolated: see coverage */
	CP_SIMULATED,   /* counted by the simulated PMU */
	CP_ESTIMATED,   /* inferred */
	CP_UNAVAILABLE, /* there is no value: see reason */
};

struct cp_value {
	double value; /* finite; meaningless where status is CP_UNAVAILABLE */
	enum cp_status status;
	const char *reason; /* CP_UNAVAILABLE: why, one phrase; else NULL */
	const char *flag;   /* what a formula had to clamp, one phrase; else NULL */
};

/* The spelling of the JSON report: "exact", "scaled", … */
const char *cp_status_name(enum cp_status status);

static inline struct cp_value cp_unavailable(const char *reason)
{
	return (struct cp_value){.status = CP_UNAVAILABLE, .reason = reason};
}

#endif
