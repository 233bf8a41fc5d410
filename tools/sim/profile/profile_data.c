/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Finds what an address is in: blocks of the heap by the shadow, variables by the images
 * of files, stacks and other mappings by where they are.
 */
#include "base/probe.h"
#include "profile/profile.h"
#include "profile/sharing.h"
#include "bounds.h"
#include "valgrind/core.h"

/* Identifies an object; data is an enum cp_profile_data. */
struct key {
	UInt data, thread;
	Addr address;
	ULong size;
};

/* By number, from 1 on; those whose mapping has gone are found no more. */
struct object {
	struct key key;
	struct cp_profile_object *out;
	Bool gone;
};

struct mapping {
	Addr start, end;
	UInt number;
};

#define RECENT 4096

/* Where an object was found last, for each of some pages: until anything is mapped
 * or a thread begins or ends. */
struct recent {
	Addr start;
	ULong size; /* 0: nothing */
	UInt number;
};

/* All that is known of the program's memory, but blocks of its heap: see
 * profile_shadow.c. */
static struct {
	struct object *objects;
	UInt nobjects, objects_room;
	UInt *index_of;
	UInt nindex;
	struct mapping *mappings;
	UInt nmappings, mappings_room;
	struct recent recent[RECENT];
	struct {
		ThreadId tid;
		UInt thread;
		Addr top,
			low; /* its stack's last byte, and the lowest SP that was seen */
	} * living;
	UInt nliving;
} known;

/* ---- objects ---- */

static ULong hash_key(const struct key *key)
{
	return cp_hash_word(key->address ^ (key->size << 20) ^ ((ULong)key->data << 60) ^
			    ((ULong)key->thread << 44)) >>
	       20;
}

static Bool is_same_key(const struct key *a, const struct key *b)
{
	return a->data == b->data && a->thread == b->thread && a->address == b->address &&
	       a->size == b->size;
}

/* Where the object of that key is in the index, or would be. */
static UInt *index_slot(const struct key *key)
{
	return &known.index_of[CP_PROBE(known.nindex, hash_key(key), i,
		!known.index_of[i] ||
			is_same_key(&known.objects[known.index_of[i]].key, key))];
}

static void rebuild_index(void)
{
	VG_(free)(known.index_of);
	known.nindex = 1024;
	while (known.nindex < 4 * known.nobjects)
		known.nindex *= 2;
	known.index_of =
		VG_(calloc)("cachepeek.index", known.nindex, sizeof(*known.index_of));
	for (UInt i = 1; i <= known.nobjects; i++)
		if (!known.objects[i].gone)
			*index_slot(&known.objects[i].key) = i;
}

static void place_object(struct cp_profile_object *out, const struct key *key)
{
	const struct image *image = NULL;

	out->address = key->address;
	if (key->data == CP_DATA_VARIABLE || key->data == CP_DATA_MODULE)
		image = profile_image_at(key->address);
	if (key->data == CP_DATA_TLS) {
		out->module = profile_module_at(key->address);
		out->address = key->thread;
	} else if (image) {
		out->module = profile_module_at(profile_image_start(image));
		out->address -= profile_image_bias(image);
	} else if (key->address) {
		out->module = profile_module_at(key->address);
	}
}

/* In the file, if there is room. */
static struct cp_profile_object *write_object(const struct key *key, UInt number)
{
	struct cp_profile_object *out = profile_allocate(sizeof(*out));

	if (!out)
		return NULL;
	out->id = number;
	out->data = key->data;
	out->thread = key->data == CP_DATA_TLS ? 0 : key->thread;
	out->size = key->size;
	place_object(out, key);
	profile_publish(out, CP_PROFILE_OBJECT);
	return out;
}

struct cp_profile_object *profile_object(UInt number)
{
	struct object *o = &known.objects[number];

	if (!o->out)
		o->out = write_object(&o->key, number);
	return o->out;
}

Addr profile_variable_at(UInt number, ULong *size)
{
	const struct key *key = &known.objects[number].key;

	*size = key->size;
	return key->data == CP_DATA_VARIABLE ? key->address : 0;
}

static UInt new_object(const struct key *key)
{
	if (known.nobjects + 2 > known.objects_room) {
		known.objects_room = known.objects_room ? 2 * known.objects_room : 1024;
		known.objects = VG_(realloc)("cachepeek.objects", known.objects,
			known.objects_room * sizeof(*known.objects));
	}
	known.objects[++known.nobjects] = (struct object){.key = *key};
	if (known.nobjects * 2 > known.nindex)
		rebuild_index();
	else
		*index_slot(key) = known.nobjects;
	return known.nobjects;
}

static UInt find_object(const struct key *key)
{
	UInt number = known.nindex ? *index_slot(key) : 0;

	return number ? number : new_object(key);
}

static UInt new_block(UInt data, Addr caller, ULong size)
{
	struct key key = {.data = data,
		.address = caller,
		.size = size >= CP_PROFILE_LARGE ? size : 0};
	UInt number = find_object(&key);
	struct cp_profile_object *out = profile_object(number);

	if (out)
		out->blocks++;
	return number;
}

UInt profile_heap_object(Addr caller, ULong size)
{
	return new_block(CP_DATA_HEAP, caller, size);
}

/* ---- mappings without a file ---- */

static void add_mapping(Addr start, Addr end, UInt number)
{
	if (known.nmappings == known.mappings_room) {
		known.mappings_room = known.mappings_room ? 2 * known.mappings_room : 64;
		known.mappings = VG_(realloc)("cachepeek.mappings", known.mappings,
			known.mappings_room * sizeof(*known.mappings));
	}
	known.mappings[known.nmappings++] = (struct mapping){start, end, number};
}

static const struct mapping *find_own_mapping(Addr a)
{
	for (UInt i = known.nmappings; i-- > 0;)
		if (a >= known.mappings[i].start && a < known.mappings[i].end)
			return &known.mappings[i];
	return NULL;
}

/* Takes [a, end) out of the mappings, whose other parts stay. */
static void cut_mappings(Addr a, Addr end)
{
	for (UInt i = known.nmappings; i-- > 0;) {
		struct mapping old = known.mappings[i];

		if (old.start >= end || old.end <= a)
			continue;
		known.mappings[i] = known.mappings[--known.nmappings];
		if (old.start < a)
			add_mapping(old.start, a, old.number);
		if (old.end > end)
			add_mapping(end, old.end, old.number);
	}
}

/* ---- addresses ---- */

static void forget_recent(void)
{
	VG_(memset)(known.recent, 0, sizeof(known.recent));
}

/* It may have the stack of one that has ended, or a block of the heap; of one that the
 * program has made by itself nobody knows where it begins. */
static void renew_stack(Addr low, Addr end)
{
	UInt why = bounds_why(low);
	Addr start;
	ULong size;

	if (why & BOUNDS_STACK)
		shadow_clear_part(low, end);
	if (why && !shadow_extent(end - 1, &start, &size))
		sharing_renew(low, end - low);
}

void profile_data_thread_begin(ThreadId tid, UInt thread)
{
	Addr top = VG_(thread_get_stack_max)(tid), low, end;
	Bool found = bounds_of(VG_(get_SP)(tid), &low, &end);

	if (!known.living)
		known.living = VG_(calloc)(
			"cachepeek.living", most_threads(), sizeof(*known.living));
	profile_settle();
	forget_recent();
	if (found && (top >= end || bounds_why(end) & BOUNDS_STACK))
		top = end - 1;
	known.living[known.nliving].tid = tid;
	known.living[known.nliving].thread = thread;
	known.living[known.nliving].low = VG_(get_SP)(tid);
	known.living[known.nliving++].top = top;
	if (found)
		renew_stack(low, top + 1);
}

void profile_data_thread_end(ThreadId tid)
{
	profile_settle();
	forget_recent();
	profile_tls_thread_end(tid);
	for (UInt i = 0; i < known.nliving; i++)
		if (known.living[i].tid == tid) {
			known.living[i] = known.living[--known.nliving];
			return;
		}
}

#define MOST_ABOVE 65536 /* a stack that a library made: variables of its thread */

/* A stack begins at start; one that the program took from the middle of a piece of its
 * memory, as Go does, at the lowest page that was used as one: below may be anything. */
static Addr lowest_page(UInt i, Addr start, Addr end)
{
	Addr low = VG_PGROUNDDN(known.living[i].low);

	return end - known.living[i].top > MOST_ABOVE && low > start ? low : start;
}

static void note_stack(void)
{
	ThreadId tid = VG_(get_running_tid)();
	Addr sp = tid ? VG_(get_SP)(tid) : 0;

	for (UInt i = 0; sp && i < known.nliving; i++)
		if (known.living[i].tid == tid && sp < known.living[i].low &&
			bounds_same(sp, known.living[i].top))
			known.living[i].low = sp;
}

/* Cuts all stacks out of what was found around a. */
static void leave_stacks_out(Addr a, struct recent *r)
{
	for (UInt i = 0; i < known.nliving; i++) {
		Addr top = known.living[i].top;

		if (top - r->start >= r->size)
			continue;
		if (top >= a) {
			r->size = VG_PGROUNDDN(a) + VKI_PAGE_SIZE - r->start;
			continue;
		}
		r->size -= top + 1 - r->start;
		r->start = top + 1;
	}
}

/* An address in several stacks that nobody has told apart is in the next one above. */
static Bool find_stack(Addr a, struct key *key, struct recent *r)
{
	Addr start, end, piece_end;
	UInt found = known.nliving;

	note_stack();
	if (!bounds_of(a, &start, &end))
		return False;
	piece_end = end;
	for (UInt i = 0; i < known.nliving; i++) {
		Addr top = known.living[i].top;

		if (top < a || top >= end)
			continue;
		end = top + 1;
		found = i;
	}
	if (found == known.nliving)
		return False;
	start = lowest_page(found, start, piece_end);
	if (a < start)
		return False;
	*key = (struct key){.data = CP_DATA_STACK, .thread = known.living[found].thread};
	for (UInt i = 0; i < known.nliving; i++)
		if (known.living[i].top < a && known.living[i].top >= start)
			start = known.living[i].top + 1;
	r->start = start;
	r->size = end - start;
	return True;
}

static Bool find_in_image(Addr a, struct key *key, struct recent *r)
{
	const struct image *image = profile_image_at(a);

	if (!image)
		return False;
	key->data = CP_DATA_VARIABLE;
	if (profile_image_variable(image, a, &r->start, &r->size)) {
		key->address = r->start;
		key->size = r->size;
		return True;
	}
	key->data = CP_DATA_MODULE;
	key->size = profile_image_writable(image, a);
	key->address = profile_image_start(image);
	return True;
}

static Bool find_mmap(Addr a, struct recent *r)
{
	const struct mapping *m = find_own_mapping(a);
	const NSegment *segment = m ? VG_(am_find_nsegment)(a) : NULL;

	if (!segment || segment->kind == SkFileC)
		return False;
	r->start = m->start;
	r->size = m->end - m->start;
	r->number = m->number;
	return True;
}

static void find_mapping(Addr a, struct key *key)
{
	const NSegment *segment = VG_(am_find_nsegment)(a);

	key->data = CP_DATA_UNKNOWN;
	if (!segment)
		return;
	key->data = shadow_has_blocks(a) || (a >= VG_(brk_base) && a < VG_(brk_limit))
			    ? CP_DATA_HEAP_OTHER
			    : CP_DATA_MAPPED;
	if (segment->kind == SkFileC)
		key->address = segment->start;
}

void profile_data_new_mapping(Addr start, ULong size, Addr caller)
{
	profile_settle();
	add_mapping(
		start, VG_PGROUNDUP(start + size), new_block(CP_DATA_MMAP, caller, size));
	forget_recent();
}

/* The rest of its page may be the heap's from now on. */
void profile_data_new_block(Addr a)
{
	known.recent[a >> 12 & (RECENT - 1)].size = 0;
}

/* Where in its block a variable is, is kept as its thread: of several threads they are
 * one. */
static Bool find_tls(Addr a, struct key *key, struct recent *r)
{
	ULong offset;

	if (!profile_tls_at(a, &key->address, &offset, &r->start, &r->size))
		return False;
	key->data = CP_DATA_TLS;
	key->thread = (UInt)offset;
	key->size = r->size;
	return True;
}

static void find_anew(Addr a, struct recent *r)
{
	struct key key = {.data = CP_DATA_UNKNOWN};

	r->size = 0;
	if (!find_tls(a, &key, r) && !find_stack(a, &key, r) &&
		!find_in_image(a, &key, r)) {
		if (find_mmap(a, r)) {
			leave_stacks_out(a, r);
			return;
		}
		find_mapping(a, &key);
		r->start = a & ~(VKI_PAGE_SIZE - 1);
		r->size = VKI_PAGE_SIZE;
		leave_stacks_out(a, r);
	}
	r->number = find_object(&key);
}

/* Within the granule or the page of which the shadow says the same. */
static void cut_extent(struct profile_extent *extent, const struct recent *r)
{
	Addr end = extent->start + extent->size;

	if (extent->start < r->start)
		extent->start = r->start;
	if (end > r->start + r->size)
		end = r->start + r->size;
	extent->size = end - extent->start;
}

void profile_extent_at(Addr a, struct profile_extent *extent)
{
	struct recent *r = &known.recent[a >> 12 & (RECENT - 1)];

	extent->object = shadow_extent(a, &extent->start, &extent->size);
	if (extent->object)
		return;
	if (a - r->start >= r->size)
		find_anew(a, r);
	extent->object = r->number;
	if (a - r->start < r->size)
		cut_extent(extent, r);
	else
		extent->size = 0;
}

struct cp_profile_object *profile_object_at(Addr a)
{
	struct profile_extent extent;

	profile_extent_at(a, &extent);
	return profile_object(extent.object);
}

/* ---- what comes and goes ---- */

void profile_data_unmapped(Addr a, SizeT len)
{
	Bool images = profile_image_unmapped(a, len), any = False;

	forget_recent();
	shadow_clear(a, len);
	sharing_renew(a, len);
	cut_mappings(a, a + len);
	profile_tls_unmapped(a, len);
	for (UInt i = 1; i <= known.nobjects; i++) {
		struct object *o = &known.objects[i];

		if (!images || o->gone || o->key.address < a || o->key.address >= a + len)
			continue;
		o->gone = any = True;
	}
	if (any)
		rebuild_index();
}

/* The child has its parent's blocks and variables, in a file of its own. */
void profile_data_fork_child(void)
{
	for (UInt i = 1; i <= known.nobjects; i++) {
		known.objects[i].out = NULL;
		known.objects[i].gone |= known.objects[i].key.data == CP_DATA_STACK;
	}
	if (known.nobjects)
		rebuild_index();
	known.nliving = 0;
	forget_recent();
}
