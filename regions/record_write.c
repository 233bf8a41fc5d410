/* SPDX-License-Identifier: MIT */
#include "regions/record_write.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/syscall.h"
#include "base/fd.h"
#include "base/format.h"
#include "base/map.h"
#include "base/space.h"

#define TOUCHED_AHEAD 9 /* pages */
#define FIRST_CHUNK ((uint64_t)16 << 10)
#define LARGEST_CHUNK ((uint64_t)1 << 20)
#define MAX_IMAGES 10000

static uint64_t round_up(uint64_t size, uint64_t to)
{
	return (size + to - 1) / to * to;
}

/* Small at first, since most processes record little; then each chunk is as large
 * as all before it, so that few mappings make a large record. */
static uint64_t next_chunk(const struct cp_recording *record)
{
	uint64_t page = getauxval(AT_PAGESZ);
	uint64_t first = page > FIRST_CHUNK ? page : FIRST_CHUNK;

	if (record->mapped < first)
		return first;
	return record->mapped < LARGEST_CHUNK ? record->mapped : LARGEST_CHUNK;
}

static int map_chunk(struct cp_recording *record, int fd, uint64_t size)
{
	struct cp_record_chunk *chunk = &record->chunks[record->nchunks];
	long result = cp_space_reserve(fd, record->mapped, size);

	if (result < 0)
		return (int)result;
	chunk->base = cp_map(size, fd, (off_t)record->mapped);
	if (!chunk->base)
		return -errno;
	chunk->offset = record->mapped;
	chunk->size = size;
	record->mapped += size;
	__atomic_store_n(&record->nchunks, record->nchunks + 1, __ATOMIC_RELEASE);
	return 0;
}

static int open_again(const struct cp_recording *record)
{
	char path[512];
	int fd;

	cp_format(path, sizeof(path), "%s/%d-%u.%s", record->directory,
		record->header->pid, record->header->image, record->ending);
	fd = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* Where the program may open few files, the record has no descriptor but now. */
static int add_chunk(struct cp_recording *record, uint64_t size)
{
	int result, fd = record->fd;

	if (record->nchunks == CP_RECORD_CHUNKS || record->sealed)
		return -ENOSPC;
	if (fd >= 0)
		return map_chunk(record, fd, size);
	fd = open_again(record);
	if (fd < 0)
		return fd;
	result = map_chunk(record, fd, size);
	cp_fd_close(fd);
	return result;
}

/* At least `need` bytes: less than usual where that is all the space there is.
 * Once there is not even a page, the file system is not asked again for each item. */
static bool grow_record(struct cp_recording *record, uint64_t need)
{
	uint64_t page = getauxval(AT_PAGESZ), size = next_chunk(record);
	int result;

	need = round_up(need, page);
	if (size < need)
		size = need;
	while (!record->full && (result = add_chunk(record, size)) < 0) {
		if (size == need || result == -EMFILE) {
			record->full = need == page && result != -EMFILE;
			return false;
		}
		size = round_up(size / 2, page);
		if (size < need)
			size = need;
	}
	return !record->full;
}

/* The path is left in `path`. */
static int open_new(char path[512], const char *directory, int pid, const char *ending,
	uint32_t *image)
{
	int fd;

	for (*image = 0; *image < MAX_IMAGES; ++*image) {
		if (cp_format(path, 512, "%s/%d-%u.%s", directory, pid, *image, ending) >=
			512)
			return -ENAMETOOLONG;
		fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
		if (fd >= 0)
			return fd;
		if (errno != EEXIST)
			return -errno;
	}
	return -EEXIST;
}

int cp_record_create_as(struct cp_recording *record, const char *directory, int pid,
	const char *ending, const char magic[8], uint32_t version)
{
	struct cp_record_header *header;
	char path[512];
	uint32_t image;
	int result;

	memset(record, 0, sizeof(*record));
	record->fd = open_new(path, directory, pid, ending, &image);
	if (record->fd < 0)
		return record->fd;
	record->directory = directory;
	record->ending = ending;
	result = add_chunk(record, next_chunk(record));
	if (result < 0 || cp_fd_keep(&record->fd) < 0) {
		cp_fd_close(record->fd);
		record->fd = -1;
	}
	if (result < 0) {
		unlink(path);
		return result;
	}
	header = (void *)record->chunks[0].base;
	header->version = version;
	header->header_size = CP_RECORD_HEADER_SIZE;
	header->pid = pid;
	header->image = image;
	header->tail = CP_RECORD_HEADER_SIZE;
	memcpy(header->magic, magic, sizeof(header->magic));
	/* Until we end, whatever way that is: fold_records.c asks. */
	if (cp_syscall(SYS_flock, record->fd, LOCK_EX | LOCK_NB) == 0)
		header->flags = CP_RECORD_HELD;
	record->header = header;
	return 0;
}

int cp_record_create(struct cp_recording *record, const char *directory, int pid)
{
	return cp_record_create_as(
		record, directory, pid, "rec", CP_RECORD_MAGIC, CP_RECORD_VERSION);
}

bool cp_record_is_removed(const struct cp_recording *record)
{
	struct stat file;

	return record->header && record->fd >= 0 && cp_fd_stat(record->fd, &file) == 0 &&
	       file.st_nlink == 0;
}

void cp_record_close(struct cp_recording *record)
{
	for (unsigned i = 0; i < record->nchunks; i++)
		munmap(record->chunks[i].base, record->chunks[i].size);
	record->nchunks = 0;
	record->header = NULL;
	cp_fd_drop(&record->fd);
}

/* Moved over the shared pages, which are what they were to everybody else. */
static int detach_chunk(const struct cp_record_chunk *chunk)
{
	void *copy = cp_map(chunk->size, -1, 0);

	if (!copy)
		return -errno;
	memcpy(copy, chunk->base, chunk->size);
	if (mremap(copy, chunk->size, chunk->size, MREMAP_MAYMOVE | MREMAP_FIXED,
		    chunk->base) == MAP_FAILED)
		return -errno;
	return 0;
}

int cp_record_detach(struct cp_recording *record)
{
	int result = 0;

	record->sealed = true;
	for (unsigned i = 0; i < record->nchunks && result == 0; i++)
		result = detach_chunk(&record->chunks[i]);
	return result;
}

/* The rest of a chunk that is too small for the next item. */
static void pad_out(struct cp_recording *record, char *at, uint64_t size)
{
	struct cp_item *pad = (void *)at;

	if (size == 0)
		return;
	pad->size = (uint32_t)size;
	cp_item_publish(pad, CP_ITEM_PAD);
	__atomic_store_n(
		&record->header->tail, record->header->tail + size, __ATOMIC_RELEASE);
}

/* The list for items of this size; NULL: there are too many sizes. */
static struct cp_record_free *unused_of(struct cp_recording *record, uint64_t size)
{
	for (unsigned i = 0; i < sizeof(record->unused) / sizeof(record->unused[0]);
		i++) {
		if (!record->unused[i].size)
			record->unused[i].size = (uint32_t)size;
		if (record->unused[i].size == size)
			return &record->unused[i];
	}
	return NULL;
}

/* Padding to readers until it is published again. */
static struct cp_item *reuse_locked(struct cp_recording *record, uint64_t size)
{
	for (unsigned i = 0; i < sizeof(record->unused) / sizeof(record->unused[0]);
		i++) {
		struct cp_item *item = record->unused[i].first;

		if (record->unused[i].size != size || !item)
			continue;
		record->unused[i].first = *(struct cp_item **)(item + 1);
		memset(item + 1, 0, size - sizeof(*item));
		return item;
	}
	return NULL;
}

void cp_record_recycle(struct cp_recording *record, void *memory)
{
	struct cp_item *item = memory;
	struct cp_record_free *list;

	if (!item)
		return;
	cp_item_publish(item, CP_ITEM_PAD);
	cp_lock(&record->lock);
	list = unused_of(record, item->size);
	if (list && item->size >= sizeof(*item) + sizeof(void *)) {
		*(struct cp_item **)(item + 1) = list->first;
		list->first = item;
	}
	cp_unlock(&record->lock);
}

static void *reserve_locked(struct cp_recording *record, uint64_t size)
{
	struct cp_record_chunk *chunk = &record->chunks[record->nchunks - 1];
	uint64_t used = record->header->tail - chunk->offset;
	struct cp_item *item;

	if (chunk->size - used < size) {
		if (!grow_record(record, size))
			return NULL;
		pad_out(record, chunk->base + used, chunk->size - used);
		chunk = &record->chunks[record->nchunks - 1];
		used = 0;
	}
	item = (void *)(chunk->base + used);
	item->size = (uint32_t)size;
	__atomic_store_n(
		&record->header->tail, record->header->tail + size, __ATOMIC_RELEASE);
	return item;
}

void *cp_record_reserve(struct cp_recording *record, uint64_t size)
{
	void *item = NULL;

	size = round_up(size, 8);
	if (!record->header || size > UINT32_MAX / 2)
		return NULL;
	cp_lock(&record->lock);
	item = reuse_locked(record, size);
	if (!item)
		item = reserve_locked(record, size);
	cp_unlock(&record->lock);
	return item;
}

void cp_record_touch_ahead(struct cp_recording *record)
{
	struct cp_record_chunk *chunk;
	uint64_t at, page = 4096;

	if (!record->header || !record->nchunks)
		return;
	cp_lock(&record->lock);
	chunk = &record->chunks[record->nchunks - 1];
	at = record->header->tail - chunk->offset;
	for (unsigned i = 0; i < TOUCHED_AHEAD && at < chunk->size; i++, at += page)
		__atomic_fetch_or((uint32_t *)(void *)(chunk->base + (at & ~(page - 1))),
			0, __ATOMIC_RELAXED);
	cp_unlock(&record->lock);
}

void cp_item_publish(void *item, uint32_t type)
{
	__atomic_store_n(&((struct cp_item *)item)->type, type, __ATOMIC_RELEASE);
}

uint64_t cp_record_offset(struct cp_recording *record, const void *item)
{
	const char *at = item;
	unsigned nchunks = __atomic_load_n(&record->nchunks, __ATOMIC_ACQUIRE);

	for (unsigned i = 0; item && i < nchunks; i++) {
		const struct cp_record_chunk *chunk = &record->chunks[i];

		if (at >= chunk->base && at < chunk->base + chunk->size)
			return chunk->offset + (uint64_t)(at - chunk->base);
	}
	return 0;
}

void cp_record_not_recorded(struct cp_recording *record, enum cp_unrecorded kind)
{
	if (record->header)
		__atomic_fetch_add(
			&record->header->unrecorded[kind], 1, __ATOMIC_RELAXED);
}

/* Reserves an item that is counted as lost here; callers count regions and threads. */
static void *reserve_note(struct cp_recording *record, uint64_t size)
{
	void *item = cp_record_reserve(record, size);

	if (!item)
		cp_record_not_recorded(record, CP_UNRECORDED_NOTE);
	return item;
}

uint64_t cp_record_put_string(
	struct cp_recording *record, const char *text, size_t length)
{
	struct cp_string_item *item =
		cp_record_reserve(record, sizeof(struct cp_string_item) + length + 1);

	if (!item)
		return 0;
	item->length = (uint32_t)length;
	memcpy(item->text, text, length);
	cp_item_publish(item, CP_ITEM_STRING);
	return cp_record_offset(record, item);
}

void *cp_record_put_meta(
	struct cp_recording *record, const char *key, const char *value, size_t length)
{
	size_t key_length = strlen(key);
	struct cp_meta_item *item = reserve_note(
		record, sizeof(struct cp_meta_item) + key_length + 1 + length + 1);

	if (!item)
		return NULL;
	item->key_length = (uint32_t)key_length;
	item->length = (uint32_t)length;
	memcpy(item->text, key, key_length);
	memcpy(item->text + key_length + 1, value, length);
	cp_item_publish(item, CP_ITEM_META);
	return item;
}
