/* SPDX-License-Identifier: MIT
 *
 * JSON documents that users name, and members of their objects, which may be missing.
 */
#ifndef CACHEPEEK_TOOLS_SHARED_JSON_FILE_H
#define CACHEPEEK_TOOLS_SHARED_JSON_FILE_H

#include <jansson.h>
#include <stdint.h>

#include "base/arena.h"

/* Closes fd.  Read by blocks: json_loadfd makes a system call for each byte.  NULL: it is
 * no JSON, which fault tells, or there is no memory. */
json_t *cp_json_read(int fd, json_error_t *fault);

/* NULL: fault has the reason; its line is -1 where the file cannot be read. */
json_t *cp_json_file(const char *path, json_error_t *fault);

/* The member's text; "" if it is none. */
const char *cp_json_word(const json_t *object, const char *key);

/* A copy of it that can be shown. */
const char *cp_json_shown(struct cp_arena *arena, const json_t *object, const char *key);

/* A whole number; 0 if it is none, or less. */
uint64_t cp_json_count(const json_t *object, const char *key);

#endif
