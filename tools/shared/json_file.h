/* SPDX-License-Identifier: MIT
 *
 * JSON documents that users name.
 */
#ifndef CACHEPEEK_TOOLS_SHARED_JSON_FILE_H
#define CACHEPEEK_TOOLS_SHARED_JSON_FILE_H

#include <jansson.h>

/* NULL: fault has the reason; its line is -1 where the file cannot be read. */
json_t *cp_json_file(const char *path, json_error_t *fault);

#endif
