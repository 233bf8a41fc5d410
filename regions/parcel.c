/* SPDX-License-Identifier: MIT */
#include "regions/parcel.h"

#include <fcntl.h>
#include <string.h>

#include "base/format.h"
#include "regions/record_read.h"

static uint64_t padded(uint64_t size)
{
	return (size + 7) / 8 * 8;
}

const struct cp_parcel *cp_parcel_pack(struct cp_arena *arena,
	const struct cp_record_bytes *records, size_t count, int32_t rank,
	enum cp_host_place place)
{
	uint64_t size = sizeof(struct cp_parcel);
	struct cp_parcel *parcel;
	char *to;

	for (size_t i = 0; i < count; i++)
		size += sizeof(uint64_t) + padded(records[i].size);
	parcel = cp_arena_alloc(arena, size);
	*parcel = (struct cp_parcel){size, rank, place};
	to = (char *)(parcel + 1);
	for (size_t i = 0; i < count; i++) {
		memcpy(to, &records[i].size, sizeof(uint64_t));
		memcpy(to + sizeof(uint64_t), records[i].at, records[i].size);
		to += sizeof(uint64_t) + padded(records[i].size);
	}
	return parcel;
}

const struct cp_parcel *cp_parcel_read(struct cp_arena *arena, const char *const *paths,
	size_t count, int32_t rank, enum cp_host_place place, char error[CP_PARCEL_ERROR])
{
	struct cp_record_bytes *records =
		cp_arena_alloc(arena, (count + 1) * sizeof(*records));
	struct cp_record record;
	size_t nrecords = 0;

	cp_format(error, CP_PARCEL_ERROR, "no records");
	for (size_t i = 0; i < count; i++)
		if (cp_record_read(arena, AT_FDCWD, paths[i], &record, error,
			    CP_PARCEL_ERROR) == 0)
			records[nrecords++] =
				(struct cp_record_bytes){record.bytes, record.size};
	return nrecords ? cp_parcel_pack(arena, records, nrecords, rank, place) : NULL;
}

bool cp_parcel_next(
	const struct cp_parcel *parcel, uint64_t *at, struct cp_record_bytes *record)
{
	const char *from = (const char *)parcel + *at;
	uint64_t left = parcel->size - *at;

	if (left < sizeof(uint64_t))
		return false;
	memcpy(&record->size, from, sizeof(uint64_t));
	left -= sizeof(uint64_t);
	if (record->size > left || padded(record->size) > left)
		return false;
	record->at = from + sizeof(uint64_t);
	*at += sizeof(uint64_t) + padded(record->size);
	return true;
}
