/* SPDX-License-Identifier: MIT */
#include "regions/record_read.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/search.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/format.h"
#include "base/files/trusted.h"

#define MAX_SIZE ((uint64_t)2 << 30)
#define PIECE ((size_t)1 << 20)
#define SETTLE_TRIES 100

static bool text_fits(const struct cp_item *item, const char *text, uint64_t length)
{
	uint64_t offset = (uint64_t)(text - (const char *)item);

	return offset <= item->size && length < item->size - offset &&
	       text[length] == '\0';
}

static bool string_is_sound(const struct cp_item *item)
{
	const struct cp_string_item *string = (const struct cp_string_item *)item;

	return item->size >= sizeof(*string) &&
	       text_fits(item, string->text, string->length);
}

static bool meta_is_sound(const struct cp_item *item)
{
	const struct cp_meta_item *meta = (const struct cp_meta_item *)item;

	return item->size >= sizeof(*meta) &&
	       text_fits(item, meta->text, meta->key_length) &&
	       text_fits(item, meta->text + meta->key_length + 1, meta->length);
}

static bool counter_is_sound(
	const struct cp_record_header *header, const struct cp_item *item)
{
	const struct cp_counter_item *counter = (const struct cp_counter_item *)item;

	return item->size > sizeof(*counter) &&
	       memchr(counter->name, '\0', item->size - sizeof(*counter)) &&
	       (header->engine == CP_ENGINE_SIM
			       ? counter->mirror < CP_MIRROR_SIZE + CP_SAMPLE_WORDS
			       : counter->perf_group < header->nperf_groups);
}

static bool quantity_is_sound(
	const struct cp_record_header *header, const struct cp_item *item)
{
	const struct cp_quantity_item *quantity = (const struct cp_quantity_item *)item;

	if (item->size < sizeof(*quantity) || quantity->nterms > 8 ||
		!text_fits(item, quantity->text, quantity->name_length) ||
		!text_fits(item, quantity->text + quantity->name_length + 1,
			quantity->reason_length))
		return false;
	for (uint32_t i = 0; i < quantity->nterms; i++)
		if (quantity->terms[i].counter >= header->ncounters ||
			(quantity->terms[i].sign != 1 && quantity->terms[i].sign != -1))
			return false;
	return true;
}

uint64_t cp_record_region_size(const struct cp_record_header *header)
{
	return cp_region_item_size(
		       header->ncounters, header->nquantities, header->nperf_groups) +
	       cp_rotated_size(
		       header->nrotated, header->ncounters, header->nperf_groups) +
	       cp_sampled_size(header->flags & CP_RECORD_SPARSE, header->nquantities);
}

/* The rows are the reader's to walk; their space is there. */
static bool series_is_sound(
	const struct cp_record_header *header, const struct cp_item *item)
{
	const struct cp_series_item *series = (const void *)item;

	return item->size >= sizeof(*series) && series->half <= 1 &&
	       series->used[series->half] <= CP_SERIES_BYTES / 2 &&
	       series->nblocks <= CP_SERIES_BLOCKS && series->interval_ns > 0 &&
	       series->block_words == header->ncounters + 2 * header->nperf_groups;
}

static bool machine_is_sound(const struct cp_item *item)
{
	const struct cp_machine_item *machine = (const struct cp_machine_item *)item;

	return item->size >= sizeof(*machine) &&
	       (machine->parts == 0 ||
		       (machine->parts == CP_SAMPLE_WORDS &&
			       item->size >= sizeof(*machine) +
						     CP_SAMPLE_WORDS * sizeof(uint64_t)));
}

static bool is_sound(const struct cp_record_header *header, const struct cp_item *item)
{
	switch (item->type) {
	case CP_ITEM_STRING:
		return string_is_sound(item);
	case CP_ITEM_META:
		return meta_is_sound(item);
	case CP_ITEM_COUNTER:
		return counter_is_sound(header, item);
	case CP_ITEM_QUANTITY:
		return quantity_is_sound(header, item);
	case CP_ITEM_THREAD:
		return item->size >= sizeof(struct cp_thread_item);
	case CP_ITEM_REGION:
		return item->size >= cp_record_region_size(header);
	case CP_ITEM_MACHINE:
		return machine_is_sound(item);
	case CP_ITEM_MPI:
		return item->size >= sizeof(struct cp_mpi_item);
	case CP_ITEM_SERIES:
		return series_is_sound(header, item);
	default:
		return true; /* of no interest, or of a later version */
	}
}

/* The item at offset, if one fits there. */
static const struct cp_item *item_at(const struct cp_record *record, uint64_t offset)
{
	const struct cp_item *item;

	if (offset < CP_RECORD_HEADER_SIZE || offset % 8 || offset > record->size ||
		record->size - offset < sizeof(*item))
		return NULL;
	item = (const struct cp_item *)(record->bytes + offset);
	if (item->size < sizeof(*item) || item->size % 8 ||
		item->size > record->size - offset)
		return NULL;
	return item;
}

static const struct cp_item *next_item(
	const struct cp_record *record, const struct cp_item *item)
{
	return item_at(record,
		item ? cp_item_offset(record, item) + item->size : CP_RECORD_HEADER_SIZE);
}

#define NTYPES (CP_ITEM_MPI + 1)

static void count_items(struct cp_record *record, size_t counts[NTYPES])
{
	for (const struct cp_item *item = next_item(record, NULL); item;
		item = next_item(record, item))
		if (item->type < NTYPES)
			counts[item->type]++;
}

static void file_item(struct cp_record *record, const struct cp_item *item,
	size_t *ncounters, size_t *nquantities)
{
	const struct cp_record_header *header = record->header;

	if (!is_sound(header, item)) {
		record->damaged = true;
		return;
	}
	if (item->type == CP_ITEM_META)
		record->metas[record->nmetas++] = (const struct cp_meta_item *)item;
	else if (item->type == CP_ITEM_THREAD)
		record->threads[record->nthreads++] = (const struct cp_thread_item *)item;
	else if (item->type == CP_ITEM_REGION)
		record->regions[record->nregions++] = (const struct cp_region_item *)item;
	else if (item->type == CP_ITEM_MACHINE)
		record->machines[record->nmachines++] =
			(const struct cp_machine_item *)item;
	else if (item->type == CP_ITEM_SERIES && !record->series)
		record->series = (const struct cp_series_item *)(const void *)item;
	else if (item->type == CP_ITEM_MPI && !record->mpi)
		record->mpi = (const struct cp_mpi_item *)(const void *)item;
	else if (item->type == CP_ITEM_COUNTER && *ncounters < header->ncounters)
		record->counters[(*ncounters)++] = (const struct cp_counter_item *)item;
	else if (item->type == CP_ITEM_QUANTITY && *nquantities < header->nquantities)
		record->quantities[(*nquantities)++] =
			(const struct cp_quantity_item *)item;
}

/* Fills the tables of record; false if it ends before its counters do. */
static bool file_items(struct cp_arena *arena, struct cp_record *record)
{
	size_t counts[NTYPES] = {0}, ncounters = 0, nquantities = 0;

	count_items(record, counts);
	record->metas =
		cp_arena_alloc(arena, counts[CP_ITEM_META] * sizeof(*record->metas));
	record->threads =
		cp_arena_alloc(arena, counts[CP_ITEM_THREAD] * sizeof(*record->threads));
	record->regions =
		cp_arena_alloc(arena, counts[CP_ITEM_REGION] * sizeof(*record->regions));
	record->machines = cp_arena_alloc(
		arena, counts[CP_ITEM_MACHINE] * sizeof(*record->machines));
	record->counters = cp_arena_alloc(arena, CP_MAX_READ * sizeof(*record->counters));
	record->quantities =
		cp_arena_alloc(arena, CP_MAX_QUANTITIES * sizeof(*record->quantities));
	for (const struct cp_item *item = next_item(record, NULL); item;
		item = next_item(record, item))
		file_item(record, item, &ncounters, &nquantities);
	return ncounters == record->header->ncounters &&
	       nquantities == record->header->nquantities;
}

/* Checks the header: an error message, or NULL. */
static const char *header_fault(const struct cp_record_header *header, size_t size)
{
	if (size < sizeof(header->magic) ||
		memcmp(header->magic, CP_RECORD_MAGIC, 8) != 0)
		return "not a run record of cachepeek: "
		       "those are the *.rec of a run's directory";
	if (size < CP_RECORD_HEADER_SIZE)
		return "a run record that is cut off: run the program again";
	if (header->version != CP_RECORD_VERSION ||
		header->header_size != CP_RECORD_HEADER_SIZE)
		return "a run record of another version: use the cachepeek that wrote it";
	if (header->ncounters > CP_MAX_READ || header->nquantities > CP_MAX_QUANTITIES ||
		header->nperf_groups > CP_MAX_PERF_GROUPS ||
		header->nrotated > header->nperf_groups ||
		header->sample_sets > CP_SAMPLE_GROUPS || header->engine > CP_ENGINE_SIM)
		return "a run record that is damaged: run the program again";
	return NULL;
}

int cp_record_parse(struct cp_arena *arena, const void *bytes, size_t size,
	struct cp_record *record, char *error, size_t error_size)
{
	const struct cp_record_header *header = bytes;
	const char *fault = header_fault(header, size);

	*record = (struct cp_record){.header = header, .bytes = bytes, .size = size};
	/* A live writer may have moved its tail since the bytes were read. */
	if (!fault && header->tail > size)
		record->damaged = header->how != CP_HOW_RUNNING;
	else if (!fault && header->tail >= CP_RECORD_HEADER_SIZE)
		record->size = header->tail;
	if (!fault && !file_items(arena, record))
		fault = "a run record that ends before counting began: "
			"run the program again";
	if (!fault)
		return 0;
	cp_format(error, error_size, "%s", fault);
	return -EPROTO;
}

static ssize_t read_at(int fd, char *to, size_t size, off_t offset)
{
	size_t done = 0;

	while (done < size) {
		ssize_t n = pread(fd, to + done, size - done, offset + (off_t)done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		done += (size_t)n;
	}
	return (ssize_t)done;
}

/* Reads a region again until it did not change meanwhile: see version. */
static void read_settled(
	int fd, struct cp_record *record, const struct cp_region_item *region)
{
	uint64_t offset = cp_item_offset(record, region);
	char *to = (char *)(uintptr_t)region + sizeof(struct cp_item);
	size_t size = cp_record_region_size(record->header) - sizeof(struct cp_item);
	uint32_t now;
	off_t version = (off_t)(offset + offsetof(struct cp_region_item, version));

	for (int i = 0; i < SETTLE_TRIES; i++) {
		if (read_at(fd, (char *)&now, sizeof(now), version) != sizeof(now) ||
			(now % 2 == 0 && now == region->version))
			return;
		read_at(fd, to, size, (off_t)(offset + sizeof(struct cp_item)));
	}
}

/* ---- what a writer had begun when it died is put back ---- */

/* The region that a range of a journal lies in; NULL: damage. */
static struct cp_region_item *region_of_range(
	const struct cp_record *record, const struct cp_journal_range *range)
{
	for (size_t i = 0; i < record->nregions; i++) {
		const struct cp_region_item *region = record->regions[i];
		uint64_t first = cp_item_offset(record, region),
			 inside = range->offset - first;

		if (range->offset >= first + offsetof(struct cp_region_item, flags) &&
			inside <= region->item.size &&
			range->size <= region->item.size - inside)
			return (struct cp_region_item *)(uintptr_t)region;
	}
	return NULL;
}

static bool is_torn(const struct cp_record *record, const struct cp_journal_item *journal)
{
	bool odd = false;
	uint64_t room = journal->item.size - sizeof(*journal);

	for (uint32_t i = 0; i < journal->nranges; i++) {
		const struct cp_journal_range *range = &journal->ranges[i];
		const struct cp_region_item *region = region_of_range(record, range);

		if (!region || range->size > room || range->size % 8 || range->offset % 8)
			return false;
		room -= range->size;
		odd |= region->version % 2;
	}
	return odd;
}

static void put_back(struct cp_record *record, const struct cp_journal_item *journal)
{
	const char *from = (const char *)journal->bytes;

	for (uint32_t i = 0; i < journal->nranges; i++) {
		const struct cp_journal_range *range = &journal->ranges[i];

		memcpy((char *)(uintptr_t)record->bytes + range->offset, from,
			range->size);
		from += range->size;
	}
}

static void undo_unfinished(struct cp_record *record)
{
	for (const struct cp_item *item = next_item(record, NULL); item;
		item = next_item(record, item)) {
		const struct cp_journal_item *journal =
			(const struct cp_journal_item *)item;

		if (item->type == CP_ITEM_JOURNAL && item->size >= sizeof(*journal) &&
			journal->active && journal->nranges <= CP_JOURNAL_RANGES &&
			is_torn(record, journal))
			put_back(record, journal);
	}
}

/* How many bytes are worth reading; -errno. */
static int64_t used_size(int fd)
{
	struct cp_record_header header = {.tail = 0};
	struct stat status;
	ssize_t n;
	int error = cp_fd_stat(fd, &status);

	if (error)
		return error;
	n = read_at(fd, (char *)&header, sizeof(header), 0);
	if (n < 0)
		return n;
	if ((uint64_t)n == sizeof(header) && header.tail >= CP_RECORD_HEADER_SIZE &&
		header.tail < (uint64_t)status.st_size)
		status.st_size = (off_t)header.tail;
	return (uint64_t)status.st_size > MAX_SIZE ? -EFBIG : status.st_size;
}

/* Reads up to size bytes, as far as there are items: behind the last one that is
 * complete nothing is understood, and a sparse file has nothing but zeros. */
static ssize_t read_items(int fd, char *bytes, size_t size)
{
	size_t done = 0, at = CP_RECORD_HEADER_SIZE;

	while (done < size) {
		size_t wanted = size - done < PIECE ? size - done : PIECE;
		ssize_t n = read_at(fd, bytes + done, wanted, (off_t)done);

		if (n < 0)
			return n;
		done += (size_t)n;
		while (at + sizeof(struct cp_item) <= done) {
			const struct cp_item *item = (const void *)(bytes + at);

			if (item->size < sizeof(*item) || item->size % 8)
				return (ssize_t)done;
			at += item->size;
		}
		if ((size_t)n < wanted)
			break;
	}
	return (ssize_t)done;
}

static int read_open(struct cp_arena *arena, int fd, struct cp_record *record,
	char *error, size_t error_size)
{
	int64_t size = used_size(fd);
	char *bytes;
	ssize_t n;
	int fault;

	if (size < 0)
		return (int)size;
	bytes = cp_arena_alloc(arena, (size_t)size);
	n = read_items(fd, bytes, (size_t)size);
	if (n < 0)
		return (int)n;
	fault = cp_record_parse(arena, bytes, (size_t)n, record, error, error_size);
	if (!fault && record->header->how == CP_HOW_RUNNING)
		for (size_t i = 0; i < record->nregions; i++)
			read_settled(fd, record, record->regions[i]);
	if (!fault)
		undo_unfinished(record);
	return fault;
}

/* Most paths were put together from what was found in a directory. */
int cp_record_read(struct cp_arena *arena, int dirfd, const char *name,
	struct cp_record *record, char *error, size_t error_size)
{
	char why[160] = "";
	int fd = cp_trusted_open(dirfd, name, CP_FOUND, UINT64_MAX, why,
		sizeof(why)); /* how much counts is in its header */
	int fault = fd < 0 ? fd : read_open(arena, fd, record, why, sizeof(why));

	if (fault)
		cp_format(error, error_size, "%s: %s", name,
			*why ? why : cp_error_text(fault));
	if (fd >= 0)
		cp_fd_close(fd);
	return fault;
}

/* The item at offset in a table that is sorted by offset. */
static const void *look_up(const struct cp_record *record, const void *const *table,
	size_t count, uint64_t offset)
{
	size_t i = CP_IN_FRONT(count, at, cp_item_offset(record, table[at]) < offset);

	return i < count && cp_item_offset(record, table[i]) == offset ? table[i] : NULL;
}

const struct cp_region_item *cp_record_region(
	const struct cp_record *record, uint64_t offset)
{
	return look_up(
		record, (const void *const *)record->regions, record->nregions, offset);
}

const struct cp_thread_item *cp_record_thread(
	const struct cp_record *record, uint64_t offset)
{
	return look_up(
		record, (const void *const *)record->threads, record->nthreads, offset);
}

const struct cp_string_item *cp_record_string(
	const struct cp_record *record, uint64_t offset)
{
	const struct cp_item *item = item_at(record, offset);

	if (!item || item->type != CP_ITEM_STRING || !string_is_sound(item))
		return NULL;
	return (const struct cp_string_item *)item;
}

const char *cp_record_meta(
	const struct cp_record *record, const char *key, size_t *length)
{
	for (size_t i = 0; i < record->nmetas; i++) {
		const struct cp_meta_item *meta = record->metas[i];

		if (!cp_meta_is(meta, key))
			continue;
		if (length)
			*length = meta->length;
		return cp_meta_value(meta);
	}
	return NULL;
}

bool cp_record_has_folded(
	const struct cp_record *sum, const char *name, const struct cp_record *record)
{
	char text[80];

	cp_format(text, sizeof(text), "%s %llu", name,
		(unsigned long long)record->header->realtime_ns);
	for (size_t i = 0; i < sum->nmetas; i++)
		if (cp_meta_is(sum->metas[i], "folding") &&
			strcmp(cp_meta_value(sum->metas[i]), text) == 0)
			return true;
	return false;
}
