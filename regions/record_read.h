/* SPDX-License-Identifier: MIT
 *
 * Reading run records (regions/record.h): of processes that live or are dead,
 * of any origin, truncated or damaged.  What is handed out has been checked:
 * an item lies wholly inside the record, its texts end where they say, and
 * what it refers to is looked up by the functions below, which return NULL for
 * anything that is not there.
 *
 * A record is read into memory rather than mapped, so that a file which shrinks
 * or changes while it is looked at cannot hurt.
 */
#ifndef CACHEPEEK_REGIONS_RECORD_READ_H
#define CACHEPEEK_REGIONS_RECORD_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "regions/record.h"
#include "regions/series.h"

struct cp_record {
	const struct cp_record_header *header;
	/* In index order, header->ncounters and header->nquantities of them. */
	const struct cp_counter_item **counters;
	const struct cp_quantity_item **quantities;
	/* In the order of the file. */
	size_t nmetas, nthreads, nregions;
	const struct cp_meta_item **metas;
	const struct cp_thread_item **threads;
	const struct cp_region_item **regions;
	size_t nmachines;
	const struct cp_machine_item **machines;
	const struct cp_series_item *series; /* NULL: none */
	const struct cp_mpi_item *mpi;       /* the same */
	bool damaged; /* something was not as it should be; it was left out */
	const char *bytes;
	size_t size;
};

/*
 * Reads the record `name` (a path, relative to the directory dirfd) into arena.
 * Regions that a live writer is changing are read again until they are whole.
 * Returns 0; or -errno, -EPROTO for what is no record of this version, with
 * one line in error.  Needs arena->out_of_memory.
 */
int cp_record_read(struct cp_arena *arena, int dirfd, const char *name,
	struct cp_record *record, char *error, size_t error_size);

/* The same for bytes in memory, aligned to 8, that outlive the record. */
int cp_record_parse(struct cp_arena *arena, const void *bytes, size_t size,
	struct cp_record *record, char *error, size_t error_size);

/* The item that begins at offset; NULL if there is none of that type. */
const struct cp_region_item *cp_record_region(
	const struct cp_record *record, uint64_t offset);
/* How much a region takes there, without struct cp_folded. */
uint64_t cp_record_region_size(const struct cp_record_header *header);

const struct cp_thread_item *cp_record_thread(
	const struct cp_record *record, uint64_t offset);
const struct cp_string_item *cp_record_string(
	const struct cp_record *record, uint64_t offset);

/* Is the record, of this name, one that `sum` has taken last? */
bool cp_record_has_folded(
	const struct cp_record *sum, const char *name, const struct cp_record *record);

/* The value of the first meta item of that key (length in *length unless
 * NULL; a NUL follows); NULL if there is none. */
const char *cp_record_meta(
	const struct cp_record *record, const char *key, size_t *length);

static inline bool cp_meta_is(const struct cp_meta_item *meta, const char *key)
{
	return __builtin_strcmp(meta->text, key) == 0;
}

static inline const char *cp_meta_value(const struct cp_meta_item *meta)
{
	return meta->text + meta->key_length + 1;
}

/* Offset of an item of this record. */
static inline uint64_t cp_item_offset(const struct cp_record *record, const void *item)
{
	return (uint64_t)((const char *)item - record->bytes);
}

/* Has the tool written that one since the root region began? */
static inline bool cp_thread_is_written(const struct cp_record_header *header,
	const struct cp_thread_item *thread, uint32_t m)
{
	uint64_t mirror = cp_thread_mirror(thread, m), base = cp_thread_base(thread, m);

	return mirror >= base || (mirror && header->flags & CP_RECORD_CORRECTED);
}

#endif
