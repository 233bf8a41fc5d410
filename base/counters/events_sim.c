/* SPDX-License-Identifier: MIT
 *
 * Events of the simulated PMU: its presets (output/presets/sim.events), its raw
 * counters by name, and the events that the simulated machine's own PMU has.
 */
#include <string.h>
#include <strings.h>

#include "base/embedded.h"
#include "base/counts.h"
#include "base/format.h"
#include "base/text.h"
#include "output/metrics/other_names.h"
#include "output/metrics/preset.h"
#include "base/counters/events_internal.h"
#include "tools/sim/request.h"

static const char *const raw_names[] = {
#define X(name, meaning) #name,
	CP_SIM_COUNTERS (X)
#undef X
		NULL,
};

static int raw_index(const char *name)
{
	for (int i = 0; raw_names[i]; i++)
		if (strcmp(raw_names[i], name) == 0)
			return i;
	return -1;
}

/* ---- what the machine does not have ---- */

/* Counted where there are several sockets. */
static bool is_remote(const char *name)
{
	static const char *const names[] = {"remote_hitm", "one_hop_lines",
		"two_hop_lines", "loads_one_hop", "loads_two_hop", "loads_remote_cache",
		"remote_prefetches"};

	return CP_IS_AMONG(name, names);
}

/* The level whose prefetchers are what is counted, if it has none. */
static const char *missing_prefetcher(const struct cp_cache *level, const char *name)
{
	static const struct {
		enum cp_level level;
		const char *prefix, *missing, *off;
	} rows[] = {
		{CP_L1I, "l1i_", "prefetcher of L1I (prefetch=)",
			"prefetcher of L1I (prefetch=none takes it away)"},
		{CP_L1D, "l1d_", "prefetcher of L1D (prefetch=)",
			"prefetcher of L1D (prefetch=none takes it away)"},
		{CP_L2, "l2_", "prefetcher of L2 (prefetch=)",
			"prefetcher of L2 (prefetch=none takes it away)"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *rest = name + strlen(rows[i].prefix);

		if (cp_starts_with(name, rows[i].prefix) &&
			!cp_has_prefetcher(&level[rows[i].level]) &&
			(cp_starts_with(rest, "hw_prefetch_") ||
				cp_starts_with(rest, "hardware_prefetches") ||
				cp_starts_with(rest, "prefetches_used") ||
				cp_starts_with(rest, "prefetches_useless")))
			return level[rows[i].level].without[0].kind ? rows[i].off
								    : rows[i].missing;
	}
	return NULL;
}

/* The level that a raw counter or a preset is about, if the machine lacks it. */
static const char *missing_level(const struct cp_machine *machine, const char *name)
{
	const struct cp_cache *level = machine->level;

	if (cp_starts_with(name, "l2_") && !level[CP_L2].sets)
		return "L2";
	if (cp_starts_with(name, "llc_") && !level[CP_LLC].sets)
		return "last level behind L2";
	if (cp_starts_with(name, "fb_full") && !machine->fill_buffers)
		return "number of fill buffers in its file";
	if (is_remote(name) && machine->sockets <= 1)
		return "sockets in its file: all memory is one socket's";
	if (strcmp(name, "l1d_half_writebacks") == 0 && !level[CP_L1D].half_lines)
		return "dirty bits for half lines";
	return missing_prefetcher(level, name);
}

static bool is_timed(int mirror)
{
	return mirror >= (int)CP_SIM_TIMED && mirror < (int)CP_SIM_TIMED_END;
}

/* Why the cycles of the machine are not counted; false: they are. */
static bool is_timeless(const struct cp_machine *machine, char *why, size_t size)
{
	char missing[160];

	if (machine->timing == CP_TIMING_OFF) {
		cp_format(why, size, "CACHEPEEK_TIMING=off");
		return true;
	}
	if (cp_machine_tells_time(machine, missing, sizeof(missing)))
		return false;
	if (strcmp(machine->name, "host") == 0)
		cp_format(why, size,
			"this processor's latencies of %s are not known: `cachepeek "
			"doctor --calibrate` measures them, or count on another machine "
			"(CACHEPEEK_MACHINE)",
			missing);
	else
		cp_format(why, size, "the machine file names no latency of %s", missing);
	return true;
}

/* ---- what can be sampled ---- */

static const char *const sampled_names[] = {
#define X(name) #name,
	CP_SIM_BURST_COUNTERS(X) CP_SIM_SET_COUNTERS(X)
#undef X
		NULL,
};

/* Which of the sampled counters it is; -1: none. */
static int sampled_index(const char *name)
{
	for (int i = 0; sampled_names[i]; i++)
		if (strcmp(sampled_names[i], name) == 0)
			return i;
	return -1;
}

unsigned cp_sample_firsts(unsigned sampled)
{
	static const unsigned char of[CP_SIM_NBURST] = {
		[CP_SIM_BURST_l1i_misses] = CP_FIRSTS_CODE,
		[CP_SIM_BURST_l1d_load_lines] = CP_FIRSTS_LOADS,
		[CP_SIM_BURST_l1d_load_misses] = CP_FIRSTS_LOADS,
		[CP_SIM_BURST_l1d_store_lines] = CP_FIRSTS_STORES,
		[CP_SIM_BURST_l1d_store_misses] = CP_FIRSTS_STORES,
		[CP_SIM_BURST_l1d_fills] = CP_FIRSTS_LOADS | CP_FIRSTS_STORES,
		[CP_SIM_BURST_l2_accesses] =
			CP_FIRSTS_CODE | CP_FIRSTS_LOADS | CP_FIRSTS_STORES,
		[CP_SIM_BURST_l1d_writebacks] = CP_FIRSTS_OTHERS,
		[CP_SIM_BURST_itlb_misses] = CP_FIRSTS_OTHERS,
		[CP_SIM_BURST_itlb_walks] = CP_FIRSTS_OTHERS,
		[CP_SIM_BURST_dtlb_load_pages] = CP_FIRSTS_OTHERS,
		[CP_SIM_BURST_dtlb_store_pages] = CP_FIRSTS_OTHERS,
		[CP_SIM_BURST_dtlb_load_misses] = CP_FIRSTS_OTHERS,
		[CP_SIM_BURST_dtlb_store_misses] = CP_FIRSTS_OTHERS,
		[CP_SIM_BURST_dtlb_load_walks] = CP_FIRSTS_OTHERS,
		[CP_SIM_BURST_dtlb_store_walks] = CP_FIRSTS_OTHERS,
	};

	return sampled < CP_SIM_NBURST ? of[sampled] : 0;
}

/* On the machines that can be sampled these stay 0. */
static bool is_nothing(const char *name)
{
	static const char *const names[] = {"l2_prefetch_misses", "llc_prefetch_misses",
		"l1i_prefetches", "l1d_prefetches", "l2_prefetches", "l1d_bypasses",
		"l1d_writes_through", "l2_writes_through", "llc_writes_through",
		"back_invalidations"};

	return CP_IS_AMONG(name, names);
}

static void say_unsampled(int mirror, const char *name, struct cp_quantity *quantity)
{
	const char *what = is_timed(mirror) ? "cycles depend on every reference"
			   : strstr(name, "_misses")
				   ? "a reference that spans two lines may "
				     "have only one of them in the sampled sets: "
				     "count lines (l2_misses, llc_misses)"
				   : "it depends on what is not in the sample";

	cp_format(
		quantity->why.text, sizeof(quantity->why.text), CP_UNSAMPLED "%s", what);
}

static void say_missing(const struct cp_machine *machine, const char *missing,
	struct cp_quantity *quantity)
{
	cp_format(quantity->why.text, sizeof(quantity->why.text),
		"the simulated machine %s has no %s", machine->name, missing);
}

/* ---- presets and raw counters ---- */

struct resolver {
	struct cp_event_set *set;
	struct cp_quantity *quantity;
	struct cp_arena *arena;
	const struct cp_machine *machine;
};

static int find_counter(struct cp_event_set *set, const char *name, unsigned mirror)
{
	int counter = cp_set_counter(set, name);

	if (counter >= 0)
		return counter;
	counter = (int)set->ncounters;
	cp_set_add_counter(set, name)->mirror = mirror;
	return counter;
}

/* Adds the counts that make estimates from bursts more exact, one behind the other. */
static void add_help(struct cp_event_set *set)
{
	static const char *const names[] = {
#define X(name) #name,
		CP_SIM_HELP_COUNTERS(X)
#undef X
	};
	int counter;

	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		counter = find_counter(
			set, names[i], CP_SIM_SAMPLE_AT(CP_SIM_SET_HELP + i, 0));
		set->counters[counter].sampled = true;
	}
}

int cp_set_sampled(struct cp_event_set *set, const char *name, unsigned sampled)
{
	int counter;

	find_counter(set, "instructions", CP_SIM_instructions);
	counter = find_counter(set, "sampled_instructions",
		CP_SIM_SAMPLE_AT(CP_SIM_BURST_instructions, 0));
	set->counters[counter].sampled = true;
	if (sampled < CP_SIM_NBURST)
		add_help(set);
	counter = find_counter(set, name, CP_SIM_SAMPLE_AT(sampled, 0));
	set->counters[counter].sampled = true;
	return counter;
}

static bool add_sampled(const struct resolver *r, int sign, const char *raw)
{
	int mirror = raw_index(raw), sampled = sampled_index(raw), counter;

	if (mirror < 0 || r->quantity->nterms == CP_MAX_TERMS)
		return false;
	if (mirror == CP_SIM_instructions || is_nothing(raw)) {
		counter = find_counter(r->set, raw, (unsigned)mirror);
	} else if (sampled >= 0) {
		counter = cp_set_sampled(r->set, raw, (unsigned)sampled);
	} else {
		say_unsampled(mirror, raw, r->quantity);
		return false;
	}
	cp_quantity_add_term(r->quantity, sign, (unsigned)counter);
	return true;
}

static bool add_raw(const struct resolver *r, int sign, const char *raw)
{
	const char *missing = missing_level(r->machine, raw);
	int mirror = raw_index(raw), counter;

	if (r->machine->sampled && !missing)
		return add_sampled(r, sign, raw);

	if (is_timed(mirror) && is_timeless(r->machine, r->quantity->why.text,
					sizeof(r->quantity->why.text)))
		return false;
	if (missing)
		say_missing(r->machine, missing, r->quantity);
	if (missing || mirror < 0 || r->quantity->nterms == CP_MAX_TERMS)
		return false;
	counter = cp_set_counter(r->set, raw);
	if (counter < 0) {
		counter = (int)r->set->ncounters;
		cp_set_add_counter(r->set, raw)->mirror = (unsigned)mirror;
	}
	cp_quantity_add_term(r->quantity, sign, (unsigned)counter);
	return true;
}

static bool add_alternative(const struct resolver *r, int sign,
	const struct cp_preset_alternative *alternative)
{
	unsigned before = r->quantity->nterms;

	for (size_t i = 0; i < alternative->nterms; i++)
		if (!add_raw(r, sign * alternative->terms[i].sign,
			    alternative->terms[i].event)) {
			r->quantity->nterms = before;
			return false;
		}
	return true;
}

/* A preset, else a raw counter.  Where there is no last level L2 is it, but L2's
 * presets are about L2 alone. */
static bool add_name(const struct resolver *r, int sign, const char *name)
{
	const char *missing = missing_level(r->machine, name);
	struct cp_preset preset;

	if (cp_preset_lookup(r->arena, "sim", name, &preset) < 0)
		return add_raw(r, sign, name);
	if (missing && !cp_starts_with(name, "llc_")) {
		say_missing(r->machine, missing, r->quantity);
		return false;
	}
	/* The next alternative is for a machine that lacks a level, and for nothing else.
	 */
	for (size_t i = 0; i < preset.nalternatives; i++) {
		if (add_alternative(r, sign, &preset.alternatives[i]))
			return true;
		if (cp_starts_with(r->quantity->why.text, CP_UNSAMPLED))
			return false;
	}
	return false;
}

/* ---- the machine's own names ---- */

/* "NAME = a + b - c", or 0.  rest: the right side, cut up. */
static bool add_sum(const struct resolver *r, char *rest)
{
	int sign = 1;

	for (char *word = rest; *word; word = rest) {
		rest += strcspn(rest, " ");
		if (*rest)
			*rest++ = '\0';
		if (strcmp(word, "-") == 0)
			sign = -1;
		else if (strcmp(word, "+") == 0)
			sign = 1;
		else if (strcmp(word, "0") != 0 && !add_name(r, sign, word))
			return false;
	}
	return true;
}

static bool say_uncounted(const struct resolver *r, const char *name)
{
	if (!r->quantity->why.text[0])
		cp_format(r->quantity->why.text, sizeof(r->quantity->why.text),
			"%s of machine %s needs what the simulated PMU does not count",
			name, r->machine->name);
	return false;
}

/* "… | …": the first that is counted. */
static bool add_sums(const struct resolver *r, char *rest)
{
	char *next;

	do {
		next = strstr(rest, " | ");
		if (next)
			*next = '\0';
		r->quantity->nterms = 0;
		if (add_sum(r, rest))
			return true;
		if (cp_starts_with(r->quantity->why.text, CP_UNSAMPLED))
			return false;
		rest = next ? next + 3 : NULL;
	} while (rest);
	return false;
}

/* By the machine's .natives file. */
static bool add_native(const struct resolver *r, const char *name)
{
	char file[64], line[256];
	const char *text;

	cp_format(file, sizeof(file), "%s.natives", r->machine->events);
	text = cp_embedded_find_in(cp_processor_files(), file);
	while (text && *text) {
		size_t length = strcspn(text, "\n");
		char *equals;

		cp_format(line, sizeof(line), "%.*s", (int)length, text);
		text += length + (text[length] == '\n');
		equals = strstr(line, " = ");
		if (*line == '#' || !equals)
			continue;
		*equals = '\0';
		if (strcasecmp(line, name) == 0)
			return add_sums(r, equals + 3) || say_uncounted(r, name);
	}
	return false;
}

struct search {
	const struct resolver *resolver;
	const char *event; /* with its PMU */
	bool found;
};

/* Is this preset what that PMU's event counts? */
static bool try_preset(void *context, const struct cp_preset *preset)
{
	struct search *search = context;

	for (size_t i = 0; i < preset->nalternatives && !search->found; i++) {
		const struct cp_preset_alternative *a = &preset->alternatives[i];

		if (a->nterms == 1 && strcasecmp(a->terms[0].event, search->event) == 0 &&
			!missing_level(search->resolver->machine, preset->name))
			search->found = add_name(search->resolver, 1, preset->name);
	}
	return !search->found;
}

/* By the presets of the machine's PMU, read backwards. */
static bool add_by_preset(const struct resolver *r, const char *name)
{
	char event[CP_NAME_SIZE + 40];
	struct search search = {r, event, false};

	cp_format(event, sizeof(event), "%s%s%s",
		strstr(name, "::") ? "" : r->machine->pmu,
		strstr(name, "::") ? "" : "::", name);
	cp_preset_each(r->arena, r->machine->pmu, try_preset, &search);
	return search.found;
}

/* The name without the machine's "PMU::". */
static const char *own_name(const struct cp_machine *machine, const char *name)
{
	size_t length = strlen(machine->pmu);

	return strncasecmp(name, machine->pmu, length) == 0 &&
			       strncmp(name + length, "::", 2) == 0
		       ? name + length + 2
		       : name;
}

static bool add_machines_event(const struct resolver *r)
{
	if (r->machine->events[0] &&
		add_native(r, own_name(r->machine, r->quantity->name)))
		return true;
	r->quantity->nterms = 0;
	return r->machine->pmu[0] && add_by_preset(r, r->quantity->name);
}

/* A preset that the simulated PMU has nothing of its own for, though the event of the
 * machine's PMU is counted. */
static bool add_own_event(const struct resolver *r)
{
	struct cp_preset preset;

	if (r->quantity->why.text[0] || !r->machine->pmu[0] || !r->machine->events[0] ||
		cp_preset_lookup(r->arena, r->machine->pmu, r->quantity->name, &preset) <
			0)
		return false;
	for (size_t i = 0; i < preset.nalternatives; i++) {
		const struct cp_preset_alternative *a = &preset.alternatives[i];

		if (a->nterms == 1 &&
			add_native(r, own_name(r->machine, a->terms[0].event)))
			return true;
	}
	r->quantity->why.text[0] = '\0';
	return false;
}

/* Translates perf's or PAPI's name of a preset, unless the machine has such an event. */
static bool add_other_tools(const struct resolver *r, cp_complaint *complain)
{
	const char *preset = r->quantity->why.text[0]
				     ? NULL
				     : cp_read_as(r->quantity->name, r->arena, complain);

	r->quantity->nterms = 0;
	return preset && add_name(r, 1, preset);
}

/* ---- the request ---- */

static bool is_contended(int mirror)
{
	return mirror == CP_SIM_contended_transfers;
}

static bool has_term(const struct cp_event_set *set, const struct cp_quantity *quantity,
	bool (*is_it)(int mirror))
{
	for (unsigned i = 0; i < quantity->nterms; i++) {
		const struct cp_counter *counter =
			&set->counters[quantity->terms[i].counter];

		if (!counter->sampled && is_it((int)counter->mirror))
			return true;
	}
	return false;
}

static void say_model(const struct cp_event_set *set, struct cp_quantity *quantity,
	const struct cp_machine *machine)
{
	char assumed[128];

	quantity->why.text[0] = '\0';
	quantity->modelled = false;
	if (has_term(set, quantity, is_contended)) {
		quantity->modelled = true;
		cp_format(quantity->why.text, sizeof(quantity->why.text),
			"from a sample of the references, as if all threads ran at the "
			"same time");
	}
	if (!has_term(set, quantity, is_timed))
		return;
	quantity->modelled = true;
	cp_machine_assumed_keys(machine, assumed, sizeof(assumed));
	cp_format(quantity->why.text, sizeof(quantity->why.text),
		"%s timing model of machine %s%s%s", cp_machine_model(machine),
		machine->name, *assumed ? ", which assumes " : "", assumed);
}

static void refuse_event(const struct resolver *r, cp_complaint *complain)
{
	struct cp_quantity *quantity = r->quantity;
	struct cp_other_name other;
	char text[200];

	quantity->nterms = 0;
	if (quantity->why.text[0])
		return;
	cp_format(text, sizeof(text), "not counted by the simulated PMU%s%s",
		r->machine->pmu[0] || r->machine->events[0] ? " on machine " : "",
		r->machine->pmu[0] || r->machine->events[0] ? r->machine->name : "");
	if (cp_preset_known(quantity->name) || strchr(quantity->name, ':') ||
		cp_other_name(r->arena, CP_NAMED_EVENT, quantity->name, &other))
		cp_format(quantity->why.text, sizeof(quantity->why.text), "%s", text);
	else
		cp_complain_unknown(quantity->name, r->arena,
			"neither a preset nor a counter of the simulated PMU", quantity,
			complain);
}

static bool has_quantity(const struct cp_event_set *set, const char *name)
{
	for (unsigned i = 0; i < set->nquantities; i++)
		if (strcmp(set->quantities[i].name, name) == 0)
			return true;
	return false;
}

/* Adds the quantities that say which instructions have modelled cycles, and how exactly,
 * where there is room for them. */
static void add_time_sample(struct cp_event_set *set)
{
	if (set->nquantities + CP_NTIME_SAMPLE > CP_MAX_QUANTITIES ||
		set->ncounters + CP_NTIME_SAMPLE > CP_MAX_COUNTERS)
		return;
	set->time_sampled = true;
	for (unsigned i = 0; i < CP_NTIME_SAMPLE; i++) {
		const char *name = cp_time_sample_quantity(i);
		struct cp_quantity *quantity;

		if (has_quantity(set, name))
			continue;
		quantity = cp_set_quantity(set, name);
		quantity->available = true;
		cp_quantity_add_term(quantity, 1,
			(unsigned)find_counter(set, name, CP_SIM_TIME_SAMPLE + i));
	}
}

/* Whoever asks for nothing that takes time may ask for all: for seconds there have to
 * be cycles. */
static void add_cycles(struct cp_event_set *set, const struct cp_machine *machine)
{
	char why[CP_WHY_SIZE];
	bool wanted =
		machine->timing == CP_TIMING_ON || machine->timing == CP_TIMING_SAMPLE;

	for (unsigned i = 0; i < set->nquantities; i++)
		wanted |= set->quantities[i].available &&
			  has_term(set, &set->quantities[i], is_timed);
	set->timed =
		wanted && !machine->sampled && !is_timeless(machine, why, sizeof(why));
	if (set->timed && cp_set_counter(set, "cycles") < 0)
		cp_set_add_counter(set, "cycles")->mirror = CP_SIM_cycles;
	if (set->timed && machine->ooo.on && machine->time_sampled)
		add_time_sample(set);
}

void cp_events_for_sim(struct cp_event_set *set, const struct cp_request *request,
	const struct cp_machine *machine, struct cp_arena *arena, cp_complaint *complain)
{
	memset(set, 0, sizeof(*set));
	set->ngroups = 1;
	for (size_t i = 0; i < request->nnames; i++) {
		struct cp_quantity *quantity = cp_set_quantity(set, request->names[i]);
		struct resolver r = {set, quantity, arena, machine};

		quantity->available = add_name(&r, 1, quantity->name) ||
				      add_machines_event(&r) || add_own_event(&r) ||
				      add_other_tools(&r, complain);
		if (!quantity->available)
			refuse_event(&r, complain);
		else
			say_model(set, quantity, machine);
	}
	add_cycles(set, machine);
}
