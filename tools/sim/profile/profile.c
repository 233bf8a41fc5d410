/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Threads and sites of the profile.  A site is an instruction of a thread.
 */
#include "profile/profile.h"

#include "base/probe.h"
#include "model/span.h"
#include "sample/log.h"
#include "sample/sample.h"
#include "readable.h"

#define KEPT CP_PROFILE_COUNTERS

struct profile_thread {
	UInt id;
	struct cp_profile_thread *out; /* NULL: there was no room */
	struct profile_call call;
};

/* One for the process: the thread that runs, what it did last, and the sites of all. */
static struct {
	struct profile_thread *current, *further;
	const struct core *observed;    /* of several machines the first one's */
	struct cp_profile_site **slots; /* built anew without sites that have gone */
	ULong nslots, nsites;           /* nslots: a power of two */
	UInt nthreads;
	struct cp_profile_sample *sample; /* NULL: there is none yet */
	UInt part;                        /* 1 and more; 0: nothing is sampled */
	Bool idle;                        /* what comes is not counted */
	/* The counts of the running core after the last reference. */
	ULong seen[KEPT] __attribute__((aligned(16)));
	/* The latest reference, which what the counters have grown by since `seen`
	 * belongs to: all of it, because those before it that are counted together with
	 * it were made by the same instruction to the same object. */
	struct {
		Addr instruction, address; /* address 0: a fetch */
		struct cp_profile_site
			*site; /* NULL: nobody has looked for it and the object */
		struct profile_extent extent;
		struct cp_profile_script *script; /* NULL: in no line of Python */
		ULong missed; /* misses of L1D up to the reference before it */
		ULong spared; /* and what would have been some */
	} last;
	ULong seen_spared[SPARED]; /* as `seen` */
} profile;

/* ---- sites ---- */

typedef ULong pair __attribute__((vector_size(16), may_alias, aligned(8)));

static ULong hash_site(UInt thread, Addr instruction, ULong part)
{
	return cp_hash_word(instruction ^ ((ULong)thread << 48) ^ part << 43) >> 20;
}

static Bool is_of(
	const struct cp_profile_site *site, UInt thread, Addr instruction, ULong part)
{
	return site->instruction == instruction && site->part == part &&
	       site->thread == thread;
}

/* Where that site is, or would be. */
static struct cp_profile_site **slot_of(UInt thread, Addr instruction, ULong part)
{
	struct cp_profile_site **slots = profile.slots;

	return &slots[CP_PROBE(profile.nslots, hash_site(thread, instruction, part), i,
		!slots[i] || is_of(slots[i], thread, instruction, part))];
}

static void insert_site(struct cp_profile_site *site)
{
	*slot_of(site->thread, site->instruction, site->part) = site;
	profile.nsites++;
}

/* Into a table of so many slots, without those in [lo, hi). */
static void rebuild_slots(ULong size, Addr lo, Addr hi)
{
	struct cp_profile_site **old = profile.slots;
	ULong nold = profile.nslots;

	profile.slots = VG_(calloc)("cachepeek.sites", size, sizeof(*profile.slots));
	profile.nslots = size;
	profile.nsites = 0;
	for (ULong i = 0; i < nold; i++) {
		struct cp_profile_site *s = old[i];

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
	if (profile.nsites >= profile.nslots / 2)
		rebuild_slots(profile.nslots * 2, 0, 0);
	site->thread = thread;
	site->module = profile_module_at(instruction);
	site->instruction = instruction;
	site->part = profile.part;
	profile_publish(site, CP_PROFILE_SITE);
	insert_site(site);
	return site;
}

static struct cp_profile_site *find_site(UInt thread, Addr instruction)
{
	struct cp_profile_site *site = *slot_of(thread, instruction, profile.part);

	return site ? site : new_site(thread, instruction);
}

/* ---- what the model counts ---- */

/* A vote, as that of distances. */
static void vote_script(
	struct cp_profile_site *site, const struct cp_profile_script *script)
{
	if (!script)
		return;
	if (site->script == script->id) {
		site->scripted++;
	} else if (site->scripted * 2 < site->asked) {
		site->script = script->id;
		site->scripted = 1;
	}
}

/* A vote: what is most often the distance holds its place. */
static void note_distance(struct cp_profile_site *site, Addr address, Bool missed)
{
	Long distance = (Long)(address - site->last);

	profile_steps_note(site, address);
	site->last = address;
	site->asked++;
	site->misses += missed;
	vote_script(site, profile.last.script);
	if (distance == site->stride) {
		site->strided++;
	} else if (site->strided * 2 < site->asked) {
		site->stride = distance;
		site->strided = 1;
	}
}

/* The further lines of a reference are subtracted. */
static ULong misses_in(const uint64_t *now)
{
	return now[CP_PROFILE_AT(l1d_load_lines)] + now[CP_PROFILE_AT(l1d_load_misses)] +
	       now[CP_PROFILE_AT(l1d_store_lines)] + now[CP_PROFILE_AT(l1d_store_misses)];
}

static ULong spared_in_l1d(const struct core *core)
{
	return core->spared[SPARED_L1D] + core->spared[SPARED_L1D + 1];
}

/* Did the latest reference miss L1D, or would it have? */
static void note_miss(const uint64_t *now)
{
	ULong missed = misses_in(now), spared = spared_in_l1d(profile.observed);

	if (missed == profile.last.missed && spared == profile.last.spared)
		return;
	profile_misses_add(profile.current->id, profile.last.instruction,
		missed - profile.last.missed);
	if (profile.last.address)
		note_distance(profile.last.site, profile.last.address,
			missed != profile.last.missed);
	profile.last.missed = missed;
	profile.last.spared = spared;
}

static void find_place(void)
{
	if (profile.last.site)
		return;
	profile.last.site = find_site(profile.current->id, profile.last.instruction);
	if (profile.last.address)
		profile_extent_at(profile.last.address, &profile.last.extent);
}

/* To whom the counts of a reference belong: its instruction, its data, its line of
 * Python. */
struct owners {
	uint64_t *count[3], *spared[3];
};

static struct owners owners_of(struct cp_profile_object *object)
{
	static uint64_t nowhere[KEPT], spared_nowhere[SPARED];
	struct cp_profile_site *site = profile.last.site;
	struct cp_profile_script *script = profile.last.script;

	return (struct owners){
		.count = {site->count, object ? object->count : nowhere,
			script ? script->count : nowhere},
		.spared = {site->spared, object ? object->spared : spared_nowhere,
			script ? script->spared : spared_nowhere},
	};
}

/* As span_collect() does for the core. */
static void add_misses(const uint64_t *now, const struct owners *to)
{
	for (UInt i = 0; i < 2 * SPAN_LEVELS; i++) {
		UInt lines = span_levels[i / 2].lines + i % 2 - CP_PROFILE_FIRST;
		UInt misses = span_levels[i / 2].misses + i % 2 - CP_PROFILE_FIRST;

		for (UInt o = 0; o < 3; o++)
			to->count[o][misses] += now[lines] - profile.seen[lines];
	}
}

static void add_spared(const struct owners *to)
{
	for (UInt i = 0; i < SPARED; i++) {
		ULong more = profile.observed->spared[i] - profile.seen_spared[i];

		for (UInt o = 0; o < 3; o++)
			to->spared[o][i] += more;
		profile.seen_spared[i] += more;
	}
}

static void add_counts(const uint64_t *now, const struct owners *to)
{
	pair *old = (pair *)profile.seen;

	for (UInt i = 0; i < KEPT / 2; i++) {
		pair more = ((const pair *)now)[i] - old[i];

		if (!(more[0] | more[1]))
			continue;
		for (UInt o = 0; o < 3; o++)
			((pair *)to->count[o])[i] += more;
		old[i] += more;
	}
}

static __attribute__((noinline)) void attribute_counts(const uint64_t *now)
{
	struct cp_profile_object *object; /* fetches have no data */
	ULong before[CP_PROFILE_ACCESSED];
	struct owners to;

	find_place();
	note_miss(now);
	object = profile.last.address ? profile_object(profile.last.extent.object) : NULL;
	to = owners_of(object);
	if (object)
		profile_access_before(object, before);
	add_misses(now, &to);
	add_spared(&to);
	add_counts(now, &to);
	if (object)
		profile_access_after(profile.last.site, object, before);
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
			   *(const pair *)&profile.seen[telling[i]];
	return !(changed[0] | changed[1]);
}

/* The same of any machine. */
static Bool is_unchanged(const uint64_t *now)
{
	pair changed = {0, 0};

	_Static_assert(KEPT % 2 == 0 && SPARED % 2 == 0, "pairs");
	for (UInt i = 0; i < SPARED; i += 2)
		changed |= *(const pair *)&profile.observed->spared[i] ^
			   *(const pair *)&profile.seen_spared[i];
#pragma GCC unroll 16
	for (UInt i = 0; i < KEPT; i += 2)
		changed |= *(const pair *)&now[i] ^ *(const pair *)&profile.seen[i];
	return !(changed[0] | changed[1]);
}

static const uint64_t *counters_of(const struct core *core)
{
	return &core->count[CP_PROFILE_FIRST];
}

/* Is this one of those that are counted together? */
static inline Bool goes_on(
	Addr instruction, Addr address, const struct cp_profile_script *script)
{
	struct profile_extent extent;

	if (!profile.last.site || instruction != profile.last.instruction || !address ||
		!profile.last.address || script != profile.last.script)
		return False;
	if (address - profile.last.extent.start < profile.last.extent.size)
		return True;
	profile_extent_at(address, &extent);
	if (extent.object != profile.last.extent.object)
		return False;
	profile.last.extent = extent;
	return True;
}

/* Before a reference. */
static void announce_reference(struct core *core, uint64_t instruction, uint64_t address)
{
	const uint64_t *now = counters_of(core);
	struct cp_profile_script *script;

	if (!profile.current || core != profile.observed || profile.idle)
		return;
	script = profile_script_now();
	if (goes_on(instruction, address, script)) {
		note_miss(now);
		profile.last.address = address;
		return;
	}
	if (profile.last.site || !is_quiet(now)) {
		attribute_counts(now);
		if (goes_on(instruction, address, script)) {
			profile.last.address = address;
			return;
		}
	}
	profile.last.instruction = instruction;
	profile.last.address = address;
	profile.last.script = script;
	profile.last.site = NULL;
}

/* After one, on other machines. */
static void observe_batch(struct core *core, const struct batch_origin *origin)
{
	const uint64_t *now = counters_of(core);

	if (!profile.current || core != profile.observed || !core->flex ||
		is_unchanged(now))
		return;
	profile.last.instruction = origin->instruction;
	profile.last.address = origin->address;
	profile.last.script = profile_script_now();
	profile.last.site = NULL;
	attribute_counts(now);
}

void profile_settle(void)
{
	if (sample_wanted())
		sample_drain();
	if (profile.current && profile.last.instruction && !profile.idle &&
		!is_unchanged(counters_of(profile.observed)))
		attribute_counts(counters_of(profile.observed));
	profile.last.site = NULL;
}

void profile_use_part(UInt part)
{
	profile.idle = part == SAMPLE_NO_PART;
	profile.part = profile.idle ? 0 : part + 1;
	profile.last.instruction = 0;
	profile.last.site = NULL;
	profile.last.missed = misses_in(counters_of(profile.observed));
	profile.last.spared = spared_in_l1d(profile.observed);
	VG_(memcpy)
	(profile.seen, counters_of(profile.observed), sizeof(profile.seen));
}

void profile_put_sample(void)
{
	if (!tool_options.sites)
		return;
	if (!profile.sample) {
		profile.sample = profile_allocate(sizeof(*profile.sample));
		if (!profile.sample)
			return;
		profile.sample->sets = (UInt)tool_options.sample.sets;
		profile.sample->groups = sample_all_groups();
		profile_publish(profile.sample, CP_PROFILE_SAMPLE);
	}
	sample_copy_machine(0, (ULong *)profile.sample->count);
}

/* ---- threads ---- */

static struct profile_thread *new_thread(Int tid)
{
	struct profile_thread *t = VG_(calloc)("cachepeek.profile", 1, sizeof(*t));

	t->id = profile.nthreads++;
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

	if (!tool_options.profile)
		return NULL;
	if (profile.nthreads >= CP_PROFILE_THREADS && !profile.further)
		profile.further = new_thread(0);
	t = profile.further ? profile.further : new_thread(VG_(gettid)());
	if (tool_options.sites)
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
	if (tool_options.sites)
		profile_data_thread_end(tid);
}

void profile_thread_use(struct profile_thread *t, const struct core *core)
{
	profile_settle();
	profile.current = t;
	profile.observed = core;
	profile.last.instruction = 0;
	if (core) {
		profile.last.spared = spared_in_l1d(core);
		VG_(memcpy)
		(profile.seen_spared, core->spared, sizeof(profile.seen_spared));
	}
	profile_heap_use(t ? &t->call : NULL);
	profile_script_use(profile_thread_number(t));
}

void profile_collect(struct profile_thread *t, const uint64_t *more)
{
	if (profile.observed && more == profile.observed->count) {
		VG_(memset)(profile.seen, 0, sizeof(profile.seen));
		profile.last.missed = 0;
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

	if (!tool_options.profile)
		return False;
	profile_settle();
	if (tool_options.sites)
		profile_data_unmapped(a, len);
	readable_forget();
	profile_script_unmapped(a, len);
	known = profile_module_unmapped(a, len);
	if (known && tool_options.sites)
		rebuild_slots(profile.nslots, a, a + len);
	return known;
}

void profile_fork_child(void)
{
	if (!tool_options.profile)
		return;
	profile_file_fork_child();
	profile_module_fork_child();
	if (tool_options.sites) {
		profile_data_fork_child();
		profile_access_fork_child();
		profile_steps_fork_child();
		profile_script_fork_child();
		VG_(memset)(profile.slots, 0, profile.nslots * sizeof(*profile.slots));
	}
	VG_(memset)(profile.seen, 0, sizeof(profile.seen));
	VG_(memset)(&profile.last, 0, sizeof(profile.last));
	profile.nsites = profile.nthreads = 0;
	profile.current = profile.further = NULL;
	profile.sample = NULL;
}

void profile_start(void)
{
	if (!tool_options.sites)
		return;
	rebuild_slots(1 << 12, 0, 0);
	profile_steps_start();
	batch_told.announce = announce_reference;
	sample_tell(profile_settle, profile_use_part);
	if (tool_options.has_front)
		batch_told.observe = observe_batch;
}
