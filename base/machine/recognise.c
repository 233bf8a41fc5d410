/* SPDX-License-Identifier: MIT
 *
 * The host, with what the machine file of its processor says of policies, inclusion,
 * prefetchers and time, and the TLBs that CPUID tells.  Sizes are the host's own.
 */
#include <string.h>

#include "base/format.h"
#include "base/machine/file.h"
#include "base/machine/host.h"
#include "base/machine/known.h"
#include "base/text.h"

#define MOST_WAYS 128

static enum cp_level for_huge(enum cp_level small)
{
	return small + CP_ITLB_2M - CP_ITLB;
}

static void add_note(struct cp_machine *machine, const char *format, const char *word)
{
	size_t used = strlen(machine->note);

	if (used)
		used += cp_format(
			machine->note + used, sizeof(machine->note) - used, "; ");
	if (used < sizeof(machine->note))
		cp_format(
			machine->note + used, sizeof(machine->note) - used, format, word);
}

/* ---- plain ---- */

/* The second level for data stands for both. */
static void join_second(struct cp_cache *level)
{
	static const enum cp_level apart[] = {
		CP_ITLB2, CP_DTLB2, CP_ITLB2_2M, CP_DTLB2_2M};

	if (level[CP_DTLB2].sets) {
		level[CP_STLB] = level[CP_DTLB2];
		level[CP_STLB_2M] = level[CP_DTLB2_2M];
	}
	for (int i = 0; i < 4; i++)
		memset(&level[apart[i]], 0, sizeof(level[apart[i]]));
}

static void make_plain(struct cp_cache *cache)
{
	cache->policy = CP_LRU;
	cache->inclusion = CP_NON_INCLUSIVE;
	cache->write_through = cache->no_allocate = cache->half_lines = false;
	cache->fp_bypass = false;
	cache->shared = 0;
	cp_prefetch_turn(cache, false);
}

void cp_machine_make_plain(struct cp_machine *machine)
{
	for (int level = 0; level < CP_NLEVELS; level++)
		make_plain(&machine->level[level]);
	join_second(machine->level);
}

/* ---- the machine file ---- */

/* The weights that differ between processors of one core, a bit each. */
static uint64_t of_one_model(const struct cp_machine *known)
{
	static const enum cp_weight_of far[] = {CP_OF_L3, CP_OF_MEMORY, CP_OF_NEAR_CACHE};
	uint64_t bits = known->clock_mhz ? 1ull << CP_ASSUMED_CLOCK : 0;

	for (int i = 0; i < 3; i++)
		if (cp_machine_latency(known, far[i]))
			bits |= 1ull << far[i];
	return bits;
}

static uint64_t bytes_of(const struct cp_cache *cache)
{
	return (uint64_t)cache->sets * cache->ways * cache->line;
}

/* Vendors document more ways than CPUID's older leaves tell of as many bytes: those of
 * the file hold.  Where the host hides a level, the file's stands for it. */
static void take_cache(struct cp_cache *known, const struct cp_cache *hosts)
{
	char why[128];
	const struct place at = {"", 0, why, sizeof(why), false};

	if (!hosts->sets || bytes_of(known) == bytes_of(hosts))
		return;
	known->sets = hosts->sets;
	known->ways = hosts->ways;
	known->line = hosts->line;
	known->shared = 0;
	if (!cp_level_check(&at, known))
		known->policy = CP_LRU;
}

/* Names what the host hides, if the file has it. */
static const char *name_hidden(
	const struct cp_machine *machine, const struct cp_machine *known)
{
	bool second = !machine->level[CP_L2].sets && known->level[CP_L2].sets,
	     third = !machine->level[CP_LLC].sets && known->level[CP_LLC].sets;

	if (!machine->level[CP_L1D].sets)
		return ", caches";
	return second && third ? ", L2, L3" : second ? ", L2" : third ? ", L3" : "";
}

static uint32_t threads_of_llc(const struct cp_machine *known)
{
	uint32_t cores = cp_machine_llc_cores(known);

	return (cores ? cores : known->cores) *
	       (known->shown.threads ? known->shown.threads : 1);
}

static bool take_known(struct cp_machine *machine, const struct cp_processor *processor,
	const struct cp_embedded *file, bool plain, char *why, size_t size)
{
	struct place at = {file->name, 0, why, size, false};
	struct cp_machine known = cp_machine_defaults;
	struct stated stated = {{0}, 0, 0, 0, 0};
	const char *hidden;
	char missing[64];

	if (cp_machine_parse(&known, file->name, file->text, why, size) < 0)
		return false;
	known.llc_threads = threads_of_llc(&known);
	hidden = name_hidden(machine, &known);
	for (int level = CP_L1I; level <= CP_LLC; level++)
		take_cache(&known.level[level], &machine->level[level]);
	known.cores = machine->cores;
	known.page = machine->page;
	known.events[0] = known.pmu[0] = '\0';
	if (processor->mhz)
		known.clock_mhz = processor->mhz;
	known.assumed |= of_one_model(&known);
	if (!cp_machine_check(&at, &known, &stated))
		return false;
	if (plain)
		cp_machine_make_plain(&known);
	cp_format(known.note, sizeof(known.note), "%slatencies%s%s of %.*s",
		plain ? "" : "policies, prefetchers, ",
		cp_machine_tells_time(&known, missing, sizeof(missing)) ? ", time" : "",
		hidden, (int)strcspn(file->name, "."), file->name);
	*machine = known;
	return true;
}

/* ---- a virtual machine's part of the last level ---- */

#define UNKNOWN_PART "a virtual machine: its share of the L3 is unknown"
#define UNIT_BYTES (1u << 18) /* the size is a multiple of it */

void cp_machine_share_llc(struct cp_machine *machine)
{
	struct cp_cache *llc = &machine->level[CP_LLC];
	char why[128], part[64];
	const struct place at = {"", 0, why, sizeof(why), false};
	uint64_t whole = bytes_of(llc), bytes = 0;

	if (machine->cores < machine->llc_threads)
		bytes = (uint64_t)__builtin_sqrt((double)whole * (double)whole /
						 machine->llc_threads * machine->cores) /
			UNIT_BYTES * UNIT_BYTES;
	if (!bytes || bytes % ((uint64_t)llc->ways * llc->line)) {
		add_note(machine, UNKNOWN_PART, "");
		return;
	}
	llc->sets = (uint32_t)(bytes / llc->ways / llc->line);
	if (!cp_level_check(&at, llc))
		llc->policy = CP_LRU;
	machine->assumed |= 1ull << CP_ASSUMED_LLC_SIZE;
	cp_format(part, sizeof(part), "%g of %g MiB", (double)bytes / (1 << 20),
		(double)whole / (1 << 20));
	add_note(machine, "a virtual machine: %s of L3 assumed", part);
}

/* ---- TLBs ---- */

/* Vendors document more ways than CPUID tells of as many entries: those of the file
 * hold. */
static void take_small(struct cp_cache *tlb, const struct cp_told_level *told)
{
	if (told->told == CP_NONE)
		tlb->sets = 0;
	if (told->told != CP_TOLD || told->ways > MOST_WAYS ||
		told->sets * told->ways == tlb->sets * tlb->ways)
		return;
	tlb->sets = told->sets;
	tlb->ways = told->ways;
}

static void take_huge(struct cp_cache *huge, const struct cp_told_level *told,
	const struct cp_cache *small)
{
	if (told->told == CP_UNTOLD)
		return;
	memset(huge, 0, sizeof(*huge));
	huge->absent = small->sets && told->told == CP_NONE;
	if (small->sets && told->told == CP_TOLD && told->ways <= MOST_WAYS) {
		huge->sets = told->sets;
		huge->ways = told->ways;
	}
}

static void take_tlbs(struct cp_machine *machine, const struct cp_cpuid_told *told)
{
	bool apart = machine->level[CP_DTLB2].sets;
	enum cp_level data = told->level[CP_DTLB2].told == CP_TOLD ? CP_DTLB2 : CP_STLB;
	const enum cp_level from[] = {CP_ITLB, CP_DTLB, data, CP_ITLB2},
			    to[] = {CP_ITLB, CP_DTLB, apart ? CP_DTLB2 : CP_STLB,
				    CP_ITLB2};

	for (int i = 0; i < (apart ? 4 : 3); i++) {
		take_small(&machine->level[to[i]], &told->level[from[i]]);
		if (machine->page == 4096)
			take_huge(&machine->level[for_huge(to[i])],
				&told->level[for_huge(from[i])], &machine->level[to[i]]);
	}
}

static void note_assumed(
	struct cp_machine *machine, const struct cp_cpuid_told *told, bool is_known)
{
	bool code = told->level[CP_ITLB].told == CP_TOLD,
	     data = told->level[CP_DTLB].told == CP_TOLD;

	if (!is_known)
		add_note(machine, "LRU and non-inclusive caches assumed", "");
	if (!code && !data && !is_known)
		add_note(machine, "TLB sizes assumed", "");
	else if (code != data && !is_known)
		add_note(machine, "%s size assumed", code ? "DTLB" : "ITLB");
	if (told->kind == CP_EFFICIENT_CORE)
		add_note(machine, "TLBs of an efficient core", "");
	if (told->kind == CP_PERFORMANCE_CORE)
		add_note(machine, "TLBs of a performance core", "");
}

/* In a hybrid, sysfs tells of the first processor, CPUID of the one that it is asked on.
 */
static bool is_other_core(
	const struct cp_machine *machine, const struct cp_cpuid_told *told)
{
	const struct cp_told_level *l1d = &told->level[CP_L1D];

	return told->kind && l1d->told == CP_TOLD &&
	       (l1d->sets != machine->level[CP_L1D].sets ||
		       l1d->ways != machine->level[CP_L1D].ways);
}

/* ---- a guest's processor ---- */

/* A hypervisor may tell another model than the processor's: it is the one of the vendor's
 * that has the machine's first two levels of caches, and executes all that this one does.
 */
static bool has_caches_of(const struct cp_machine *one, const struct cp_machine *other)
{
	for (int level = CP_L1I; level <= CP_L2; level++) {
		const struct cp_cache *a = &one->level[level], *b = &other->level[level];

		if (!a->sets || a->sets != b->sets || a->ways != b->ways ||
			a->line != b->line)
			return false;
	}
	return true;
}

static bool is_alike(const struct cp_embedded *file, const struct cp_processor *processor,
	const struct cp_machine *machine)
{
	struct cp_machine of = cp_machine_defaults;
	char error[160];

	/* Most files are of other vendors, and reading one takes its time. */
	return cp_ends_with(file->name, ".machine") &&
	       strstr(file->text, processor->vendor) &&
	       cp_machine_parse(&of, file->name, file->text, error, sizeof(error)) == 0 &&
	       strcmp(of.shown.vendor, processor->vendor) == 0 && of.shown.has_features &&
	       !(processor->features & ~of.shown.features) && has_caches_of(&of, machine);
}

/* The only file that is. */
static const struct cp_embedded *find_alike(const struct cp_embedded *files,
	const struct cp_processor *processor, const struct cp_machine *machine)
{
	const struct cp_embedded *found = NULL;

	for (const struct cp_embedded *file = files; file->name; file++) {
		if (!is_alike(file, processor, machine))
			continue;
		if (found)
			return NULL;
		found = file;
	}
	return found;
}

void cp_machine_recognise(struct cp_machine *machine,
	const struct cp_processor *processor, const struct cp_cpuid_told *told,
	const struct cp_embedded *files, bool plain)
{
	static const struct cp_cpuid_told nothing;
	char why[160];
	const struct cp_embedded *file =
		cp_known_find(files, processor, why, sizeof(why));
	bool by_caches = !file && !*why && processor->is_virtual, is_known;

	if (by_caches)
		file = find_alike(files, processor, machine);
	is_known = file && take_known(machine, processor, file, plain, why, sizeof(why));
	if (is_known && by_caches)
		add_note(machine, "chosen by its caches and features", "");
	if (*why)
		add_note(machine, "not recognised: %s", why);
	if (is_other_core(machine, told)) {
		add_note(machine, "this core is of another kind than the first", "");
		told = &nothing;
	}
	if (!machine->level[CP_L1D].sets)
		memcpy(machine->level, cp_machine_defaults.level,
			CP_ITLB * sizeof(machine->level[0]));
	take_tlbs(machine, told);
	note_assumed(machine, told, is_known);
	if (is_known && plain)
		add_note(machine, CP_PLAIN_CHOSEN, "");
}

/* ---- policies ---- */

bool cp_machine_take_policies(struct cp_machine *to, const struct cp_machine *of)
{
	bool took = false;

	for (int level = CP_L1I; level <= CP_LLC; level++) {
		struct cp_cache taken = of->level[level], *its = &to->level[level];

		if (!its->sets || !cp_machine_unlike_plain(of, (enum cp_level)level) ||
			cp_machine_unlike_plain(to, (enum cp_level)level))
			continue;
		take_cache(&taken, its);
		taken.latency = its->latency;
		*its = taken;
		took = true;
	}
	return took;
}
