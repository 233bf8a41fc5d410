/* SPDX-License-Identifier: MIT
 *
 * The CSV report: one row per value, each with its provenance, for tools that
 * read tables.  One record is one line; the columns are in output/csv.c.
 */
#ifndef CACHEPEEK_OUTPUT_CSV_H
#define CACHEPEEK_OUTPUT_CSV_H

#include "base/out.h"
#include "output/report/report.h"

/* Writes a line of headings and the values: of the whole run (scope "run"), of
 * each process from its first instruction ("process"), and of each thread
 * ("thread").  Counts are integers; a value that is not there is empty, and the
 * reason says why.  Flush and look at out->error afterwards. */
void cp_csv_write(struct cp_out *out, const struct cp_report *report);

/*
 * One cell: quoted where it has to be.  Control characters and bytes that are
 * not UTF-8 are written as \n, \t, \r, \xNN, a backslash as two, and those of
 * also with a backslash before them.  A cell that a spreadsheet would take for
 * a formula (=, +, -, @) gets an apostrophe in front.
 */
void cp_csv_text(struct cp_out *out, const char *text, size_t length);

#endif
