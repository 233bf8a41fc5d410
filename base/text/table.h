/* SPDX-License-Identifier: MIT
 *
 * Tables of text, as wide as they need to be and no wider than asked for: the
 * first column gives way.
 */
#ifndef CACHEPEEK_BASE_TEXT_TABLE_H
#define CACHEPEEK_BASE_TEXT_TABLE_H

#include <stdarg.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/out.h"
#include "base/text/words.h"

#define CP_TABLE_HEADING_LINES 5

struct cp_table {
	struct cp_arena *arena;
	size_t ncolumns, nrows;
	const char **cells; /* [row][column], NULL: empty */
	const char *(
		*headings)[CP_TABLE_HEADING_LINES]; /* bottom line first, NULL: none */
	const char **marks;                         /* behind each row, NULL: none */
	size_t left; /* this many leading columns are aligned to the left */
};

struct cp_table *cp_table_new(struct cp_arena *arena, size_t ncolumns, size_t nrows);

/* Texts must outlive the table. */
void cp_table_set(struct cp_table *table, size_t row, size_t column, const char *text);

/* The words of heading, one above the other, over a line with the unit. */
void cp_table_heading(
	struct cp_table *table, size_t column, const char *heading, const char *unit);

/* Columns of a terminal that this column needs, without the gap before it. */
size_t cp_table_column_width(const struct cp_table *table, size_t column);

/* The width of all columns and gaps when no column is cut. */
size_t cp_table_width(const struct cp_table *table);

void cp_table_print(
	const struct cp_table *table, struct cp_out *out, size_t width, bool colour);

/* Number formats; results live in arena. */
/* 12345678 -> "12,345,678" */
const char *cp_text_integer(struct cp_arena *arena, uint64_t value);
/* Two decimals below 10, one below 1000, none from there, with separators;
 * a value that would round to 0 but is not is "<0.01". */
const char *cp_text_decimal(struct cp_arena *arena, double value);
/* Three digits and a prefix: 12345678 -> "12.3 M". */
const char *cp_text_short(struct cp_arena *arena, double value);
/* Three digits and a unit: 0.0123 -> "12.3 ms". */
const char *cp_text_seconds(struct cp_arena *arena, double value);
/* Whole, however long it is: what has to be short is cut by cp_text_cut. */
__attribute__((format(printf, 2, 3))) const char *cp_text_format(
	struct cp_arena *arena, const char *format, ...);
const char *cp_text_vformat(struct cp_arena *arena, const char *format, va_list args);
/* "A, B": an item more of a list, which begins as "". */
const char *cp_text_listed(struct cp_arena *arena, const char *list, const char *item);
/* "A B": a command line, safe to be shown. */
const char *cp_text_words(struct cp_arena *arena, const char *const *words, size_t n);

/* The lines above a table that answer a question: a label and a text each. */
#define CP_ANSWER_MAX_LINES 16
struct cp_answer {
	size_t count;
	struct cp_answer_line {
		const char *label, *text;
	} line[CP_ANSWER_MAX_LINES];
};

/* Texts must outlive the answer; lines beyond the last are dropped. */
void cp_answer_add(struct cp_answer *answer, const char *label, const char *text);

/* At most so many columns of text; what does not fit is cut in the middle: names differ
 * at their ends, too. */
const char *cp_text_cut(struct cp_arena *arena, const char *text, size_t width);

/* The most columns of a command line above a report: three lines of 80. */
#define CP_COMMAND_COLUMNS 240

/* A copy in which control characters and bytes that are not UTF-8 are spelled
 * \n, \t or \xNN, so that no name can drive the terminal. */
const char *cp_text_safe(struct cp_arena *arena, struct cp_slice text);

/* Writes text wrapped at blanks to width columns; further lines are indented.
 * at: the column where the first line already is. */
void cp_text_wrap(
	struct cp_out *out, const char *text, size_t at, size_t indent, size_t width);

#endif
