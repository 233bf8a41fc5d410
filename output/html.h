/* SPDX-License-Identifier: MIT
 *
 * HTML: pages that need no network and no other file.  A page (output/html/) is put
 * together when it is written, around the JSON report, which its script reads.
 */
#ifndef CACHEPEEK_OUTPUT_HTML_H
#define CACHEPEEK_OUTPUT_HTML_H

#include "base/out.h"

/* Writes what a page has of its own at @NAME@; in JSON, where `<` is escaped. */
typedef void cp_page_part(struct cp_out *out, const char *name, const void *data);

/* The page of that name, which must be one of output/html. */
void cp_page_write(
	struct cp_out *out, const char *name, cp_page_part *part, const void *data);

#endif
