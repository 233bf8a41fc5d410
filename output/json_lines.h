/* SPDX-License-Identifier: MIT
 *
 * The lines of a JSON report: members on lines of their own, indented.  Their
 * values follow, in the line ("inline") or in a scope of lines.
 */
#ifndef CACHEPEEK_OUTPUT_JSON_LINES_H
#define CACHEPEEK_OUTPUT_JSON_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/out.h"
#include "output/report/report.h"

/* A JSON string of any length bytes, in quotes; it can stand in a page's script:
 * </ and <! do not occur. */
void cp_json_string(struct cp_out *out, const char *text, size_t length);
void cp_json_quoted(struct cp_out *out, const char *text);
/* "NAME": "TEXT" */
void cp_json_pair(struct cp_out *out, const char *name, const char *text);
/* The same behind another one. */
void cp_json_next(struct cp_out *out, const char *name, const char *text);
/* And of a number, where 0 is not known, or none. */
void cp_json_next_count(struct cp_out *out, const char *name, uint64_t value);
/* A piece of one, without the quotes. */
void cp_json_characters(struct cp_out *out, const char *text, size_t length);

/* A region's path, ["solve", "halo"]. */
void cp_json_path(struct cp_out *out, const struct cp_region *region);

/* [{"title": "served by", "text": …}, …] */
struct cp_answer;
void cp_json_answer(struct cp_out *out, const struct cp_answer *answer);

/* Where in the document we are: indentation, and whether a comma is due. */
struct cp_json {
	struct cp_out *out;
	const struct cp_report *report;
	int depth;
	bool comma;
	bool flat;  /* in a row, which is a line without spaces */
	bool page;  /* regions are tables (json_table.h) */
	bool brief; /* values leave out what is usual (json_values.h) */
};

/* Begins a line (flat: goes on); and one of a member, whose value follows. */
void cp_json_indent(struct cp_json *json);
void cp_json_key(struct cp_json *json, const char *name);

/* Values; a text may be NULL: null.  Numbers are exact if they are integers, and
 * else have 10 digits, more than any counter's noise allows. */
void cp_json_put(struct cp_json *json, const char *text);
void cp_json_value(struct cp_json *json, double value);

/* Whole members. */
void cp_json_text(struct cp_json *json, const char *name, const char *text);
void cp_json_integer(struct cp_json *json, const char *name, uint64_t value);
void cp_json_list(
	struct cp_json *json, const char *name, const char *const *texts, size_t count);

/* Within a line {"NAME": or , "NAME": whose value follows; the names are our own words.
 */
void cp_json_first(struct cp_json *json, const char *name);
void cp_json_member(struct cp_json *json, const char *name);

/* , "NAME": VALUE within a line */
void cp_json_inline_number(struct cp_json *json, const char *name, double value);
void cp_json_inline_text(struct cp_json *json, const char *name, const char *text);
/* Less than 0: null. */
void cp_json_inline_known(struct cp_json *json, const char *name, double value);

/* The answers that the text report begins with (json_answers.c). */
void cp_json_answers(struct cp_json *json);

/* "{" or "[", and what closes it. */
void cp_json_open(struct cp_json *json, const char *bracket);
void cp_json_close(struct cp_json *json, const char *bracket);

#endif
