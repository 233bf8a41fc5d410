/* SPDX-License-Identifier: MIT */
#ifndef CACHEPEEK_TOOLS_ANNOTATE_H
#define CACHEPEEK_TOOLS_ANNOTATE_H

#include "base/out.h"
#include "tools/profile/model/rows.h"

/* Is wanted this path, or the last parts of it? */
bool cp_annotate_is_named(const char *path, const char *wanted);

/* The row of the file (of CP_ROW_FILE) that has this path, or a path that ends so.
 * NULL with one line in error. */
const struct cp_row *cp_annotate_find(const struct cp_profile_view *view,
	const struct cp_rows *files, const char *wanted, char *error, size_t error_size);

/* Its lines; if it is not where the debugging information says, as `named`. */
typedef void cp_annotate_writer(struct cp_out *out, const struct cp_profile_view *view,
	struct cp_rows *files, const struct cp_row *file, const char *named);
cp_annotate_writer cp_annotate_write;
cp_annotate_writer cp_annotate_write_html;

#endif
