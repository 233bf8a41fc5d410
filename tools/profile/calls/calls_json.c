/* SPDX-License-Identifier: MIT */

#include "output/json.h"
#include "tools/profile/calls/calls.h"
#include "tools/profile/model/sampled_write.h"
#include "tools/profile/model/write.h"

/* Without those that are 0. */
static void put_counts(
	struct cp_out *out, bool sampled, const char *name, const uint64_t *count)
{
	const char *comma = "";

	cp_out_format(out, ", \"%s\": {", name);
	for (unsigned c = 0; c < CP_SIM_NCOUNTERS; c++) {
		if (!count[c])
			continue;
		cp_out_format(out, "%s\"%s\": %lu", comma,
			sampled ? cp_sampled_counter_name(c - CP_PROFILE_FIRST)
				: cp_profile_counters[c].name,
			(unsigned long)count[c]);
		comma = ", ";
	}
	cp_out_text(out, "}");
}

static void put_string(struct cp_out *out, const char *name, const char *text)
{
	cp_out_format(out, ", \"%s\": ", name);
	cp_json_quoted(out, text);
}

/* Samples count no calls, and stand for more than themselves. */
static void put_sampled(struct cp_out *out, const struct cp_call *call)
{
	struct cp_tally tally;

	cp_calls_tally(&tally, call, true);
	cp_out_text(out, ", \"calls\": null, ");
	cp_sampled_write_estimates(out, &tally);
}

static void put_call(
	struct cp_out *out, bool sampled, const struct cp_calls *calls, size_t i)
{
	const struct cp_call *call = &calls->call[i];

	cp_out_format(out, "{\"parent\": ");
	if (i)
		cp_out_format(out, "%zu", call->parent);
	else
		cp_out_text(out, "null");
	put_string(out, "function", calls->function[call->function].name);
	put_string(out, "module", calls->function[call->function].module);
	if (sampled)
		put_sampled(out, call);
	else
		cp_out_format(out, ", \"calls\": %lu", (unsigned long)call->calls);
	if (call->folded)
		cp_out_format(out, ", \"folded\": %lu", (unsigned long)call->folded);
	put_counts(out, sampled, "exclusive", call->own);
	put_counts(out, sampled, "inclusive", call->all);
	cp_out_text(out, "}");
}

static void put_tree(
	struct cp_out *out, bool sampled, const char *name, const struct cp_calls *calls)
{
	cp_out_format(out, "\"%s\": [", name);
	for (size_t i = 0; i < calls->n; i++) {
		cp_out_text(out, i ? ",\n" : "\n");
		put_call(out, sampled, calls, i);
	}
	cp_out_text(out, "]");
}

static void put_thread(struct cp_out *out, const struct cp_profile *profile,
	const struct cp_profiled_thread *thread)
{
	cp_out_format(out, "{\"pid\": %d, \"tid\": %d", thread->pid, thread->tid);
	put_string(out, "name", thread->name);
	cp_out_text(out, ", ");
	put_tree(out, profile->sampled, "paths", cp_calls_of(profile, thread));
	cp_out_text(out, "}");
}

void cp_profile_write_calls_json(struct cp_out *out, const struct cp_profile_view *view)
{
	const struct cp_profile *profile = view->profile;
	const struct cp_calls *calls = cp_calls_of(profile, NULL);

	cp_out_format(out, ",\n\"call_paths\": {\"folded\": %lu,\n",
		(unsigned long)calls->folded);
	put_tree(out, profile->sampled, "paths", calls);
	cp_out_text(out, ",\n\"threads\": [");
	for (size_t i = 0; profile->nthreads > 1 && i < profile->nthreads; i++) {
		cp_out_text(out, i ? ",\n" : "\n");
		put_thread(out, profile, &profile->threads[i]);
	}
	cp_out_text(out, "]}");
}
