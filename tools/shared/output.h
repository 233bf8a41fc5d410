/* SPDX-License-Identifier: MIT
 *
 * One file, or standard stream, that a command of ours writes.
 */
#ifndef CACHEPEEK_TOOLS_SHARED_OUTPUT_H
#define CACHEPEEK_TOOLS_SHARED_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/files/new_file.h"
#include "base/out.h"
#include "output/endings.h"

struct cp_output {
	const char *name;
	struct cp_out out;
	struct cp_new_file file;
};

/* All that -o names: several times, or with commas between. */
#define CP_MOST_OUTPUTS 16
struct cp_output_list {
	size_t count;
	const char *name[CP_MOST_OUTPUTS]; /* NULL, once: none was named */
};

/* false after saying why. */
bool cp_output_add(struct cp_output_list *list, const char *names);

/* Has each an ending that picks one of these formats (none: an option picks it), and can
 * each be written, as far as that can be told without making it? false after saying why
 * not; command: who says so. */
bool cp_output_check_all(const char *command, const struct cp_output_list *list,
	struct cp_endings formats);

/* Writes a document into an output that is open: in the format of that row. */
typedef void cp_output_writer(struct cp_output *output, int format, const void *document);

/* Writes it into all of them; 0, or 1 after messages. */
int cp_output_write_all(const struct cp_output_list *list, struct cp_endings formats,
	cp_output_writer *write, const void *document);

/* "-" or "-.json": standard output; NULL or "stderr": standard error; else a file, whose
 * directories are made.  Returns false after saying why it cannot be written. */
bool cp_output_open(struct cp_output *output, const char *name);

/* Is it a standard stream, but for JSON's? */
bool cp_output_is_stream(const struct cp_output *output);

/* Writes what is left and puts the file in its place.  Returns the exit status,
 * after saying what is wrong. */
int cp_output_close(struct cp_output *output);

/* Leaves the file that is open, if any, as it was: after an escape. */
void cp_output_abandon(void);

/* Whether that file could be written; says why not. */
bool cp_output_check(const char *name);

#endif
