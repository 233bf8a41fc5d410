/* SPDX-License-Identifier: MIT */
#include "tools/profile/model/from_records.h"

#include <string.h>

#include "base/text.h"
#include "base/text/table.h"
#include "output/report/ended.h"
#include "output/report/report.h"
#include "regions/record_read.h"

/* ---- what the records say ---- */

static bool read_weights(struct cp_profile *profile, int dir, const char *name)
{
	struct cp_record record;
	char error[256];
	const char *text;

	if (cp_record_read(profile->arena, dir, name, &record, error, sizeof(error)) < 0)
		return false;
	text = cp_record_meta(&record, "weights", NULL);
	if (!text)
		return false;
	profile->weights = cp_weights_read(text);
	return true;
}

void cp_profile_find_weights(struct cp_profile *profile, int dir)
{
	const char **names;
	size_t n = cp_profile_names(profile->arena, dir, ".rec", &names);

	for (size_t i = 0; i < n; i++)
		if (read_weights(profile, dir, names[i]))
			return;
}

static const char *thread_name(
	const struct cp_report *report, const struct cp_profiled_thread *thread)
{
	for (size_t i = 0; i < report->nprocesses; i++) {
		const struct cp_process *process = &report->processes[i];

		for (size_t j = 0; process->pid == thread->pid && j < process->nthreads;
			j++)
			if (process->threads[j].tid == thread->tid)
				return process->threads[j].name;
	}
	return "";
}

/* Some counts differ even between runs that are to be the same everywhere. */
static void warn_of_differences(
	struct cp_profile *profile, const struct cp_report *report)
{
	const char *list = "";

	for (size_t i = 0; report->pinned && i < report->nunpinned; i++)
		list = cp_text_listed(profile->arena, list, report->unpinned[i]);
	if (*list)
		cp_profile_warn(
			profile, "what may differ between runs all the same: %s", list);
}

/* arena->out_of_memory is cp_report_build's own meanwhile. */
void cp_profile_use_report(struct cp_profile *profile, const char *directory)
{
	struct cp_escape *outer = profile->arena->out_of_memory;
	char error[1024];
	const struct cp_report *report =
		cp_report_build(profile->arena, &directory, 1, error, sizeof(error));

	profile->arena->out_of_memory = outer;
	if (!report) {
		cp_profile_warn(profile, "%s", error);
		return;
	}
	/* The library's messages about sampling. */
	for (size_t i = 0; i < report->nwarnings; i++)
		if (strncmp(report->warnings[i], "CACHEPEEK_PROFILE: ", 19) == 0)
			cp_profile_warn(profile, "%s", report->warnings[i] + 19);
		else if (cp_starts_with(report->warnings[i], CP_X87_WARNING))
			cp_profile_warn(profile, "%s", report->warnings[i]);
	warn_of_differences(profile, report);
	profile->command = cp_text_cut(report->arena,
		cp_text_words(report->arena, report->command, report->narguments),
		CP_COMMAND_COLUMNS);
	profile->arguments = (const char *const *)report->command;
	profile->narguments = report->narguments;
	profile->machine = report->machine;
	profile->cut = cp_report_cut(profile->arena, report);
	profile->began = cp_report_began(profile->arena, report);
	profile->host = report->host;
	for (size_t i = 0; i < profile->nthreads; i++)
		profile->threads[i].name = thread_name(report, &profile->threads[i]);
}

/* ---- the sum rule ---- */

/* The same of a sample, of each part. */
static void check_bursts(struct cp_profile *profile)
{
	static const unsigned counters[] = {
#define X(name) CP_SIM_##name,
		CP_SIM_BURST_COUNTERS(X)
#undef X
	};
	double sum[CP_SIM_PARTS][CP_PROFILE_COUNTERS] = {{0}};

	for (size_t i = 0; i < profile->nsites; i++)
		for (unsigned c = 0; profile->sites[i].part && c < CP_PROFILE_COUNTERS;
			c++)
			sum[profile->sites[i].part - 1][c] +=
				(double)profile->sites[i].count[c];
	for (unsigned i = 0; i < CP_SIM_NBURST; i++)
		for (unsigned p = 0;
			cp_bursts_has_place(counters[i]) && p < CP_SIM_UNSURE; p++)
			profile->inexact |= sum[p][counters[i] - CP_PROFILE_FIRST] !=
					    profile->bursts->count[i][p];
	if (profile->inexact)
		cp_profile_warn(profile,
			"the places do not add up to what was sampled: a process was "
			"killed, or is still running, or there was no room on the disk");
}

void cp_profile_check_sums(struct cp_profile *profile)
{
	uint64_t sum[CP_PROFILE_COUNTERS] = {0}, exact[CP_PROFILE_COUNTERS] = {0};
	bool equal = true;

	if (profile->bursts) {
		check_bursts(profile);
		return;
	}
	for (size_t i = 0; i < profile->nsites; i++)
		for (unsigned c = 0; c < CP_PROFILE_COUNTERS; c++)
			sum[c] += profile->sites[i].count[c];
	for (size_t i = 0; i < profile->nthreads; i++)
		for (unsigned c = 0; c < CP_PROFILE_COUNTERS; c++)
			exact[c] += profile->threads[i].count[c + CP_PROFILE_FIRST];
	for (unsigned c = 0; c < CP_PROFILE_COUNTERS; c++)
		equal &= sum[c] == exact[c];
	if (equal || profile->inexact || profile->without_sites)
		return;
	profile->inexact = true;
	cp_profile_warn(profile,
		"the places do not add up to the counts: a process was killed, "
		"or is still running; "
		"the counts are as of the end of each thread's last time slice, "
		"the places as of the last miss");
}

void cp_profile_check_path_sums(struct cp_profile *profile)
{
	uint64_t more[CP_SIM_NCOUNTERS] = {0};
	bool equal = true;

	for (size_t i = 0; i < profile->nthreads; i++)
		for (unsigned c = 0; c < CP_SIM_NCOUNTERS; c++)
			more[c] += profile->threads[i].count[c];
	for (size_t i = 0; i < profile->npaths; i++)
		for (unsigned c = 0; c < CP_SIM_NCOUNTERS; c++)
			more[c] -= profile->paths[i].in->count[c];
	for (unsigned c = 0; c < CP_SIM_NCOUNTERS; c++)
		equal &= !more[c];
	if (equal || !profile->npaths)
		return;
	profile->inexact = true;
	cp_profile_warn(profile,
		"the call paths do not add up to the counts: a process was killed, "
		"or is still running, or there was no room on the disk");
}
