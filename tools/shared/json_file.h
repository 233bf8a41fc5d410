/* SPDX-License-Identifier: MIT
 *
 * JSON documents that users name.
 */
#ifndef CACHEPEEK_TOOLS_SHARED_JSON_FILE_H
#define CACHEPEEK_TOOLS_SHARED_JSON_FILE_H

#include <jansson.h>

/* Closes fd.  Read by blocks: json_loadfd makes a system call for each byte.  NULL: it is
 * no JSON, which fault tells, or there is no memory. */
json_t *cp_json_read(int fd, json_error_t *fault);

/* NULL: fault has the reason; its line is -1 where the file cannot be read. */
json_t *cp_json_file(const char *path, json_error_t *fault);

#endif
