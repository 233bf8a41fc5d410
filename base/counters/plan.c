/* SPDX-License-Identifier: MIT */
#include "base/counters/plan.h"

#include <errno.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/syscall.h"

const struct cp_machine *cp_plan_machine(const struct cp_plan *plan)
{
	return plan->nmachines ? &plan->machine[0] : NULL;
}

/* ---- texts ---- */

void cp_plan_add_text(struct cp_plan *plan, struct cp_arena *arena,
	enum cp_plan_text kind, const char *text)
{
	size_t length = strlen(text) + 1, size = plan->texts_size + 1 + length;
	char *to;

	if (size > plan->texts_room) {
		plan->texts_room = size * 2;
		to = cp_arena_alloc(arena, plan->texts_room);
		if (plan->texts_size)
			memcpy(to, plan->texts, plan->texts_size);
		plan->texts = to;
	}
	to = plan->texts + plan->texts_size;
	*to = (char)kind;
	memcpy(to + 1, text, length);
	plan->texts_size = size;
}

const char *cp_plan_next_text(
	const struct cp_plan *plan, enum cp_plan_text kind, size_t *at)
{
	while (*at < plan->texts_size) {
		const char *text = plan->texts + *at;

		*at += strlen(text) + 1;
		if (*text == (char)kind)
			return text + 1;
	}
	return NULL;
}

/* ---- as a file ---- */

/* A plan of another layout is another version's. */
struct head {
	char version[32];
	uint64_t key;
	uint32_t plan_size, event_set_size, machine_size;
	uint32_t nmachines, window;
	uint64_t texts_size;
	struct cp_weights weights;
	struct cp_sweep_plan sweep;
	struct cp_sample_plan sample;
};

/* Padding is 0, not what lay on the program's stack. */
static void set_head(struct head *head, const struct cp_plan *plan, uint64_t key)
{
	memset(head, 0, sizeof(*head));
	memcpy(head->version, CP_VERSION, sizeof(CP_VERSION));
	head->key = key;
	head->plan_size = sizeof(*plan);
	head->event_set_size = sizeof(plan->set);
	head->machine_size = sizeof(plan->machine[0]);
	head->nmachines = plan->nmachines;
	head->window = plan->window;
	head->texts_size = plan->texts_size;
	head->weights = plan->weights;
	head->sweep = plan->sweep;
	head->sample = plan->sample;
}

/* The event set up to its arrays, and as much of the arrays as is in use. */
enum { SET, COUNTERS, QUANTITIES, MACHINES, TEXTS, NPIECES };

static void find_pieces(const struct cp_plan *plan, struct iovec pieces[NPIECES])
{
	const struct cp_event_set *set = &plan->set;

	pieces[SET] = (struct iovec){
		(void *)(uintptr_t)set, offsetof(struct cp_event_set, counters)};
	pieces[COUNTERS] = (struct iovec){(void *)(uintptr_t)set->counters,
		set->ncounters * sizeof(set->counters[0])};
	pieces[QUANTITIES] = (struct iovec){(void *)(uintptr_t)set->quantities,
		set->nquantities * sizeof(set->quantities[0])};
	pieces[MACHINES] = (struct iovec){(void *)(uintptr_t)plan->machine,
		plan->nmachines * sizeof(plan->machine[0])};
	pieces[TEXTS] = (struct iovec){plan->texts, plan->texts_size};
}

static int result_of(long done, size_t wanted)
{
	if (done < 0)
		return (int)done;
	return (size_t)done == wanted ? 0 : -EBADMSG;
}

static size_t total_size(const struct iovec pieces[], unsigned first, unsigned end)
{
	size_t size = 0;

	for (unsigned i = first; i < end; i++)
		size += pieces[i].iov_len;
	return size;
}

int cp_plan_write(const struct cp_plan *plan, uint64_t key, int fd)
{
	struct head head;
	struct iovec pieces[NPIECES];
	int result;

	set_head(&head, plan, key);
	result = result_of(write(fd, &head, sizeof(head)), sizeof(head));
	if (result < 0)
		return result;
	find_pieces(plan, pieces);
	return result_of(cp_syscall(SYS_writev, fd, pieces, NPIECES),
		total_size(pieces, 0, NPIECES));
}

static bool is_ended(const char *text, size_t size)
{
	return memchr(text, '\0', size) != NULL;
}

static bool is_sound_mirror(const struct cp_counter *counter, bool sampled)
{
	if (counter->sampled)
		return sampled && counter->mirror >= CP_SIM_SAMPLE &&
		       counter->mirror <=
			       CP_SIM_SAMPLE + CP_SIM_SAMPLE_WORDS - CP_SIM_PARTS;
	return counter->mirror == CP_NO_MIRROR || counter->mirror < CP_SIM_NALL;
}

/* Where other code trusts the numbers of a set, they are in bounds. */
static bool is_sound_set(const struct cp_event_set *set, bool sampled)
{
	for (unsigned i = 0; i < set->nparts; i++)
		if (set->parts[i].counter >= set->ncounters)
			return false;
	for (unsigned i = 0; i < CP_MAX_PERF_GROUPS; i++)
		if (set->reference[i] > set->ngroups)
			return false;
	for (unsigned i = 0; i < set->ncounters; i++)
		if (set->counters[i].group >= CP_MAX_PERF_GROUPS ||
			!is_sound_mirror(&set->counters[i], sampled) ||
			!is_ended(set->counters[i].name, CP_NAME_SIZE))
			return false;
	for (unsigned i = 0; i < set->nquantities; i++) {
		const struct cp_quantity *quantity = &set->quantities[i];

		if (quantity->nterms > CP_MAX_TERMS ||
			!is_ended(quantity->name, CP_NAME_SIZE) ||
			!is_ended(quantity->why.text, CP_WHY_SIZE))
			return false;
		for (unsigned t = 0; t < quantity->nterms; t++)
			if (quantity->terms[t].counter >= set->ncounters)
				return false;
	}
	return true;
}

/* Checks the indices of tables, and texts. */
static bool is_sound_machine(const struct cp_machine *machine)
{
	for (unsigned i = 0; i < CP_NLEVELS; i++) {
		const struct cp_cache *cache = &machine->level[i];

		if (cache->policy >= CP_NPOLICIES || cache->inclusion > CP_EXCLUSIVE ||
			!cp_prefetch_is_sound(cache))
			return false;
	}
	return is_ended(machine->name, sizeof(machine->name)) &&
	       is_ended(machine->events, sizeof(machine->events)) &&
	       is_ended(machine->pmu, sizeof(machine->pmu)) &&
	       is_ended(machine->note, sizeof(machine->note)) &&
	       is_ended(machine->measured, sizeof(machine->measured)) &&
	       is_ended(machine->host, sizeof(machine->host));
}

static bool is_sound_weight(const struct cp_weight *weight)
{
	return (unsigned)weight->from < CP_NWEIGHT_FROM;
}

static bool is_sound(const struct cp_plan *plan)
{
	for (unsigned i = 0; i < plan->nmachines; i++)
		if (!is_sound_machine(&plan->machine[i]))
			return false;
	for (unsigned i = 0; i < CP_NWEIGHTS; i++)
		if (!is_sound_weight(&plan->weights.of[i]))
			return false;
	return is_sound_set(&plan->set, plan->sample.sets != 0) &&
	       (unsigned)plan->sweep.level < CP_NLEVELS &&
	       plan->sample.sets <= CP_SAMPLE_GROUPS &&
	       plan->sweep.npoints <= CP_SIM_SWEEP_POINTS &&
	       is_ended(plan->sweep.field, sizeof(plan->sweep.field)) &&
	       is_ended(plan->sweep.why, sizeof(plan->sweep.why)) &&
	       (!plan->texts_size || plan->texts[plan->texts_size - 1] == '\0');
}

static int read_head(struct cp_plan *plan, uint64_t key, int fd)
{
	struct head head, ours;
	int result = result_of(read(fd, &head, sizeof(head)), sizeof(head));

	if (result < 0)
		return result;
	plan->nmachines = head.nmachines;
	plan->window = head.window;
	plan->texts_size = plan->texts_room = head.texts_size;
	plan->weights = head.weights;
	plan->sweep = head.sweep;
	plan->sample = head.sample;
	set_head(&ours, plan, key);
	if (memcmp(&head, &ours, offsetof(struct head, nmachines)) != 0 ||
		head.nmachines > CP_MAX_MACHINES || head.texts_size > CP_PLAN_MOST)
		return -EBADMSG;
	return 0;
}

int cp_plan_read(struct cp_plan *plan, uint64_t key, int fd, struct cp_arena *arena)
{
	struct iovec pieces[NPIECES];
	int result = read_head(plan, key, fd);

	if (result < 0)
		return result;
	plan->texts = cp_arena_alloc(arena, plan->texts_size);
	find_pieces(plan, pieces);
	result = result_of(cp_syscall(SYS_readv, fd, pieces, 1), pieces[SET].iov_len);
	if (result < 0)
		return result;
	if (plan->set.ncounters > CP_MAX_COUNTERS ||
		plan->set.nquantities > CP_MAX_QUANTITIES ||
		plan->set.nparts > CP_MAX_PARTS ||
		plan->set.ngroups > CP_MAX_PERF_GROUPS ||
		plan->set.nrotated > plan->set.ngroups)
		return -EBADMSG;
	find_pieces(plan, pieces);
	result = result_of(
		cp_syscall(SYS_readv, fd, pieces + COUNTERS, NPIECES - COUNTERS),
		total_size(pieces, COUNTERS, NPIECES));
	if (result == 0 && !is_sound(plan))
		result = -EBADMSG;
	return result;
}
