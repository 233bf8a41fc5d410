/* SPDX-License-Identifier: MIT */
#include "base/engine/ring.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "base/map.h"
#include "base/syscall.h"

/* As CP_RING_SAMPLE_TYPE orders them. */
struct sample_record {
	struct perf_event_header header;
	uint64_t id, ip;
	uint32_t pid, tid;
	uint64_t time, address, period;
};

/* The fields behind the chain. */
struct sample_rest {
	uint64_t weight, data_source;
};

struct lost_record {
	struct perf_event_header header;
	uint64_t id, lost;
};

struct mapping_record {
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t address, length, offset;
	uint8_t file[24];
	uint32_t protection, flags;
	char path[];
};

/* Ends records other than samples, with sample_id_all. */
struct trailer {
	uint32_t pid, tid;
	uint64_t time, id;
};

int cp_ring_map(struct cp_ring *ring, int fd, unsigned pages)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	long at = -EINVAL;

	for (; pages; pages /= 2) {
		at = cp_syscall(SYS_mmap, 0, (1 + pages) * page, PROT_READ | PROT_WRITE,
			MAP_SHARED, fd, 0);
		if (at != -EPERM && at != -ENOMEM)
			break;
	}
	if (at < 0 && at > -4096)
		return (int)at;
	ring->page = (void *)at;
	ring->mapped = (1 + pages) * page;
	ring->pages = pages;
	return 0;
}

void cp_ring_unmap(struct cp_ring *ring)
{
	if (ring->page)
		cp_syscall(SYS_munmap, ring->page, ring->mapped);
	ring->page = NULL;
}

void cp_ring_unmapped(const struct cp_ring *ring)
{
	if (ring->page)
		cp_map_zeros(ring->page, ring->mapped);
}

/* Kernels before 4.1 do not say where the data are: behind the page. */
static uint64_t data_size(const struct cp_ring *ring)
{
	return ring->mapped / (ring->pages + 1) * ring->pages;
}

static const char *data_of(const struct cp_ring *ring)
{
	return (const char *)ring->page + (ring->mapped - data_size(ring));
}

/* Records are multiples of 8 bytes: a header is never across the end. */
static const struct perf_event_header *record_at(struct cp_ring *ring, uint64_t tail)
{
	uint64_t size = data_size(ring), at = tail & (size - 1), first = size - at;
	const struct perf_event_header *header = (const void *)(data_of(ring) + at);
	uint16_t length = __atomic_load_n(&header->size, __ATOMIC_RELAXED);

	if (length <= first)
		return header;
	if (length > sizeof(ring->whole))
		return NULL;
	memcpy(ring->whole, header, first);
	memcpy(ring->whole + first, data_of(ring), length - first);
	return (const void *)ring->whole;
}

/* The words of a record that are still to be read. */
struct words {
	const uint64_t *at, *end;
};

/* So many words; NULL: there are not. */
static const uint64_t *take_words(struct words *words, uint64_t n)
{
	const uint64_t *taken = words->at;

	if (n > (uint64_t)(words->end - words->at))
		return NULL;
	words->at += n;
	return taken;
}

static bool read_registers(struct words *words, struct cp_chain *chain)
{
	const uint64_t *abi = take_words(words, 1), *r;

	if (!abi || *abi == PERF_SAMPLE_REGS_ABI_NONE)
		return abi;
	r = take_words(words, CP_RING_NREGISTERS);
#if defined(__x86_64__)
	if (r)
		chain->registers =
			(struct cp_unwound_registers){.fp = r[0], .sp = r[1], .pc = r[2]};
#elif defined(__aarch64__)
	if (r)
		chain->registers = (struct cp_unwound_registers){
			.fp = r[0], .lr = r[1], .sp = r[2], .pc = r[3]};
#else
	(void)chain; /* no register is asked for: CP_RING_REGISTERS is 0 */
#endif
	return r;
}

/* Room for what was asked for, and how much of it is the stack. */
static bool read_stack(struct words *words, struct cp_chain *chain)
{
	const uint64_t *size = take_words(words, 1), *there;

	if (!size || !*size)
		return size;
	chain->stack = take_words(words, *size / 8);
	there = chain->stack ? take_words(words, 1) : NULL;
	if (there && chain->registers.sp)
		chain->stack_size = *there < *size ? *there : *size;
	return there;
}

static bool read_chain(struct words *words, struct cp_chain *chain)
{
	const uint64_t *n = take_words(words, 1);

	chain->address = n ? take_words(words, *n) : NULL;
	if (!chain->address)
		return false;
	chain->n = *n;
	return !CP_RING_NREGISTERS ||
	       (read_registers(words, chain) && read_stack(words, chain));
}

static void visit_sample(const struct perf_event_header *header, bool chains,
	const struct cp_ring_visitor *visitor, void *context)
{
	const struct sample_record *in = (const void *)header;
	struct words words = {(const void *)(in + 1),
		(const void *)((const char *)header + header->size)};
	struct cp_chain chain = {.n = 0};
	const struct sample_rest *rest;

	if (header->size < sizeof(*in) || (chains && !read_chain(&words, &chain)))
		return;
	rest = (const void *)take_words(&words, sizeof(*rest) / 8);
	if (!rest)
		return;
	visitor->sample(context, in->id,
		&(struct cp_access_sample){
			.time = in->time,
			.instruction = in->ip,
			.address = in->address,
			.data_source = rest->data_source,
			.period = in->period,
			.latency = rest->weight > UINT32_MAX ? UINT32_MAX
							     : (uint32_t)rest->weight,
		},
		&chain);
}

/* Marks are the last 4095 numbers, as errors are. */
uint32_t cp_chain_copy(uint64_t *to, const struct cp_chain *chain, uint32_t most)
{
	uint32_t n = 0;

	for (uint64_t i = 0; i < chain->n && n < most; i++)
		if (chain->address[i] && chain->address[i] < PERF_CONTEXT_MAX)
			to[n++] = chain->address[i];
	return n;
}

static void visit_mapping(const struct perf_event_header *header,
	const struct cp_ring_visitor *visitor, void *context)
{
	const struct mapping_record *in = (const void *)header;
	const struct trailer *trailer;
	struct cp_samples_mapping mapping = {.item = {0, 0}};

	if (header->size < sizeof(*in) + sizeof(*trailer))
		return;
	trailer = (const void *)((const char *)header + header->size - sizeof(*trailer));
	mapping.time = trailer->time;
	mapping.start = in->address;
	mapping.size = in->length;
	mapping.offset = in->offset;
	mapping.protection = in->protection;
	visitor->mapping(context, &mapping, in->path,
		(uint32_t)strnlen(
			in->path, header->size - sizeof(*in) - sizeof(*trailer)));
}

static void visit_record(const struct perf_event_header *header, bool chains,
	const struct cp_ring_visitor *visitor, void *context)
{
	const struct lost_record *lost = (const void *)header;

	if (header->type == PERF_RECORD_SAMPLE)
		visit_sample(header, chains, visitor, context);
	else if (header->type == PERF_RECORD_MMAP2)
		visit_mapping(header, visitor, context);
	else if (header->type == PERF_RECORD_LOST && header->size >= sizeof(*lost))
		visitor->lost(context, lost->id, lost->lost);
}

void cp_ring_drain(
	struct cp_ring *ring, const struct cp_ring_visitor *visitor, void *context)
{
	uint64_t head, tail;

	if (!ring->page)
		return;
	head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
	tail = ring->page->data_tail;
	while (tail < head) {
		const struct perf_event_header *header = record_at(ring, tail);
		uint64_t size = data_size(ring);
		const struct perf_event_header *there =
			(const void *)(data_of(ring) + (tail & (size - 1)));

		if (there->size < sizeof(*there) || there->size > head - tail)
			break; /* it is no ring any more: what is left is nothing */
		if (header)
			visit_record(header, ring->chains, visitor, context);
		tail += there->size;
	}
	__atomic_store_n(&ring->page->data_tail, head, __ATOMIC_RELEASE);
}

unsigned cp_ring_filled(const struct cp_ring *ring)
{
	if (!ring->page)
		return 0;
	return (unsigned)(100 *
			  (__atomic_load_n(&ring->page->data_head, __ATOMIC_RELAXED) -
				  ring->page->data_tail) /
			  data_size(ring));
}
