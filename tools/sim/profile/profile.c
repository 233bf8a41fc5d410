/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Threads and sites of the profile.  A site is an instruction of a thread.
 */
#include "profile/profile.h"
#include "model/span.h"

#define KEPT CP_PROFILE_COUNTERS

struct profile_thread {
	UInt id;
	struct cp_profile_thread *out; /* NULL: there was no room */
	struct profile_call call;
};

/* Open addressing; a site that has gone leaves its slot empty, after which the
 * table is built anew. */
struct site_slot {
	struct cp_profile_site *site;
};

static struct profile_thread *current, *further;
static const struct core *observed; /* of several machines the first one's */
static struct site_slot *slots;
static ULong nslots, nsites; /* nslots: a power of two */
static UInt nthreads;

/* The counts of the running core after the last reference. */
static ULong seen[KEPT] __attribute__((aligned(16)));

/* ---- sites ---- */

typedef ULong pair __attribute__((vector_size(16), may_alias, aligned(8)));

static ULong hash_site(UInt thread, Addr instruction)
{
	return (instruction ^ ((ULong)thread << 48)) * 0x9e3779b97f4a7c15ull >> 20;
}

static void insert_site(struct cp_profile_site *site)
{
	ULong i = hash_site(site->thread, site->instruction) & (nslots - 1);

	while (slots[i].site)
		i = (i + 1) & (nslots - 1);
	slots[i].site = site;
	nsites++;
}

/* Into a table of so many slots, without those in [lo, hi). */
static void rebuild_slots(ULong size, Addr lo, Addr hi)
{
	struct site_slot *old = slots;
	ULong nold = nslots;

	slots = VG_(calloc)("cachepeek.sites", size, sizeof(*slots));
	nslots = size;
	nsites = 0;
	for (ULong i = 0; i < nold; i++) {
		struct cp_profile_site *s = old[i].site;

		if (s && (s->instruction < lo || s->instruction >= hi))
			insert_site(s);
	}
	VG_(free)(old);
}

static struct cp_profile_site *new_site(UInt thread, Addr instruction)
{
	struct cp_profile_site *site = profile_allocate(sizeof(*site));

	if (!site)
		return profile_nowhere();
	if (nsites >= nslots / 2)
		rebuild_slots(nslots * 2, 0, 0);
	site->thread = thread;
	site->module = profile_module_at(instruction);
	site->instruction = instruction;
	profile_publish(site, CP_PROFILE_SITE);
	insert_site(site);
	return site;
}

static struct cp_profile_site *find_site(UInt thread, Addr instruction)
{
	ULong i = hash_site(thread, instruction) & (nslots - 1);

	for (; slots[i].site; i = (i + 1) & (nslots - 1))
		if (slots[i].site->instruction == instruction &&
			slots[i].site->thread == thread)
			return slots[i].site;
	return new_site(thread, instruction);
}

/* ---- what the model counts ---- */

/* The latest reference, which what the counters have grown by since `seen` belongs to:
 * all of it, because those before it that are counted together with it were made by the
 * same instruction to the same object. */
static struct {
	Addr instruction, address;    /* address 0: a fetch */
	struct cp_profile_site *site; /* NULL: nobody has looked for it and the object */
	struct profile_extent extent;
	ULong missed; /* misses of L1D up to the reference before it */
} last;

/* A vote: what is most often the distance holds its place. */
static void note_distance(struct cp_profile_site *site, Addr address)
{
	Long distance = (Long)(address - site->last);

	site->last = address;
	site->misses++;
	if (distance == site->stride) {
		site->strided++;
	} else if (site->strided * 2 < site->misses) {
		site->stride = distance;
		site->strided = 1;
	}
}

/* Did the latest reference miss L1D?  Of its lines, the further ones are subtracted. */
static void note_miss(const uint64_t *now)
{
	ULong missed = now[CP_PROFILE_AT(l1d_load_lines)] +
		       now[CP_PROFILE_AT(l1d_load_misses)] +
		       now[CP_PROFILE_AT(l1d_store_lines)] +
		       now[CP_PROFILE_AT(l1d_store_misses)];

	if (missed == last.missed)
		return;
	profile_misses_add(current->id, last.instruction, missed - last.missed);
	if (last.address)
		note_distance(last.site, last.address);
	last.missed = missed;
}

static void find_place(void)
{
	if (last.site)
		return;
	last.site = find_site(current->id, last.instruction);
	if (last.address)
		profile_extent_at(last.address, &last.extent);
}

/* As span_collect() does for the core. */
static void add_misses(const uint64_t *now, uint64_t *count, uint64_t *of_data)
{
	for (UInt i = 0; i < 2 * SPAN_LEVELS; i++) {
		UInt lines = span_levels[i / 2].lines + i % 2 - CP_PROFILE_FIRST;
		UInt misses = span_levels[i / 2].misses + i % 2 - CP_PROFILE_FIRST;

		count[misses] += now[lines] - seen[lines];
		of_data[misses] += now[lines] - seen[lines];
	}
}

static __attribute__((noinline)) void attribute_counts(const uint64_t *now)
{
	static uint64_t nowhere[KEPT]; /* fetches have no data */
	struct cp_profile_object *object;
	pair *count, *of_data, *old = (pair *)seen;
	ULong before[CP_PROFILE_ACCESSED];

	find_place();
	note_miss(now);
	object = last.address ? profile_object(last.extent.object) : NULL;
	count = (pair *)last.site->count;
	of_data = (pair *)(object ? object->count : nowhere);
	if (object)
		profile_access_before(object, before);
	add_misses(now, (uint64_t *)count, (uint64_t *)of_data);
	for (UInt i = 0; i < KEPT / 2; i++) {
		pair more = ((const pair *)now)[i] - old[i];

		if (!(more[0] | more[1]))
			continue;
		count[i] += more;
		of_data[i] += more;
		old[i] += more;
	}
	if (object)
		profile_access_after(last.site, object, before);
}

/* On a plain machine one of these counters grows if any does: first-level misses
 * and what happens to other cores. */
static inline Bool is_quiet(const uint64_t *now)
{
	static const UChar telling[] = {CP_PROFILE_AT(l1i_misses),
		CP_PROFILE_AT(l1d_store_lines), CP_PROFILE_AT(itlb_misses),
		CP_PROFILE_AT(dtlb_load_pages), CP_PROFILE_AT(invalidations)};
	pair changed = {0, 0};

#pragma GCC unroll 8
	for (UInt i = 0; i < sizeof(telling); i++)
		changed |= *(const pair *)&now[telling[i]] ^
			   *(const pair *)&seen[telling[i]];
	return !(changed[0] | changed[1]);
}

/* The same of any machine. */
static Bool is_unchanged(const uint64_t *now)
{
	pair changed = {0, 0};

	_Static_assert(KEPT % 2 == 0, "pairs");
#pragma GCC unroll 16
	for (UInt i = 0; i < KEPT; i += 2)
		changed |= *(const pair *)&now[i] ^ *(const pair *)&seen[i];
	return !(changed[0] | changed[1]);
}

static const uint64_t *counters_of(const struct core *core)
{
	return &core->count[CP_PROFILE_FIRST];
}

/* Is this one of those that are counted together? */
static inline Bool goes_on(Addr instruction, Addr address)
{
	struct profile_extent extent;

	if (!last.site || instruction != last.instruction || !address || !last.address)
		return False;
	if (address - last.extent.start < last.extent.size)
		return True;
	profile_extent_at(address, &extent);
	if (extent.object != last.extent.object)
		return False;
	last.extent = extent;
	return True;
}

/* Before a reference. */
static void announce_reference(struct core *core, uint64_t instruction, uint64_t address)
{
	const uint64_t *now = counters_of(core);

	if (!current || core != observed)
		return;
	if (goes_on(instruction, address)) {
		note_miss(now);
		last.address = address;
		return;
	}
	if (last.site || !is_quiet(now)) {
		attribute_counts(now);
		if (goes_on(instruction, address)) {
			last.address = address;
			return;
		}
	}
	last.instruction = instruction;
	last.address = address;
	last.site = NULL;
}

/* After one, on other machines. */
static void observe_batch(struct core *core, const struct batch_origin *origin)
{
	const uint64_t *now = counters_of(core);

	if (!current || core != observed || !core->flex || is_unchanged(now))
		return;
	last.instruction = origin->instruction;
	last.address = origin->address;
	last.site = NULL;
	attribute_counts(now);
}

void profile_settle(void)
{
	if (current && last.instruction && !is_unchanged(counters_of(observed)))
		attribute_counts(counters_of(observed));
	last.site = NULL;
}

/* ---- threads ---- */

static struct profile_thread *new_thread(Int tid)
{
	struct profile_thread *t = VG_(calloc)("cachepeek.profile", 1, sizeof(*t));

	t->id = nthreads++;
	t->out = profile_allocate(sizeof(*t->out));
	if (t->out) {
		t->out->id = t->id;
		t->out->tid = tid;
		profile_publish(t->out, CP_PROFILE_THREAD);
	}
	return t;
}

struct profile_thread *profile_thread_begin(ThreadId tid)
{
	struct profile_thread *t;

	if (!profile_directory)
		return NULL;
	if (nthreads >= CP_PROFILE_THREADS && !further)
		further = new_thread(0);
	t = further ? further : new_thread(VG_(gettid)());
	if (profile_sites)
		profile_data_thread_begin(tid, t->id);
	return t;
}

UInt profile_thread_number(const struct profile_thread *t)
{
	return t ? t->id : 0;
}

void profile_thread_end(ThreadId tid)
{
	profile_misses_flush();
	if (profile_sites)
		profile_data_thread_end(tid);
}

void profile_thread_use(struct profile_thread *t, const struct core *core)
{
	profile_settle();
	current = t;
	observed = core;
	last.instruction = 0;
	profile_heap_use(t ? &t->call : NULL);
}

void profile_collect(struct profile_thread *t, const uint64_t *more)
{
	if (observed && more == observed->count) {
		VG_(memset)(seen, 0, sizeof(seen));
		last.missed = 0;
	}
	for (UInt i = 0; t && t->out && i < CP_SIM_NCOUNTERS; i++)
		t->out->count[i] += more[i];
}

void profile_huge_pages(struct profile_thread *t, ULong more)
{
	if (t && t->out)
		t->out->count[CP_SIM_huge_pages] += more;
}

/* ---- its life ---- */

Bool profile_unmapped(Addr a, SizeT len)
{
	Bool known;

	if (!profile_directory)
		return False;
	profile_settle();
	if (profile_sites)
		profile_data_unmapped(a, len);
	known = profile_module_unmapped(a, len);
	if (known && profile_sites)
		rebuild_slots(nslots, a, a + len);
	return known;
}

void profile_fork_child(void)
{
	if (!profile_directory)
		return;
	profile_file_fork_child();
	profile_module_fork_child();
	if (profile_sites) {
		profile_data_fork_child();
		profile_access_fork_child();
		VG_(memset)(slots, 0, nslots * sizeof(*slots));
	}
	VG_(memset)(seen, 0, sizeof(seen));
	VG_(memset)(&last, 0, sizeof(last));
	nsites = nthreads = 0;
	current = further = NULL;
}

void profile_start(void)
{
	if (!profile_sites)
		return;
	rebuild_slots(1 << 12, 0, 0);
	batch_announcer = announce_reference;
	if (tool_has_front)
		batch_observer = observe_batch;
}
