/* SPDX-License-Identifier: MIT
 *
 * The rule about what prefetchers cannot follow, and what other rules say of prefetchers.
 */
#include <string.h>

#include "base/text/table.h"
#include "tools/profile/advice/advice.h"

#define FOLLOWED_SHARE 0.75 /* of what would have missed */
#define WALK_SHARE 0.9      /* at one distance: a walk */
#define STRIDED_MOST 0.5    /* at none: here and there */
#define NO_DISTANCE "no distance between its addresses repeats"
#define FEW_STEPS 8 /* in a page */

static uint64_t count_of(const uint64_t *count, unsigned counter)
{
	return count[counter - CP_PROFILE_FIRST];
}

static struct cp_asked asked_by(const uint64_t *count, const uint64_t *spared)
{
	return (struct cp_asked){
		.l1d = count_of(count, CP_SIM_l1d_load_lines) +
		       count_of(count, CP_SIM_l1d_store_lines),
		.l2 = count_of(count, CP_SIM_l2_load_lines) +
		      count_of(count, CP_SIM_l2_store_lines),
		.spared_l1d = spared ? spared[CP_SPARED_L1D_LOADS] +
					       spared[CP_SPARED_L1D_STORES]
				     : 0,
		.spared_l2 =
			spared ? spared[CP_SPARED_L2_LOADS] + spared[CP_SPARED_L2_STORES]
			       : 0,
	};
}

struct cp_asked cp_asked_of(const struct cp_profiled_site *site)
{
	return asked_by(site->count, site->spared);
}

static void add_asked(struct cp_asked *sum, struct cp_asked more)
{
	sum->l1d += more.l1d;
	sum->l2 += more.l2;
	sum->spared_l1d += more.spared_l1d;
	sum->spared_l2 += more.spared_l2;
}

void cp_asked_add(struct cp_asked *sum, const struct cp_profiled_site *site)
{
	add_asked(sum, cp_asked_of(site));
}

struct cp_asked cp_asked_for(const struct cp_profiled_object *object)
{
	struct cp_asked sum = {0};

	for (object = object->first_of_name; object; object = object->next_of_name)
		add_asked(&sum, asked_by(object->count, object->spared));
	return sum;
}

/* Does most of what L1D lacks come from behind L2? */
static bool is_far(const struct cp_asked *asked)
{
	return 2 * (asked->l2 + asked->spared_l2) >= asked->l1d + asked->spared_l1d;
}

static bool is_spared(uint64_t missed, uint64_t spared)
{
	return (double)spared >= FOLLOWED_SHARE * (double)(missed + spared) && spared;
}

bool cp_is_followed(const struct cp_asked *asked)
{
	return is_spared(asked->l1d, asked->spared_l1d) ||
	       (is_far(asked) && is_spared(asked->l2, asked->spared_l2));
}

const char *cp_unfollowed(
	const struct cp_profile *profile, const struct cp_asked *asked, const char *why)
{
	bool far = is_far(asked);
	uint64_t spared = far ? asked->spared_l2 : asked->spared_l1d,
		 all = spared + (far ? asked->l2 : asked->l1d);

	if (!profile->prefetches || !all)
		return "";
	return cp_text_format(profile->arena,
		"; prefetchers spare it %.0f %% of %s misses in %s%s%s",
		100 * (double)spared / (double)all, cp_text_integer(profile->arena, all),
		far ? "L2" : "L1D", *why ? ": " : "", why);
}

const char *cp_unfollowed_step(const struct cp_profile *profile, uint64_t distance)
{
	const char *page = cp_text_integer(profile->arena, profile->page),
		   *bytes = cp_text_integer(profile->arena, profile->followed_bytes);

	if (distance >= profile->page)
		return cp_text_format(profile->arena,
			"each step leaves its page of %s bytes, where they stop", page);
	if (profile->followed_bytes && distance > profile->followed_bytes)
		return cp_text_format(profile->arena,
			"they follow no step of more than %s bytes", bytes);
	if (distance * FEW_STEPS > profile->page)
		return cp_text_format(profile->arena,
			"a page of %s bytes, where they stop, has few such steps", page);
	return "";
}

/* ---- the rule ---- */

struct search {
	const struct cp_profile *profile;
	uint64_t all; /* the run's misses in L2 */
	void (*add)(void *context, struct cp_finding finding);
	void *context;
};

static bool is_worth_it(const struct search *s, const struct cp_asked *asked)
{
	return asked->l2 >= CP_ADVICE_MISSES &&
	       (double)asked->l2 >= CP_ADVICE_SHARE * (double)s->all && is_far(asked) &&
	       !is_spared(asked->l2, asked->spared_l2);
}

static void say(const struct search *s, const struct cp_profiled_site *site,
	const struct cp_asked *asked, const char *what, const char *why,
	const char *advice)
{
	struct cp_arena *arena = s->profile->arena;

	s->add(s->context, (struct cp_finding){
				   .rule = "unprefetched",
				   .at = &site->at,
				   .data = "",
				   .evidence = cp_text_format(arena,
					   "%s%s misses in L2 wait for their lines "
					   "(%.1f %% of the run's)%s",
					   what, cp_text_integer(arena, asked->l2),
					   100 * (double)asked->l2 / (double)s->all,
					   s->profile->prefetches
						   ? cp_unfollowed(s->profile, asked, why)
						   : "; " NO_DISTANCE
						     ", so that no prefetcher follows"),
				   .threshold = cp_text_format(arena,
					   "%.0f %% of the run's misses in L2, "
					   "most of its misses in L1D are some, "
					   "and less than %.0f %% spared",
					   100 * CP_ADVICE_SHARE, 100 * FOLLOWED_SHARE),
				   .advice = advice,
				   .weight = (double)asked->l2,
			   });
}

/* One line after the other, up or down, that does not come early enough. */
static bool is_lost_stream(
	const struct cp_profile *profile, const struct cp_profiled_site *site)
{
	struct cp_asked asked = cp_asked_of(site);
	uint64_t line = profile->line;

	return asked.l2 && !is_spared(asked.l2, asked.spared_l2) && site->stride &&
	       (uint64_t)(site->stride + (int64_t)line) <= 2 * line &&
	       (double)site->strided >= WALK_SHARE * (double)site->asked;
}

static bool go_together(
	const struct cp_profiled_site *one, const struct cp_profiled_site *other)
{
	return one->thread == other->thread && one->at.module == other->at.module &&
	       *one->at.function && strcmp(one->at.function, other->at.function) == 0;
}

/* Says it at the first of the function's. */
static void judge_streams(const struct search *s, const struct cp_profiled_site *site)
{
	const struct cp_profile *profile = s->profile;
	struct cp_asked sum = {0};
	size_t n = 0;

	for (size_t i = 0; i < profile->nsites; i++) {
		const struct cp_profiled_site *other = &profile->sites[i];

		if (!go_together(site, other) || !is_lost_stream(profile, other))
			continue;
		if (other < site)
			return;
		cp_asked_add(&sum, other);
		n++;
	}
	if (!profile->followed_pages || n <= profile->followed_pages ||
		!is_worth_it(s, &sum))
		return;
	say(s, site, &sum,
		cp_text_format(profile->arena,
			"%zu instructions each go through memory of their own: these ",
			n),
		cp_text_format(profile->arena, "they follow %lu pages at once",
			(unsigned long)profile->followed_pages),
		"Split the loop, so that each part goes through fewer arrays, "
		"or keep what is used together side by side (an array of structures).");
}

/* Advises about data here and there, by what they are. */
static const char *advice_for(
	const struct cp_profile *profile, const struct cp_profiled_site *site)
{
	const struct cp_profiled_object *data = cp_missed_data(profile, site);

	if (site->script)
		return CP_ADVICE_FOR_PYTHON;
	if (data && data->data == CP_DATA_HEAP && data->size < CP_PROFILE_LARGE)
		return "Keep objects that are used one after another side by side: in an "
		       "array of objects, not of pointers, or allocated in that order; "
		       "or ask for lines early (__builtin_prefetch some rounds ahead).";
	if (data && data->data == CP_DATA_MMAP)
		return "Keep objects that are used one after another side by side "
		       "(allocated in that order, or by value in an array), "
		       "or look up in the order of addresses, in parts that fit L2.";
	return "Ask for lines early (__builtin_prefetch some rounds ahead), "
	       "look up in the order of addresses, in parts that fit L2, "
	       "or make the elements smaller.";
}

/* Lines beside those that it asked for lately are of streams, in whatever order. */
static bool is_scattered(const struct cp_profiled_site *site)
{
	return (double)site->strided < STRIDED_MOST * (double)site->asked &&
	       site->steps &&
	       (double)site->steps->goes_on < STRIDED_MOST * (double)site->asked &&
	       !cp_is_chase(site) && !cp_is_update(site);
}

static void judge_scattered(const struct search *s, const struct cp_profiled_site *site)
{
	struct cp_asked asked = cp_asked_of(site);

	if (is_worth_it(s, &asked) && is_scattered(site))
		say(s, site, &asked, "its ", NO_DISTANCE, advice_for(s->profile, site));
}

void cp_advise_prefetch(const struct cp_profile *profile,
	void (*add)(void *context, struct cp_finding finding), void *context)
{
	struct search s = {profile, 0, add, context};

	if (!profile->l2_bytes)
		return;
	for (size_t i = 0; i < profile->nsites; i++)
		s.all += cp_asked_of(&profile->sites[i]).l2;
	for (size_t i = 0; i < profile->nsites; i++) {
		if (!is_lost_stream(profile, &profile->sites[i]))
			judge_scattered(&s, &profile->sites[i]);
		else if (profile->prefetches)
			judge_streams(&s, &profile->sites[i]);
	}
}
