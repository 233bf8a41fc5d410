/* SPDX-License-Identifier: MIT
 *
 * Where what the command itself makes of several runs goes: text, JSON, CSV and pages.
 */
#ifndef CACHEPEEK_TOOLS_SHARED_OUTPUTS_H
#define CACHEPEEK_TOOLS_SHARED_OUTPUTS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/out.h"

#define CP_MAX_OUTPUTS 16

struct cp_outputs {
	size_t count;
	const char *names[CP_MAX_OUTPUTS];
};

/* Adds a comma list of -, -.json, stderr, and files that end in .txt, .json,
 * .csv or .html.
 * false, after a message that names the command: it has something else. */
bool cp_outputs_add(struct cp_outputs *outputs, struct cp_arena *arena,
	const char *command, const char *list);

struct cp_document {
	const void *of; /* handed to the three */
	void (*text)(const void *of, struct cp_out *out, bool colour);
	void (*csv)(const void *of, struct cp_out *out);
	json_t *(*json)(const void *of);
	const char *page; /* of output/html, around that JSON */
};

/* Into all of them; otherwise: where none was asked for.  0, or 1 after messages. */
int cp_outputs_write(const struct cp_outputs *outputs, const char *otherwise,
	const struct cp_document *document);

#endif
