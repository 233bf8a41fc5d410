/* SPDX-License-Identifier: MIT
 *
 * A sum of records as it is written: in two rounds, of which the first finds how large it
 * is, and where in it everything will be.
 */
#ifndef CACHEPEEK_REGIONS_FOLD_FOLD_FILE_H
#define CACHEPEEK_REGIONS_FOLD_FOLD_FILE_H

#include <stddef.h>
#include <stdint.h>

struct cp_fold_file {
	char *bytes; /* NULL: its size is asked for */
	uint64_t size;
};

/* Room for an item, whose header is there; NULL in the first round.  offset, unless NULL:
 * where it is, in both. */
void *cp_fold_put(
	struct cp_fold_file *file, uint32_t type, uint64_t size, uint64_t *offset);
void cp_fold_put_copy(struct cp_fold_file *file, const void *item);
void cp_fold_put_meta(
	struct cp_fold_file *file, const char *key, const void *value, size_t length);

/* A string item; returns where it is. */
uint64_t cp_fold_put_string(struct cp_fold_file *file, const char *text, size_t length);

#endif
