/* SPDX-License-Identifier: MIT */
#ifndef CACHEPEEK_OUTPUT_CSV_H
#define CACHEPEEK_OUTPUT_CSV_H

#include "base/out.h"

/*
 * One cell of CSV: quoted where it has to be.  Control characters and bytes that are
 * not UTF-8 are written as \n, \t, \r, \xNN, a backslash as two, and those of
 * also with a backslash before them.  A cell that a spreadsheet would take for
 * a formula (=, +, -, @) gets an apostrophe in front.
 */
void cp_csv_text(struct cp_out *out, const char *text, size_t length);

#endif
