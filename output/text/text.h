/* SPDX-License-Identifier: MIT
 *
 * The text report for people: one screen with the answer, or all that is known.
 * See output/text/text_regions.c for the tables of regions.
 */
#ifndef CACHEPEEK_OUTPUT_TEXT_TEXT_H
#define CACHEPEEK_OUTPUT_TEXT_TEXT_H

#include "base/out.h"
#include "output/report/report.h"

struct cp_text_options {
	size_t width;  /* columns; 0: 80 */
	size_t height; /* lines of the screen; 0: none, tables have their costliest rows
			*/
	bool colour;   /* terminal escapes */
	bool whole;    /* limits, volumes and what is not available, too */
};

/* Scratch memory comes from arena (out_of_memory set), which may be the
 * report's.  Flush and look at out->error afterwards. */
void cp_text_write(struct cp_out *out, struct cp_arena *arena,
	const struct cp_report *report, const struct cp_text_options *options);

#endif
