/* SPDX-License-Identifier: MIT
 *
 * Finds whose memory is where: the process's mappings, threads' stacks and thread-local
 * variables.
 */
#include <link.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/map.h"
#include "base/counters/clock.h"
#include "base/files/maps.h"
#include "preload/runtime.h"
#include "preload/self.h"
#include "preload/sampling/sampling_parts.h"
#include "preload/walk.h"

/* The size up to which a file in /proc is read: of a program with more mappings the
 * first ones are known. */
#define MAPS_SIZE ((size_t)4 << 20)

/* NULL or *length bytes, with a NUL behind, in a mapping of MAPS_SIZE. */
static char *read_maps(size_t *length)
{
	char *text = cp_map(MAPS_SIZE, -1, 0);

	*length = text ? cp_maps_read(text, MAPS_SIZE) : 0;
	return text;
}

void cp_sampling_note_maps(void)
{
	size_t length;
	char *text = read_maps(&length);
	struct cp_samples_maps *out;

	if (!text)
		return;
	out = cp_record_reserve(&cp_samples, sizeof(*out) + length + 1);
	if (out) {
		out->time = cp_clock_of_kernel();
		out->length = (uint32_t)length;
		memcpy(out->text, text, length);
		cp_item_publish(out, CP_SAMPLES_MAPS);
	}
	munmap(text, MAPS_SIZE);
}

static void note_range(const struct cp_samples_thread *thread, enum cp_range_kind kind,
	uint64_t low, uint64_t high, uint64_t image)
{
	struct cp_samples_range *out = cp_record_reserve(&cp_samples, sizeof(*out));

	if (!out)
		return;
	out->thread = thread->id;
	out->kind = kind;
	out->low = low;
	out->high = high;
	out->start = cp_clock_of_kernel();
	out->image = image;
	cp_item_publish(out, CP_SAMPLES_RANGE);
}

/* ---- stacks ---- */

/* The mapping around an address, and where the one before it ends. */
static bool find_mapping(const char *maps, uint64_t address, uint64_t *low,
	uint64_t *high, uint64_t *below)
{
	*low = *high = 0;
	for (const char *line = maps; line && *line;) {
		const char *end = strchr(line, '\n'), *at = line;

		*below = *high;
		*low = cp_maps_number(&at);
		at += *at == '-';
		*high = cp_maps_number(&at);
		if (address >= *low && address < *high)
			return true;
		line = end ? end + 1 : NULL;
	}
	return false;
}

/* That of the process grows, as far as nothing is in its way. */
static uint64_t lowest_of_stack(uint64_t low, uint64_t high, uint64_t below)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_STACK, &limit) < 0 || limit.rlim_cur > (rlim_t)1 << 30)
		limit.rlim_cur = (rlim_t)1 << 30;
	if (high - low > limit.rlim_cur)
		return low;
	return high - limit.rlim_cur > below ? high - limit.rlim_cur : below;
}

/* Within the mapping, which may have several threads' stacks, and what else lies beside
 * them: guards may be no mappings.  The C library has the thread's own data on the last
 * page of a stack that it has made, and leaves at least the size that was asked for. */
static void cut_to_thread(uint64_t *low, uint64_t *high)
{
	uint64_t page = (uint64_t)getpagesize(), own = cp_self.bounds.low,
		 end = own ? own + cp_self.bounds.size
			   : ((uint64_t)(uintptr_t)pthread_self() | (page - 1)) + 1;

	if (!own)
		own = (end - cp_self.bounds.size) & ~(page - 1);
	if (own > *low)
		*low = own;
	if (end < *high)
		*high = end;
}

static void note_stack(const struct cp_samples_thread *thread)
{
	uint64_t here = (uint64_t)(uintptr_t)__builtin_frame_address(0), low, high, below;
	size_t length;
	char *maps = read_maps(&length);

	if (!maps)
		return;
	if (find_mapping(maps, here, &low, &high, &below)) {
		if (cp_self.bounds.size)
			cut_to_thread(&low, &high);
		else if (thread->tid == cp_runtime.pid)
			low = lowest_of_stack(low, high, below);
		note_range(thread, CP_RANGE_STACK, low, high, 0);
	}
	munmap(maps, MAPS_SIZE);
}

/* ---- thread-local variables ---- */

static int visit_module(struct dl_phdr_info *module, size_t size, void *context)
{
	const struct cp_samples_thread *thread = context;
	uint64_t data = (uint64_t)(uintptr_t)module->dlpi_tls_data;

	(void)size;
	if (!data)
		return 0;
	for (unsigned i = 0; i < module->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &module->dlpi_phdr[i];

		if (segment->p_type == PT_TLS)
			note_range(thread, CP_RANGE_TLS, data, data + segment->p_memsz,
				module->dlpi_addr + segment->p_vaddr);
	}
	return 0;
}

static void note_variables(const struct cp_samples_thread *thread)
{
	cp_walk_objects(visit_module, (void *)(uintptr_t)thread);
}

void cp_sampling_note_thread(const struct cp_samples_thread *thread)
{
	note_stack(thread);
	note_variables(thread);
}

/* Notes those of libraries that were loaded meanwhile, too. */
void cp_sampling_note_end(const struct cp_samples_thread *thread)
{
	note_variables(thread);
}
