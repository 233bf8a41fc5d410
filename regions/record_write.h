/* SPDX-License-Identifier: MIT
 *
 * The writing side of the run record (regions/record.h has the format).
 */
#ifndef CACHEPEEK_REGIONS_RECORD_WRITE_H
#define CACHEPEEK_REGIONS_RECORD_WRITE_H

#include <stddef.h>
#include <stdint.h>

#include "base/lock.h"
#include "regions/record.h"

#define CP_RECORD_CHUNKS 512

struct cp_recording {
	struct cp_record_header *header;
	struct cp_lock lock; /* innermost: nothing is called with it held */
	bool sealed;         /* it cannot grow any more */
	bool full;           /* nor can it, for lack of space or memory */
	int fd;              /* to grow with; -1: there is none to spare, see add_chunk */
	const char *directory, *ending; /* of its name, for as long as it grows */
	uint64_t mapped;                /* bytes of the file that are mapped */
	/* Items that were given back, by size; linked by the word behind the
	 * header.  Under the lock. */
	struct cp_record_free {
		uint32_t size;
		struct cp_item *first;
	} unused[4];
	struct cp_series *series; /* that its regions are in; NULL: there is none */
	unsigned nchunks;
	struct cp_record_chunk {
		char *base;
		uint64_t offset, size;
	} chunks[CP_RECORD_CHUNKS];
};

/* Creates DIRECTORY/PID-IMAGE.rec with the first IMAGE that is free, and its
 * header with magic, sizes, pid and image set.  directory must live as long as the
 * record does.  0 or -errno. */
int cp_record_create(struct cp_recording *record, const char *directory, int pid);

/* The same for another kind of file that is laid out like one: PID-IMAGE.ENDING. */
int cp_record_create_as(struct cp_recording *record, const char *directory, int pid,
	const char *ending, const char magic[8], uint32_t version);

/* Has somebody removed its file?  False if there is no descriptor to tell it by. */
bool cp_record_is_removed(const struct cp_recording *record);

/* Unmaps; the file stays. */
void cp_record_close(struct cp_recording *record);

/* In a fork child that may be writing to it: from now on what it writes goes
 * nowhere.  0 or -errno. */
int cp_record_detach(struct cp_recording *record);

/* Space for an item of `size` bytes (any size; rounded up), zeroed, type still
 * CP_ITEM_NONE: fill it and then cp_item_publish it.  NULL when the file cannot
 * grow.  Thread-safe. */
void *cp_record_reserve(struct cp_recording *record, uint64_t size);

/* Lets the kernel map the pages that the next items will be in: a page that is touched
 * first while a region of the program is open is a page fault of that region. */
void cp_record_touch_ahead(struct cp_recording *record);

/* Gives an item back, for a later one of exactly that size.  Whoever refers to
 * it must be gone.  NULL is fine.  Thread-safe. */
void cp_record_recycle(struct cp_recording *record, void *item);

void cp_item_publish(void *item, uint32_t type);

/* Something was not recorded: the report says how much. */
void cp_record_not_recorded(struct cp_recording *record, enum cp_unrecorded kind);

/* The file offset of an item that cp_record_reserve returned; 0 for NULL. */
uint64_t cp_record_offset(struct cp_recording *record, const void *item);

/* Convenience: publish a string or a meta item.  0 / nothing if out of space. */
uint64_t cp_record_put_string(
	struct cp_recording *record, const char *text, size_t length);
void *cp_record_put_meta(
	struct cp_recording *record, const char *key, const char *value, size_t length);

#endif
