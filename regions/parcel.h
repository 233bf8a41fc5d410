/* SPDX-License-Identifier: MIT
 *
 * The records of a rank, copied, one behind the other: what ranks send, and what the
 * report of a job is made of where they share no directory.
 */
#ifndef CACHEPEEK_REGIONS_PARCEL_H
#define CACHEPEEK_REGIONS_PARCEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

/* Among the ranks of its host. */
enum cp_host_place {
	CP_HOST_BY_NAME, /* the first that is added of a host */
	CP_HOST_FIRST,
	CP_HOST_LATER,
	CP_HOST_UNKNOWN,
};

/* No rank's are larger: four copies of them fit into the memory of a node. */
#define CP_PARCEL_MOST ((uint64_t)4 << 30)

struct cp_parcel {
	uint64_t size; /* with this header */
	int32_t rank;
	uint32_t place; /* enum cp_host_place */
};

struct cp_record_bytes {
	const void *at; /* aligned to 8 */
	uint64_t size;
};

/* In arena, whose out_of_memory is set. */
const struct cp_parcel *cp_parcel_pack(struct cp_arena *arena,
	const struct cp_record_bytes *records, size_t count, int32_t rank,
	enum cp_host_place place);

#define CP_PARCEL_ERROR 256

/* The same for the records of these paths: what cannot be read is left out, with one line
 * in error.  NULL: none can. */
const struct cp_parcel *cp_parcel_read(struct cp_arena *arena, const char *const *paths,
	size_t count, int32_t rank, enum cp_host_place place,
	char error[CP_PARCEL_ERROR]);

/* The record that begins at *at, sizeof(*parcel) for the first; false: there is none, or
 * the parcel is damaged. */
bool cp_parcel_next(
	const struct cp_parcel *parcel, uint64_t *at, struct cp_record_bytes *record);

#endif
