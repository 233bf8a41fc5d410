/* SPDX-License-Identifier: MIT
 *
 * Run records made by hand, for the tests of what reads them.
 */
#ifndef CACHEPEEK_TESTS_UNIT_OUTPUT_RECORDS_H
#define CACHEPEEK_TESTS_UNIT_OUTPUT_RECORDS_H

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "regions/record.h"

#define MAKE_SIZE (1 << 18)

struct make {
	_Alignas(16) char bytes[MAKE_SIZE];
};

static inline struct cp_record_header *make_header(struct make *make)
{
	return (struct cp_record_header *)make->bytes;
}

static inline void *make_item(struct make *make, uint32_t type, size_t size)
{
	struct cp_record_header *header = make_header(make);
	struct cp_item *item = (struct cp_item *)(make->bytes + header->tail);

	size = (size + 7) / 8 * 8;
	if (header->tail + size > MAKE_SIZE)
		abort();
	memset(item, 0, size);
	item->type = type;
	item->size = (uint32_t)size;
	header->tail += size;
	return item;
}

static inline uint64_t make_offset(struct make *make, const void *item)
{
	return (uint64_t)((const char *)item - make->bytes);
}

static inline void make_begin(struct make *make, uint32_t engine, int32_t pid)
{
	struct cp_record_header *header = make_header(make);
	struct timespec now;

	memset(make, 0, sizeof(*make));
	clock_gettime(CLOCK_REALTIME, &now);
	memcpy(header->magic, CP_RECORD_MAGIC, 8);
	header->version = CP_RECORD_VERSION;
	header->header_size = CP_RECORD_HEADER_SIZE;
	header->engine = engine;
	header->pid = header->root_pid = pid;
	header->ppid = 1;
	header->rank = -1;
	header->how = CP_HOW_EXIT;
	header->tail = CP_RECORD_HEADER_SIZE;
	header->realtime_ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
	header->nperf_groups = engine == CP_ENGINE_PERF ? 2 : 0;
}

static inline void make_meta(
	struct make *make, const char *key, const char *value, size_t length)
{
	size_t key_length = strlen(key);
	struct cp_meta_item *meta =
		make_item(make, CP_ITEM_META, sizeof(*meta) + key_length + length + 2);

	meta->key_length = (uint32_t)key_length;
	meta->length = (uint32_t)length;
	memcpy(meta->text, key, key_length);
	memcpy(meta->text + key_length + 1, value, length);
}

static inline void make_text(struct make *make, const char *key, const char *value)
{
	make_meta(make, key, value, strlen(value));
}

static inline void make_counter(
	struct make *make, const char *name, uint32_t group, uint32_t mirror)
{
	struct cp_counter_item *counter =
		make_item(make, CP_ITEM_COUNTER, sizeof(*counter) + strlen(name) + 1);

	counter->perf_group = group;
	counter->mirror = mirror;
	strcpy(counter->name, name);
	make_header(make)->ncounters++;
}

/* terms: counter + 1, negative to subtract, 0 ends; reason NULL: available. */
static inline struct cp_quantity_item *make_quantity(
	struct make *make, const char *name, const char *reason, const int *terms)
{
	size_t reason_length = reason ? strlen(reason) : 0;
	struct cp_quantity_item *quantity = make_item(make, CP_ITEM_QUANTITY,
		sizeof(*quantity) + strlen(name) + reason_length + 2);

	quantity->available = !reason;
	quantity->name_length = (uint32_t)strlen(name);
	quantity->reason_length = (uint32_t)reason_length;
	strcpy(quantity->text, name);
	strcpy(quantity->text + strlen(name) + 1, reason ? reason : "");
	for (; terms && terms[quantity->nterms]; quantity->nterms++) {
		int term = terms[quantity->nterms];

		quantity->terms[quantity->nterms] =
			(struct cp_term){(uint32_t)(abs(term) - 1), term < 0 ? -1 : 1};
	}
	make_header(make)->nquantities++;
	return quantity;
}

static inline struct cp_thread_item *make_thread(
	struct make *make, int32_t tid, uint32_t state, const char *name)
{
	struct cp_thread_item *thread = make_item(make, CP_ITEM_THREAD, sizeof(*thread));

	thread->tid = tid;
	thread->state = state;
	strncpy(thread->name, name, sizeof(thread->name) - 1);
	return thread;
}

static inline uint64_t make_string(struct make *make, const char *text, size_t length)
{
	struct cp_string_item *string =
		make_item(make, CP_ITEM_STRING, sizeof(*string) + length + 1);

	string->length = (uint32_t)length;
	memcpy(string->text, text, length);
	return make_offset(make, string);
}

/* name NULL: the root of thread. */
static inline struct cp_region_item *make_region(struct make *make,
	struct cp_thread_item *thread, const struct cp_region_item *parent,
	const char *name, uint64_t calls)
{
	const struct cp_record_header *header = make_header(make);
	uint64_t text = name ? make_string(make, name, strlen(name)) : 0;
	struct cp_region_item *region = make_item(make, CP_ITEM_REGION,
		cp_region_item_size(
			header->ncounters, header->nquantities, header->nperf_groups));

	region->thread = make_offset(make, thread);
	region->parent = parent ? make_offset(make, parent) : 0;
	region->name = text;
	region->calls = calls;
	if (!name)
		thread->root = make_offset(make, region);
	for (uint32_t i = 0; i < header->nquantities; i++)
		cp_region_spreads(region, header->ncounters)[i].min = UINT64_MAX;
	return region;
}

static inline struct cp_sum *make_sum(struct cp_region_item *region, uint32_t counter)
{
	return &cp_region_sums(region)[counter];
}

static inline struct cp_times *make_times(
	struct make *make, struct cp_region_item *region, uint32_t group)
{
	const struct cp_record_header *header = make_header(make);

	return &cp_region_times(region, header->ncounters, header->nquantities)[group];
}

static inline void make_write(struct make *make, const char *directory, const char *name)
{
	char path[400];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	if (fd < 0 || write(fd, make->bytes, make_header(make)->tail) < 0)
		abort();
	close(fd);
}

#endif
