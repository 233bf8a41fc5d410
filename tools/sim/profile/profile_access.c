/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Which instruction missed in which data: a site and an object, with the misses that they
 * have together.
 */
#include "base/probe.h"
#include "profile/profile.h"

#define EMPTY_SLOTS 4096

/* Open addressing.  Sites and objects stay where they are until a fork. */
struct access_slot {
	const struct cp_profile_site *site;
	struct cp_profile_access *access;
};

/* One for the process; a fork's child, whose profile is another file, empties it. */
static struct {
	struct access_slot *slots;
	ULong nslots, n; /* nslots: a power of two */
} accesses;

static struct access_slot *slot_of(const struct cp_profile_site *site, UInt object)
{
	ULong hash = cp_hash_word(((Addr)site >> 3) + cp_hash_word(object));
	struct access_slot *slots = accesses.slots;

	return &slots[CP_PROBE(accesses.nslots, hash >> 20, i,
		!slots[i].site ||
			(slots[i].site == site && slots[i].access->object == object))];
}

static void make_room(void)
{
	struct access_slot *old = accesses.slots;
	ULong nold = accesses.nslots;

	if (accesses.slots && accesses.n < accesses.nslots / 2)
		return;
	accesses.nslots = accesses.nslots ? 2 * accesses.nslots : EMPTY_SLOTS;
	accesses.slots = VG_(calloc)(
		"cachepeek.accesses", accesses.nslots, sizeof(*accesses.slots));
	for (ULong i = 0; i < nold; i++)
		if (old[i].site)
			*slot_of(old[i].site, old[i].access->object) = old[i];
	VG_(free)(old);
}

static struct cp_profile_access *access_of(
	const struct cp_profile_site *site, const struct cp_profile_object *object)
{
	struct access_slot *slot;

	make_room();
	slot = slot_of(site, object->id);
	if (slot->site)
		return slot->access;
	slot->access = profile_allocate(sizeof(*slot->access));
	if (!slot->access)
		return NULL;
	slot->site = site;
	slot->access->thread = site->thread;
	slot->access->module = site->module;
	slot->access->instruction = site->instruction;
	slot->access->part = (uint32_t)site->part;
	slot->access->object = object->id;
	accesses.n++;
	profile_publish(slot->access, CP_PROFILE_ACCESS);
	return slot->access;
}

static const UInt kept[] = {CP_PROFILE_ACCESS_COUNTERS};

void profile_access_before(
	const struct cp_profile_object *object, ULong before[CP_PROFILE_ACCESSED])
{
	for (UInt i = 0; i < CP_PROFILE_ACCESSED; i++)
		before[i] = object->count[kept[i]];
}

void profile_access_after(const struct cp_profile_site *site,
	const struct cp_profile_object *object, const ULong before[CP_PROFILE_ACCESSED])
{
	struct cp_profile_access *access = NULL;

	if (site->entry.kind != CP_PROFILE_SITE) /* there was no room for it */
		return;
	for (UInt i = 0; i < CP_PROFILE_ACCESSED; i++) {
		ULong more = object->count[kept[i]] - before[i];

		if (!more)
			continue;
		if (!access)
			access = access_of(site, object);
		if (!access)
			return;
		access->count[i] += more;
	}
}

/* Its file has none of its parent's. */
void profile_access_fork_child(void)
{
	VG_(free)(accesses.slots);
	accesses.slots = NULL;
	accesses.nslots = accesses.n = 0;
}
