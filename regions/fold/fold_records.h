/* SPDX-License-Identifier: MIT
 *
 * Records of processes that have ended become one, so that a run directory does not
 * grow with the number of its processes.
 */
#ifndef CACHEPEEK_REGIONS_FOLD_FOLD_RECORDS_H
#define CACHEPEEK_REGIONS_FOLD_FOLD_RECORDS_H

#include <stdbool.h>
#include <stdint.h>

/* So many records of single processes stay. */
#define CP_FOLD_FROM 200

/*
 * Folds what has ended where there are more records than CP_FOLD_FROM, unless
 * somebody else is at it.  Returns the bytes that the directory holds then; -errno.
 * Takes its memory from mmap, and 100 KiB of stack.
 */
int64_t cp_records_fold(const char *directory);

/* A process is not recorded because the directory is full: the report says so. */
void cp_records_refuse(const char *directory);

#endif
