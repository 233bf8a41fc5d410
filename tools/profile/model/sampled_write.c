/* SPDX-License-Identifier: MIT */
#include "tools/profile/model/sampled_write.h"

#include <string.h>

#include "output/json.h"
#include "base/text/table.h"
#include "tools/profile/model/measurement.h"

/* The measured time in which the kernel writes a sample; a processor's own samples
 * take more, by how much is not known here. */
#define NS_PER_SAMPLE 200

static const char *const event_names[] = {"page faults", "memory accesses"};
static const char *const event_keys[] = {"page_faults", "memory"};

const char *cp_sampled_event_key(unsigned event)
{
	return event_keys[event];
}

static bool was_opened(const struct cp_sampling *sampling)
{
	return sampling->event && sampling->event->name[0] && sampling->threads;
}

const char *cp_sampled_source(const struct cp_profile *profile)
{
	bool memory = was_opened(&profile->sampling[CP_SAMPLED_MEMORY]),
	     faults = was_opened(&profile->sampling[CP_SAMPLED_FAULTS]);

	if (memory)
		return faults ? "hardware samples, and the kernel's page faults"
			      : "hardware samples";
	return faults ? "the kernel's page faults (no hardware samples: see below)"
		      : "nothing could be sampled: see below";
}

static double scale_of(const struct cp_sampling *sampling)
{
	return sampling->periods > 0 ? sampling->total / sampling->periods : 1;
}

static const char *unit_of(const struct cp_sampling *sampling)
{
	return sampling->event->unit == CP_UNIT_OPERATIONS ? "operations" : "misses";
}

static const char *period_text(
	struct cp_arena *arena, const struct cp_samples_event *event)
{
	if (event->exact)
		return "1 (each one)";
	return cp_text_format(arena, "%lu +-%u%%", (unsigned long)event->period,
		(unsigned)event->jitter);
}

static void write_opened(struct cp_out *out, const struct cp_profile *profile,
	const struct cp_sampling *sampling, const char *what)
{
	double cost = (double)sampling->samples * NS_PER_SAMPLE / 1e6;

	cp_out_format(out,
		"%-16s event=%s unit=%s period=%s\n"
		"%16s samples=%lu lost=%lu not-kept=%lu total=%.0f scale=%.4g\n"
		"%16s cost: about %.3g ms of the threads' time\n",
		what, sampling->event->name, unit_of(sampling),
		period_text(profile->arena, sampling->event), "",
		(unsigned long)sampling->samples, (unsigned long)sampling->lost,
		(unsigned long)sampling->dropped, sampling->total, scale_of(sampling), "",
		cost);
}

static void write_event(
	struct cp_out *out, const struct cp_profile *profile, unsigned event)
{
	const struct cp_sampling *sampling = &profile->sampling[event];

	if (was_opened(sampling))
		write_opened(out, profile, sampling, event_names[event]);
	else if (sampling->event && sampling->event->why[0])
		cp_text_wrap(out,
			cp_text_format(profile->arena, "%-16s n/s: %s",
				event_names[event],
				cp_text_safe(profile->arena,
					cp_slice_of(sampling->event->why))),
			0, 17, 80);
}

void cp_sampled_write_text(struct cp_out *out, const struct cp_profile *profile)
{
	cp_out_text(out, "\nSampling (user mode only)\n");
	for (unsigned i = 0; i < CP_SAMPLED_EVENTS; i++)
		write_event(out, profile, i);
	cp_text_wrap(out,
		"A place's estimate is its samples times their period times the scale, "
		"which is total / (samples x period), per thread.",
		0, 0, 80);
}

static void write_json_event(
	struct cp_out *out, const struct cp_profile *profile, unsigned event)
{
	const struct cp_sampling *sampling = &profile->sampling[event];
	const struct cp_samples_event *e = sampling->event;

	(void)profile;
	cp_out_format(out, "\"%s\": ", event_keys[event]);
	if (!e) {
		cp_out_text(out, "null");
		return;
	}
	cp_out_text(out, "{");
	cp_json_pair(out, "event", e->name);
	cp_json_next(out, "reason", e->why);
	cp_out_format(out,
		", \"unit\": \"%s\", \"period\": %lu, \"jitter\": %g, \"samples\": %lu, "
		"\"lost\": %lu, \"dropped\": %lu, \"total\": %.17g, \"scale\": %.17g, "
		"\"threads\": %u, \"threads_without\": %u, \"ring_pages\": %u, "
		"\"exact\": %s}",
		unit_of(sampling), (unsigned long)e->period, e->jitter / 100.0,
		(unsigned long)sampling->samples, (unsigned long)sampling->lost,
		(unsigned long)sampling->dropped, sampling->total, scale_of(sampling),
		sampling->threads, sampling->without, sampling->pages,
		e->exact ? "true" : "false");
}

void cp_sampled_write_estimates(struct cp_out *out, const struct cp_tally *tally)
{
	cp_out_text(out, "\"estimates\": {");
	for (unsigned i = 0; i < CP_SAMPLED_EVENTS; i++)
		cp_out_format(out, "%s\"%s\": {\"value\": %.17g, \"variance\": %.17g}",
			i ? ", " : "", event_keys[i], tally->estimates[i].value,
			tally->estimates[i].variance);
	cp_out_text(out, "}");
}

void cp_sampled_write_json(struct cp_out *out, const struct cp_profile *profile)
{
	cp_out_text(out, "\"sampling\": {");
	for (unsigned i = 0; i < CP_SAMPLED_EVENTS; i++) {
		cp_out_text(out, i ? ",\n" : "\n");
		write_json_event(out, profile, i);
	}
	cp_out_text(out, "},\n");
}

void cp_sampled_warn(struct cp_profile *profile)
{
	for (unsigned i = 0; i < CP_SAMPLED_EVENTS; i++) {
		const struct cp_sampling *sampling = &profile->sampling[i];

		if (!was_opened(sampling))
			continue;
		if (sampling->without)
			cp_profile_warn(profile,
				"%u of %u threads are not sampled (%s): %s",
				sampling->without, sampling->without + sampling->threads,
				event_names[i], strerror(-sampling->error));
		if (sampling->lost || sampling->dropped)
			cp_profile_warn(profile,
				"%lu samples of %s were lost, and %lu not kept: "
				"the scale makes up for them, "
				"as if they were like the others of their thread",
				(unsigned long)sampling->lost, event_names[i],
				(unsigned long)sampling->dropped);
		profile->inexact |= sampling->total > sampling->periods;
	}
}
