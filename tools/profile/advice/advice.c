/* SPDX-License-Identifier: MIT
 *
 * The rules.  Each is silent where it cannot be sure: what it does not see may be the
 * reason.
 */
#include "tools/profile/advice/advice.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/counts.h"
#include "base/text/table.h"
#include "tools/profile/model/symbols.h"

#define LEAST_SHARE CP_ADVICE_SHARE
#define LEAST_MISSES CP_ADVICE_MISSES
/* Shares of a place's misses at one distance.  From the lesser one on, steps of four and
 * more, lines have to be fetched again: a tile goes through its lines so, and uses them
 * up. */
#define STRIDED_SHARE 0.9
#define STRIDED_LEAST 0.75
#define WALKS_PER_PAGE 4
#define TIMES_AGAIN 4u  /* a line came into L2 */
#define READ_SHARE 0.05 /* of a stream's lines: nobody reads it */
/* Cycles per instruction that misses would take if nothing hid them: from here on it is
 * worth to mend them. */
#define LEAST_CYCLES 0.02

struct advice {
	const struct cp_profile *profile;
	const struct cp_profile_view *view; /* NULL: of what is shared */
	bool by_misses; /* findings weigh as much as the misses that they explain */
	size_t cheap, in_loader; /* so many were not worth it; so many the loader has */
	struct cp_findings found;
};

/* As reports show it, whichever instruction of a line, or of what has no name, it is, and
 * of a function that was made at run time, mostly several times. */
static bool same_place(
	const struct cp_place_in_code *one, const struct cp_place_in_code *other)
{
	if (!one || !other)
		return one == other;
	return strcmp(one->module->path, other->module->path) == 0 &&
	       strcmp(one->function, other->function) == 0 &&
	       strcmp(one->file, other->file) == 0 && one->line == other->line &&
	       ((*one->file && one->line) || !*one->function || !*one->module->path ||
		       one->address == other->address);
}

/* The same line of Python, whichever part of the interpreter it is for. */
static bool same_script(
	const struct cp_place_in_code *one, const struct cp_place_in_code *other)
{
	return one && other && same_place(one, other);
}

static struct cp_tally tally_of(
	const struct cp_profile *profile, const struct cp_finding *finding)
{
	struct cp_tally tally = {.only_kept = true};

	for (size_t i = 0; finding->at && i < profile->nsites; i++)
		if (same_place(finding->at, &profile->sites[i].at))
			cp_tally_site(&tally, &profile->sites[i]);
	for (size_t i = 0; !finding->at && i < profile->nobjects; i++)
		if (strcmp(profile->objects[i].name, finding->data) == 0)
			cp_tally_object(&tally, &profile->objects[i]);
	return tally;
}

static bool is_cheap(const struct advice *a, const struct cp_finding *finding)
{
	struct cp_tally tally = tally_of(a->profile, finding);
	uint64_t misses = tally.count[CP_SIM_l1d_load_lines] +
			  tally.count[CP_SIM_l1d_store_lines],
		 instructions = cp_profile_totals(a->profile).count[CP_SIM_instructions];

	return misses &&
	       finding->weight * cp_measure_cycles(a->profile, &tally) / (double)misses <
		       LEAST_CYCLES * (double)instructions;
}

static const struct cp_profiled_site *site_of(
	const struct cp_profile *profile, const struct cp_finding *finding)
{
	for (size_t i = 0; finding->at && i < profile->nsites; i++)
		if (&profile->sites[i].at == finding->at)
			return &profile->sites[i];
	return NULL;
}

static const struct cp_place_in_code *script_of(
	const struct cp_profile *profile, const struct cp_finding *finding)
{
	const struct cp_profiled_site *site = site_of(profile, finding);

	return site && site->script ? &profile->own[site->script - 1].at : NULL;
}

static const struct cp_profiled_module *module_of(
	const struct cp_profile *profile, const struct cp_finding *finding)
{
	if (finding->at)
		return finding->at->module;
	for (size_t i = 0; i < profile->nobjects; i++)
		if (strcmp(profile->objects[i].name, finding->data) == 0)
			return profile->objects[i].module;
	return NULL;
}

/* In the dynamic loader, or in the kernel's own page: no source of the program's could be
 * other, so that no advice could be followed. */
static bool is_in_loader(const struct advice *a, const struct cp_finding *finding)
{
	const struct cp_profiled_module *module = module_of(a->profile, finding);

	return module &&
	       ((strncmp(module->name, "ld", 2) == 0 && strchr("-.36", module->name[2]) &&
			strstr(module->name, ".so")) ||
		       strcmp(module->name, "[vdso]") == 0);
}

/* One of each kind and place: the weightiest, which knows how many others there are. */
static void add_finding(struct advice *a, struct cp_finding finding)
{
	if (a->by_misses && is_cheap(a, &finding)) {
		a->cheap++;
		return;
	}
	if (is_in_loader(a, &finding)) {
		a->in_loader++;
		return;
	}
	finding.script = script_of(a->profile, &finding);
	for (size_t i = 0; i < a->found.n; i++) {
		struct cp_finding *there = &a->found.finding[i];

		if (strcmp(there->rule, finding.rule) != 0 ||
			strcmp(there->data, finding.data) != 0 ||
			!(same_place(there->at, finding.at) ||
				same_script(there->script, finding.script)))
			continue;
		finding.more = ++there->more;
		if (finding.weight > there->weight)
			*there = finding;
		return;
	}
	if (a->found.n < CP_ADVICE_MOST)
		a->found.finding[a->found.n++] = finding;
}

static const char *number_text(const struct advice *a, uint64_t value)
{
	return cp_text_integer(a->profile->arena, value);
}

static const char *bytes_text(const struct advice *a, uint64_t value)
{
	static const char *const units[] = {"bytes", "KiB", "MiB", "GiB"};
	unsigned unit = 0;
	double v = (double)value;

	for (; v >= 1024 && unit < 3; unit++)
		v /= 1024;
	return cp_text_format(a->profile->arena, "%.*f %s",
		v == (double)cp_count_of(v) ? 0 : 1, v, units[unit]);
}

#define FORMAT(...) cp_text_format(a->profile->arena, __VA_ARGS__)

static uint64_t object_count(const struct cp_profiled_object *object, unsigned counter)
{
	return object->count[counter - CP_PROFILE_FIRST];
}

/* ---- a stride larger than a line ---- */

static uint64_t distance_of(const struct cp_profiled_site *site)
{
	return site->stride < 0 ? 0 - (uint64_t)site->stride : (uint64_t)site->stride;
}

/* Was each line of the data that it misses most fetched TIMES_AGAIN times, by all
 * instructions? */
static bool comes_again(
	const struct cp_profile *profile, const struct cp_profiled_site *site)
{
	const struct cp_profiled_object *data = cp_missed_data(profile, site);
	uint64_t lines =
		data ? data->size / profile->line * (data->blocks + !data->blocks) : 0;

	return lines && object_count(data, CP_SIM_l1d_load_misses) +
					object_count(data, CP_SIM_l1d_store_misses) >=
				TIMES_AGAIN * lines;
}

/* The limit that it is beyond, if it is. */
static double least_share(const struct cp_profiled_site *site)
{
	bool most = (double)site->strided >= STRIDED_SHARE * (double)site->asked;

	return most ? STRIDED_SHARE : STRIDED_LEAST;
}

static bool is_strided(
	const struct cp_profile *profile, const struct cp_profiled_site *site)
{
	double least = least_share(site);

	return site->asked >= LEAST_MISSES / 8 && distance_of(site) > profile->line &&
	       !cp_goes_in_step(site) &&
	       (double)site->strided >= least * (double)site->asked &&
	       (least == STRIDED_SHARE || comes_again(profile, site));
}

/* Which sites are, by their numbers. */
struct strides {
	const struct cp_profile *profile;
	bool *is;
};

static struct strides strides_in(const struct cp_profile *profile)
{
	struct strides strides = {profile,
		cp_arena_alloc(profile->arena, profile->nsites * sizeof(bool) + 1)};

	for (size_t i = 0; i < profile->nsites; i++)
		strides.is[i] = is_strided(profile, &profile->sites[i]);
	return strides;
}

static bool goes_along(
	const struct cp_profiled_site *site, const struct cp_profiled_site *other)
{
	uint64_t apart = site->last > other->last ? site->last - other->last
						  : other->last - site->last;

	return site->thread == other->thread && site->stride == other->stride &&
	       site->at.module == other->at.module &&
	       strcmp(site->at.function, other->at.function) == 0 &&
	       apart < distance_of(site);
}

bool cp_is_same_instruction(
	const struct cp_place_in_code *one, const struct cp_place_in_code *other)
{
	return one->address == other->address &&
	       (one->module == other->module ||
		       strcmp(one->module->path, other->module->path) == 0);
}

/* Sums of a loop over all threads. */
struct strided {
	uint64_t lines;          /* that a step touches */
	uint64_t misses;         /* of all its instructions */
	uint64_t at, strided_at; /* of this one, or spared it, and at the distance */
	struct cp_asked asked;   /* by all */
	struct cp_asked own;     /* by this one */
	size_t threads;
	bool first; /* no instruction before this one tells the same */
};

/* An unrolled loop touches all lines by several instructions: the lines that those of
 * one stride touch together, in this thread. */
static uint64_t lines_of_step(const struct strides *strides,
	const struct cp_profiled_site *site, struct strided *sum)
{
	const struct cp_profile *profile = strides->profile;
	uint64_t lines[64], n = 0;

	for (size_t i = 0; i < profile->nsites; i++) {
		const struct cp_profiled_site *other = &profile->sites[i];
		uint64_t line = other->last / profile->line, k = 0;

		if (!strides->is[i] || !goes_along(site, other))
			continue;
		sum->first &= other >= site || sum->threads > 1;
		sum->misses += other->misses;
		cp_asked_add(&sum->asked, other);
		while (k < n && lines[k] != line)
			k++;
		if (k == n && n < 64)
			lines[n++] = line;
	}
	return n;
}

static struct strided sum_of_loop(
	const struct strides *strides, const struct cp_profiled_site *site)
{
	const struct cp_profile *profile = strides->profile;
	struct strided sum = {.first = true};

	for (size_t i = 0; i < profile->nsites; i++) {
		const struct cp_profiled_site *twin = &profile->sites[i];
		uint64_t lines;

		if (!strides->is[i] || twin->stride != site->stride ||
			!cp_is_same_instruction(&site->at, &twin->at))
			continue;
		sum.threads++;
		sum.first &= twin >= site;
		sum.at += twin->asked;
		sum.strided_at += twin->strided;
		cp_asked_add(&sum.own, twin);
		lines = lines_of_step(strides, twin, &sum);
		if (lines > sum.lines)
			sum.lines = lines;
	}
	return sum;
}

static const char *in_threads(const struct advice *a, size_t threads)
{
	return threads > 1 ? cp_text_format(a->profile->arena, " in %zu threads", threads)
			   : "";
}

static const char *spared_too(const struct cp_asked *asked)
{
	return asked->spared_l1d ? CP_SPARED_TOO "," : "";
}

static bool is_worth_it(const struct cp_profile *profile,
	const struct cp_profiled_site *site, const struct strided *sum, uint64_t all)
{
	return distance_of(site) > profile->line * sum->lines && sum->first &&
	       sum->misses >= LEAST_MISSES &&
	       (double)sum->misses >= LEAST_SHARE * (double)all &&
	       !cp_is_followed(&sum->asked) &&
	       !cp_uses_whole_lines(profile, site, sum->misses);
}

static void judge_stride(struct advice *a, const struct strides *strides,
	const struct cp_profiled_site *site, uint64_t all)
{
	const struct cp_profile *profile = a->profile;
	uint64_t stride = distance_of(site);
	struct cp_finding finding;
	struct strided sum;

	sum = sum_of_loop(strides, site);
	if (!is_worth_it(profile, site, &sum, all))
		return;
	finding = (struct cp_finding){
		.rule = "stride",
		.at = &site->at,
		.data = "",
		.evidence = FORMAT("%s of its %s misses in L1D%s%s "
				   "are %s bytes from the one before, "
				   "which is more than the line of %s: "
				   "of each line that is fetched, a part is used "
				   "(%.1f %% of the run's misses)",
			number_text(a, sum.strided_at), number_text(a, sum.at),
			in_threads(a, sum.threads), spared_too(&sum.own),
			number_text(a, stride), number_text(a, profile->line),
			100 * (double)sum.misses / (double)all),
		.threshold = FORMAT("over %s bytes, in %.0f %% of its misses, "
				    "and %.0f %% of the run's",
			number_text(a, profile->line * sum.lines),
			100 * least_share(site), 100 * LEAST_SHARE),
		.advice = "Let the innermost loop go along memory: "
			  "exchange the loops, "
			  "or keep what is used together side by side "
			  "(a structure of arrays).",
		.weight = (double)sum.misses,
	};
	cp_advise_sets(profile,
		&(struct cp_steps){
			stride, sum.at, sum.strided_at, (double)sum.misses / (double)all},
		&finding);
	finding.evidence = FORMAT("%s%s", finding.evidence,
		cp_unfollowed(profile, &sum.own, cp_unfollowed_step(profile, stride)));
	add_finding(a, finding);
}

static uint64_t all_misses(const struct cp_profile *profile)
{
	uint64_t all = 0;

	for (size_t i = 0; i < profile->nsites; i++)
		all += profile->sites[i].misses;
	return all;
}

static void find_strides(struct advice *a)
{
	uint64_t all = all_misses(a->profile);
	struct strides strides;

	if (!a->profile->line)
		return;
	strides = strides_in(a->profile);
	for (size_t i = 0; i < a->profile->nsites; i++)
		if (strides.is[i])
			judge_stride(a, &strides, &a->profile->sites[i], all);
}

/* ---- what is known of data ---- */

/* Sum of the two counters over all objects. */
static uint64_t sum_of(const struct cp_profile *profile, unsigned x, unsigned y)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < profile->nobjects; i++)
		sum += object_count(&profile->objects[i], x) +
		       object_count(&profile->objects[i], y);
	return sum;
}

static bool has_size(const struct cp_profiled_object *object)
{
	return object->data == CP_DATA_VARIABLE || object->data == CP_DATA_HEAP;
}

/* Any part of what is mapped may be used: no less than that. */
static bool has_size_at_most(const struct cp_profiled_object *object)
{
	return has_size(object) || object->data == CP_DATA_MMAP;
}

/* Counts are those of all blocks that a call allocated, the size that of each. */
static uint64_t blocks_of(const struct cp_profiled_object *object)
{
	return object->data == CP_DATA_HEAP && object->blocks ? object->blocks : 1;
}

/* "it is 2 MiB", "it is 3 blocks of 2 MiB" */
static const char *size_of(
	const struct advice *a, const struct cp_profiled_object *object)
{
	if (blocks_of(object) == 1)
		return bytes_text(a, object->size);
	return FORMAT("%s blocks of %s", number_text(a, blocks_of(object)),
		bytes_text(a, object->size));
}

/* ---- more pages than the TLBs hold ---- */

static void judge_reach(
	struct advice *a, const struct cp_profiled_object *object, uint64_t all)
{
	const struct cp_profile *profile = a->profile;
	uint64_t walks = object_count(object, CP_SIM_dtlb_load_walks) +
			 object_count(object, CP_SIM_dtlb_store_walks),
		 pages = object->size / profile->page * blocks_of(object);

	if (!has_size_at_most(object) ||
		object->size / profile->page <= profile->tlb_entries ||
		walks < WALKS_PER_PAGE * pages || walks < LEAST_MISSES ||
		(double)walks < LEAST_SHARE * (double)all)
		return;
	add_finding(
		a, (struct cp_finding){
			   .rule = "tlb-reach",
			   .data = object->name,
			   .evidence = FORMAT("%s walks of the page table "
					      "for its %s pages "
					      "(%s), which is %.1f for each, "
					      "and %.1f %% of the run's; "
					      "the data TLBs hold %s pages (%s)",
				   number_text(a, walks), number_text(a, pages),
				   size_of(a, object), (double)walks / (double)pages,
				   100 * (double)walks / (double)all,
				   number_text(a, profile->tlb_entries),
				   bytes_text(a, profile->tlb_entries * profile->page)),
			   .threshold = FORMAT("more pages than the TLBs hold, "
					       "%u walks for each, "
					       "and %.0f %% of the run's",
				   WALKS_PER_PAGE, 100 * LEAST_SHARE),
			   .advice = "Try huge pages: madvise(MADV_HUGEPAGE), "
				     "GLIBC_TUNABLES=glibc.malloc.hugetlb=1, "
				     "java -XX:+UseTransparentHugePages; "
				     "or work through it in blocks.",
			   .weight = (double)walks,
		   });
}

/* Do walks cost little beside lines, if nothing hid either? */
static bool walks_cost_little(const struct cp_profile *profile, uint64_t walks)
{
	struct cp_tally tally = cp_profile_totals(profile);
	double cycles = CP_WALK_CYCLES * (double)walks;

	return cycles < LEAST_SHARE * (cycles + cp_measure_cycles(profile, &tally));
}

static void find_reach(struct advice *a)
{
	uint64_t all =
		sum_of(a->profile, CP_SIM_dtlb_load_walks, CP_SIM_dtlb_store_walks);

	if (!a->profile->page || !a->profile->tlb_entries ||
		(strcmp(a->view->measurement->name, "dcache") == 0 &&
			walks_cost_little(a->profile, all)))
		return;
	for (size_t i = 0; i < a->profile->nobjects; i++)
		judge_reach(a, &a->profile->objects[i], all);
}

/* ---- streams of writes ---- */

static uint64_t object_spared(const struct cp_profiled_object *object, unsigned which)
{
	return object->spared ? object->spared[which] : 0;
}

/* Lines that were written there by steps beyond them: a part of each, which is fetched
 * again for the others. */
static uint64_t written_across(
	const struct cp_profile *profile, const struct cp_profiled_object *object)
{
	uint64_t lines = 0;

	for (size_t i = 0; i < profile->nsites; i++) {
		const struct cp_profiled_site *site = &profile->sites[i];

		if (is_strided(profile, site) && cp_missed_data(profile, site) == object)
			lines += site->count[CP_SIM_l2_store_lines - CP_PROFILE_FIRST] +
				 (site->spared ? site->spared[CP_SPARED_L2_STORES] : 0);
	}
	return lines;
}

static void judge_stream(
	struct advice *a, const struct cp_profiled_object *object, uint64_t all)
{
	const struct cp_profile *profile = a->profile;
	uint64_t written = object_count(object, CP_SIM_l2_store_lines) +
			   object_spared(object, CP_SPARED_L2_STORES),
		 read = object_count(object, CP_SIM_l1d_load_lines) +
			object_spared(object, CP_SPARED_L1D_LOADS),
		 lines = object->size / profile->line * blocks_of(object);

	if (!has_size(object) || object->size <= profile->l2_bytes || written < lines ||
		(double)read > READ_SHARE * (double)written || written < LEAST_MISSES ||
		(double)written < LEAST_SHARE * (double)all ||
		2 * written_across(profile, object) > written)
		return;
	add_finding(
		a, (struct cp_finding){
			   .rule = "streaming-writes",
			   .data = object->name,
			   .evidence = FORMAT(
				   "%s lines of it were written into L2 and %s read: "
				   "it is %s, L2 %s, so that they push out what L2 held "
				   "(%.1f %% of the run's misses in L2%s)",
				   number_text(a, written), number_text(a, read),
				   size_of(a, object), bytes_text(a, profile->l2_bytes),
				   100 * (double)written / (double)all,
				   profile->prefetches ? CP_SPARED_TOO : ""),
			   .threshold = FORMAT("larger than L2, written as a whole, "
					       "at most %.0f %% of it read, "
					       "and %.0f %% of the run's misses in L2",
				   100 * READ_SHARE, 100 * LEAST_SHARE),
			   .advice = "Write around the caches (non-temporal stores, "
				     "as _mm_stream_si128 or large memcpy do), "
				     "or use what is written while it is there.",
			   .weight = (double)written,
		   });
}

static void find_streams(struct advice *a)
{
	uint64_t all = sum_of(a->profile, CP_SIM_l2_load_lines, CP_SIM_l2_store_lines);

	if (!a->profile->line || !a->profile->l2_bytes)
		return;
	for (size_t i = 0; i < a->profile->nobjects; i++)
		all += object_spared(&a->profile->objects[i], CP_SPARED_L2_LOADS) +
		       object_spared(&a->profile->objects[i], CP_SPARED_L2_STORES);
	for (size_t i = 0; i < a->profile->nobjects; i++)
		judge_stream(a, &a->profile->objects[i], all);
}

/* ---- a little more than L2 holds ---- */

static void judge_working_set(
	struct advice *a, const struct cp_profiled_object *object, uint64_t all)
{
	const struct cp_profile *profile = a->profile;
	uint64_t came = object_count(object, CP_SIM_l2_load_lines),
		 lines = object->size / profile->line * blocks_of(object);

	if (!has_size(object) || object->size <= profile->l2_bytes ||
		object->size > 2 * profile->l2_bytes || came < TIMES_AGAIN * lines ||
		came < LEAST_MISSES || (double)came < LEAST_SHARE * (double)all)
		return;
	add_finding(a,
		(struct cp_finding){
			.rule = "working-set",
			.data = object->name,
			.evidence = FORMAT("it is %s, L2 %s: "
					   "its %s lines were loaded into L2 %s times, "
					   "%.1f times each "
					   "(%.1f %% of the run's misses in L2)",
				size_of(a, object), bytes_text(a, profile->l2_bytes),
				number_text(a, lines), number_text(a, came),
				(double)came / (double)lines,
				100 * (double)came / (double)all),
			.threshold = FORMAT("up to twice L2's size, "
					    "each line loaded %u times, "
					    "and %.0f %% of the run's misses in L2",
				TIMES_AGAIN, 100 * LEAST_SHARE),
			.advice = "Work through it in blocks that fit L2, "
				  "or make its elements smaller: "
				  "a little less would stay there.",
			.weight = (double)came,
		});
}

static void find_working_sets(struct advice *a)
{
	uint64_t all = sum_of(a->profile, CP_SIM_l2_load_lines, CP_SIM_l2_store_lines);

	if (!a->profile->line || !a->profile->l2_bytes)
		return;
	for (size_t i = 0; i < a->profile->nobjects; i++)
		judge_working_set(a, &a->profile->objects[i], all);
}

/* ---- rules that have a file of their own ---- */

static void add_found(void *context, struct cp_finding finding)
{
	add_finding(context, finding);
}

static void find_updates(struct advice *a)
{
	if (a->profile->l2_bytes)
		cp_advise_updates(a->profile, all_misses(a->profile), add_found, a);
}

static void find_remote(struct advice *a)
{
	cp_advise_remote(a->profile, add_found, a);
}

static void find_chases(struct advice *a)
{
	if (a->profile->l2_bytes)
		cp_advise_chases(a->profile, all_misses(a->profile), add_found, a);
}

static void find_unprefetched(struct advice *a)
{
	cp_advise_prefetch(a->profile, add_found, a);
}

/* Is it said of a loop that goes through that data, too? */
static bool is_gone_through_in_steps(const struct advice *a, const char *data)
{
	for (size_t i = 0; i < a->found.n; i++) {
		const struct cp_finding *other = &a->found.finding[i];
		const struct cp_profiled_site *site = site_of(a->profile, other);
		const struct cp_profiled_object *of;

		if (!site || (strcmp(other->rule, "stride") != 0 &&
				     strcmp(other->rule, "set-conflicts") != 0))
			continue;
		of = cp_missed_data(a->profile, site);
		if (of && strcmp(of->name, data) == 0)
			return true;
	}
	return false;
}

/* Unasked, what a loop leaves of each line is said once. */
static void add_unused(void *context, struct cp_finding finding)
{
	const struct advice *a = context;

	if (a->profile->has_all_line_use || !is_gone_through_in_steps(a, finding.data))
		add_finding(context, finding);
}

static void find_unused_bytes(struct advice *a)
{
	cp_advise_line_use(a->profile, all_misses(a->profile), add_unused, a);
}

static void find_many_streams(struct advice *a)
{
	cp_advise_streams(a->profile, add_found, a);
}

static void find_split_records(struct advice *a)
{
	cp_advise_pairs(a->profile, all_misses(a->profile), add_found, a);
}

/* ---- what threads share ---- */

static void find_sharing(struct advice *a)
{
	cp_advise_false_sharing(&a->found, a->profile, all_misses(a->profile));
	cp_advise_contended(&a->found, a->profile);
}

static void find_code(struct advice *a)
{
	cp_advise_code(&a->found, a->view);
}

/* A process that executes another program has its first thread once more. */
static bool has_threads(const struct cp_profile *profile)
{
	const struct cp_profiled_thread *thread = profile->threads;

	for (size_t i = 1; i < profile->nthreads; i++)
		for (size_t k = 0; k < i; k++)
			if (thread[i].pid == thread[k].pid &&
				thread[i].tid != thread[k].tid)
				return true;
	return false;
}

/* Misses in L1D from which on it is worth a run to know which bytes of their lines are
 * used: so many (a program's start has a tenth), and per thousand instructions; and so
 * few lines that a sample saw. */
#define WORTH_LINE_USE 20000
#define WORTH_LINE_USE_RATE 1.0
#define FEW_LINES 1000

static bool wants_line_use(const struct cp_profile *profile)
{
	uint64_t instructions = cp_profile_totals(profile).count[CP_SIM_instructions],
		 misses = all_misses(profile);

	return !profile->has_all_line_use && profile->lines_looked_at < FEW_LINES &&
	       misses >= WORTH_LINE_USE &&
	       1000.0 * (double)misses >= WORTH_LINE_USE_RATE * (double)instructions;
}

/* Each takes as long again: it is not done unasked. */
static const char *not_looked_at(const struct cp_profile_view *view)
{
	const struct cp_profile *profile = view->profile;
	const char *sharing = "", *use = "";

	if (strcmp(view->measurement->name, "dcache") != 0 || profile->sampled ||
		profile->bursts)
		return NULL;
	if (!profile->slices && has_threads(profile))
		sharing = "false-sharing, lines that threads share (cachepeek dcache "
			  "--sharing, cachepeek sharing)";
	if (wants_line_use(profile))
		use = "unused-bytes, which bytes of a line are used (cachepeek dcache "
		      "--line-use)";
	return *sharing || *use ? cp_text_format(profile->arena, "%s%s%s", sharing,
					  *sharing && *use ? "; " : "", use)
				: NULL;
}

const char *cp_advice_why_none(bool sampled, bool bursts)
{
	if (bursts)
		return "not looked for: the rules go by counts that a sample does not "
		       "have of places";
	if (sampled)
		return "not looked for: no rule looks at samples: cachepeek dcache "
		       "PROGRAM simulates each miss";
	return "no rule finds anything to mend (libcachepeek(7), ADVICE)";
}

/* ---- all of them ---- */

static const struct {
	const char *measurement;
	void (*find)(struct advice *a);
	bool by_misses;
} rules[] = {
	{"dcache", find_strides, true},
	{"dcache", find_streams, false},
	{"dcache", find_working_sets, true},
	{"dcache", find_chases, true},
	{"dcache", find_updates, true},
	{"dcache", find_unprefetched, true},
	{"dcache", find_remote, false},
	{"dcache", find_unused_bytes, false},
	{"dcache", find_many_streams, false},
	{"dcache", find_split_records, true},
	{"dcache", find_reach, false},
	{"dcache", find_sharing, false},
	{"dtlb", find_reach, false},
	{"dtlb", find_many_streams, false},
	{"icache", find_code, false},
};

/* Data that have to be shared come behind those that need not be, and behind all what is
 * not the program's. */
static int weightiest_first(const void *x, const void *y)
{
	const struct cp_finding *a = x, *b = y;
	int behind = a->of_runtime - b->of_runtime;

	if (!behind)
		behind = cp_is_contended(a) - cp_is_contended(b);
	if (behind)
		return behind;
	return a->weight > b->weight ? -1 : a->weight < b->weight;
}

static struct advice advice_of(const struct cp_profile *profile)
{
	struct advice a = {.profile = profile};

	a.found.finding =
		cp_arena_alloc(profile->arena, CP_ADVICE_MOST * sizeof(*a.found.finding));
	return a;
}

/* So that nobody takes the weightiest for the only one. */
static void tell_of_others(struct advice *a)
{
	for (size_t i = 0; i < a->found.n; i++) {
		struct cp_finding *one = &a->found.finding[i];

		if (one->more)
			one->evidence = FORMAT("%s; and %u more %s", one->evidence,
				one->more, one->at ? "at this place" : "of this name");
	}
}

static void price_all(struct advice *a)
{
	for (size_t i = 0; i < a->found.n; i++) {
		const struct cp_tally place = tally_of(a->profile, &a->found.finding[i]);

		cp_finding_price(a->profile, &a->found.finding[i], &place);
	}
}

static struct cp_findings in_order(struct advice *a)
{
	price_all(a);
	tell_of_others(a);
	if (a->found.n)
		qsort(a->found.finding, a->found.n, sizeof(*a->found.finding),
			weightiest_first);
	return a->found;
}

static void tell_of_unsaid(struct advice *a)
{
	const char *cheap = FORMAT(
			   "%zu finding%s of misses that cost less than %.2f cycles per "
			   "instruction",
			   a->cheap, a->cheap == 1 ? "" : "s", LEAST_CYCLES),
		   *loader = FORMAT(
			   "%zu finding%s in the dynamic loader, which takes less where "
			   "fewer symbols are exported and looked up (static linking, "
			   "-fvisibility=hidden)",
			   a->in_loader, a->in_loader == 1 ? "" : "s");

	if (a->cheap || a->in_loader)
		a->found.below_limit = FORMAT("%s%s%s", a->cheap ? cheap : "",
			a->cheap && a->in_loader ? "; " : "", a->in_loader ? loader : "");
}

/* Names what a place's misses are in. */
static void name_data(const struct cp_profile *profile, struct cp_finding *finding)
{
	const struct cp_profiled_site *site = site_of(profile, finding);
	const struct cp_profiled_object *data =
		site && !*finding->data ? cp_missed_data(profile, site) : NULL;

	if (data)
		finding->data = data->name;
}

static void name_caller(const struct cp_profile *profile, struct cp_finding *finding)
{
	struct cp_place_in_code *caller = cp_arena_alloc(profile->arena, sizeof(*caller));

	if (finding->at && finding->at->module->symbols &&
		cp_symbols_caller(finding->at->module->symbols, profile->arena,
			finding->at, caller))
		finding->caller = caller;
}

struct cp_findings cp_advise(const struct cp_profile_view *view)
{
	struct advice a = advice_of(view->profile);

	a.view = view;
	a.found.not_looked_at = not_looked_at(view);
	a.found.why_none =
		cp_advice_why_none(view->profile->sampled, view->profile->bursts);
	for (size_t i = 0; !view->profile->sampled && !view->profile->bursts &&
			   i < sizeof(rules) / sizeof(rules[0]);
		i++)
		if (strcmp(rules[i].measurement, view->measurement->name) == 0) {
			a.by_misses = rules[i].by_misses;
			rules[i].find(&a);
		}
	tell_of_unsaid(&a);
	for (size_t i = 0; i < a.found.n; i++) {
		name_data(view->profile, &a.found.finding[i]);
		name_caller(view->profile, &a.found.finding[i]);
	}
	return in_order(&a);
}

struct cp_findings cp_advise_sharing(const struct cp_profile *profile)
{
	struct advice a = advice_of(profile);

	find_sharing(&a);
	return in_order(&a);
}
