/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Threads and sites of the profile.  A site is an instruction of a thread.
 */
#include "profile.h"
#include "sharing.h"

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

/* Of the running core, after the last reference. */
static ULong seen[KEPT] __attribute__((aligned(16)));

/* ---- sites ---- */

typedef ULong pair __attribute__((vector_size(16), may_alias, aligned(8)));

static ULong hash(UInt thread, Addr instruction)
{
	return (instruction ^ ((ULong)thread << 48)) * 0x9e3779b97f4a7c15ull >> 20;
}

static void insert(struct cp_profile_site *site)
{
	ULong i = hash(site->thread, site->instruction) & (nslots - 1);

	while (slots[i].site)
		i = (i + 1) & (nslots - 1);
	slots[i].site = site;
	nsites++;
}

/* Into a table of so many slots, without those in [lo, hi). */
static void rebuild(ULong size, Addr lo, Addr hi)
{
	struct site_slot *old = slots;
	ULong nold = nslots;

	slots = VG_(calloc)("cachepeek.sites", size, sizeof(*slots));
	nslots = size;
	nsites = 0;
	for (ULong i = 0; i < nold; i++) {
		struct cp_profile_site *s = old[i].site;

		if (s && (s->instruction < lo || s->instruction >= hi))
			insert(s);
	}
	VG_(free)(old);
}

static struct cp_profile_site *new_site(UInt thread, Addr instruction)
{
	struct cp_profile_site *site = profile_allocate(sizeof(*site));

	if (!site)
		return profile_nowhere();
	if (nsites >= nslots / 2)
		rebuild(nslots * 2, 0, 0);
	site->thread = thread;
	site->module = profile_module_at(instruction);
	site->instruction = instruction;
	profile_publish(site, CP_PROFILE_SITE);
	insert(site);
	return site;
}

static struct cp_profile_site *find_site(UInt thread, Addr instruction)
{
	ULong i = hash(thread, instruction) & (nslots - 1);

	for (; slots[i].site; i = (i + 1) & (nslots - 1))
		if (slots[i].site->instruction == instruction &&
			slots[i].site->thread == thread)
			return slots[i].site;
	return new_site(thread, instruction);
}

/* ---- what the model counts ---- */

/* Those of code have no data. */
static pair *count_of_data(Addr address)
{
	static uint64_t nowhere[KEPT];
	struct cp_profile_object *object = address ? profile_object_at(address) : NULL;

	return (pair *)(object ? object->count : nowhere);
}

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

static Bool misses_l1d(const uint64_t *now)
{
	return now[CP_PROFILE_AT(l1d_load_misses)] !=
		       seen[CP_PROFILE_AT(l1d_load_misses)] ||
	       now[CP_PROFILE_AT(l1d_store_misses)] !=
		       seen[CP_PROFILE_AT(l1d_store_misses)];
}

static __attribute__((noinline)) void attribute(
	const uint64_t *now, Addr instruction, Addr address)
{
	struct cp_profile_site *site = find_site(current->id, instruction);
	pair *count = (pair *)site->count;
	pair *of_data = count_of_data(address);
	const pair *new = (const pair *)now;
	pair *old = (pair *)seen;

	if (address && misses_l1d(now))
		note_distance(site, address);
	for (UInt i = 0; i < KEPT / 2; i++) {
		pair more = new[i] - old[i];

		if (!(more[0] | more[1]))
			continue;
		count[i] += more;
		of_data[i] += more;
		old[i] = new[i];
	}
}

/* On a plain machine one of these counters grows if any does: first-level misses
 * and what happens to other cores. */
static inline Bool is_quiet(const uint64_t *now)
{
	static const UChar telling[] = {CP_PROFILE_AT(l1i_misses),
		CP_PROFILE_AT(l1d_store_misses), CP_PROFILE_AT(itlb_misses),
		CP_PROFILE_AT(dtlb_load_misses), CP_PROFILE_AT(invalidations)};
	pair changed = {0, 0};

#pragma GCC unroll 8
	for (UInt i = 0; i < sizeof(telling); i++)
		changed |= *(const pair *)&now[telling[i]] ^
			   *(const pair *)&seen[telling[i]];
	return !(changed[0] | changed[1]);
}

static void observe(struct core *core, uint64_t instruction, uint64_t address)
{
	const uint64_t *now = &core->count[CP_PROFILE_FIRST];
	pair changed = {0, 0};

	if (!current || core != observed || (!core->flex && is_quiet(now)))
		return;
	_Static_assert(KEPT % 2 == 0, "pairs");
#pragma GCC unroll 16
	for (UInt i = 0; i < KEPT; i += 2)
		changed |= *(const pair *)&now[i] ^ *(const pair *)&seen[i];
	if (changed[0] | changed[1])
		attribute(now, instruction, address);
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
	profile_data_thread_begin(tid, t->id);
	return t;
}

void profile_thread_end(ThreadId tid)
{
	if (profile_directory)
		profile_data_thread_end(tid);
}

void profile_thread_use(struct profile_thread *t, const struct core *core)
{
	current = t;
	observed = core;
	profile_heap_use(t ? &t->call : NULL);
	sharing_use(t ? (Int)t->id : -1);
}

void profile_collect(struct profile_thread *t, const uint64_t *more)
{
	VG_(memset)(seen, 0, sizeof(seen));
	for (UInt i = 0; t && t->out && i < CP_SIM_NCOUNTERS; i++)
		t->out->count[i] += more[i];
}

/* ---- its life ---- */

void profile_unmapped(Addr a, SizeT len)
{
	if (!profile_directory)
		return;
	profile_data_unmapped(a, len);
	if (profile_module_unmapped(a, len))
		rebuild(nslots, a, a + len);
}

void profile_fork_child(void)
{
	if (!profile_directory)
		return;
	profile_file_fork_child();
	profile_module_fork_child();
	profile_data_fork_child();
	VG_(memset)(slots, 0, nslots * sizeof(*slots));
	VG_(memset)(seen, 0, sizeof(seen));
	nsites = nthreads = 0;
	sharing_fork_child();
	current = further = NULL;
}

void profile_start(void)
{
	if (!profile_directory)
		return;
	rebuild(1 << 12, 0, 0);
	batch_observer = observe;
}
