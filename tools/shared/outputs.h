/* SPDX-License-Identifier: MIT
 *
 * Where what the command itself makes of several runs goes: text, JSON, CSV and pages.
 */
#ifndef CACHEPEEK_TOOLS_SHARED_OUTPUTS_H
#define CACHEPEEK_TOOLS_SHARED_OUTPUTS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/out.h"
#include "tools/shared/output.h"

struct cp_document {
	const void *of; /* handed to the three */
	void (*text)(const void *of, struct cp_out *out, bool colour);
	void (*csv)(const void *of, struct cp_out *out);
	json_t *(*json)(const void *of);
	const char *page; /* of output/html, around that JSON */
};

/* Can it be written into them? false after saying why not; command: who says so. */
bool cp_outputs_check(const char *command, const struct cp_output_list *outputs);

/* Into all of them; otherwise: where none was asked for.  0, or 1 after messages. */
int cp_outputs_write(const struct cp_output_list *outputs, const char *otherwise,
	const struct cp_document *document);

#endif
