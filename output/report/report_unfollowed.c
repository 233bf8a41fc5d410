/* SPDX-License-Identifier: MIT
 *
 * Programs that processes of the run were seen to start, and of which there is
 * no record: what they did is in no sum.
 */
#include <string.h>

#include "base/text.h"
#include "output/report/report_parts.h"
#include "regions/process_state.h"

/* A "program" note of a record: see regions/record.h. */
struct note {
	uint64_t pid;
	const char *why;
	bool comes; /* as far as its parent could tell */
	const char *path;
};

static bool find_chance(const char *text, struct note *note)
{
	static const struct {
		const char *word, *why;
	} chances[] = {
		{" kept ",
			"the library was not loaded (a static or privileged program?)"},
		{" changed ", "its environment was changed"},
		{" refused ", "the simulated PMU runs no program "
			      "that is set-user-ID or set-group-ID, "
			      "has file capabilities, or may not be read"},
	};

	for (size_t i = 0; i < sizeof(chances) / sizeof(chances[0]); i++) {
		if (!cp_starts_with(text, chances[i].word))
			continue;
		note->why = chances[i].why;
		note->comes = i == 0;
		return true;
	}
	return false;
}

static bool parse_note(const char *text, struct note *note)
{
	if (cp_parse_u64_prefix(text, &text, &note->pid) < 0 || note->pid > INT32_MAX)
		return false;
	if (!find_chance(text, note))
		return false;
	note->path = strchr(text + 1, ' ') + 1;
	return true;
}

/* A record of the program: the writer's next image, or another process. */
static bool is_there(struct cp_source *const *sources, size_t nsources,
	const struct cp_record_header *writer, const struct note *note)
{
	for (size_t i = 0; i < nsources; i++) {
		const struct cp_record_header *header = sources[i]->record.header;

		if (header->pid == (int32_t)note->pid &&
			(header->pid != writer->pid || header->image > writer->image))
			return true;
	}
	return false;
}

/* The processes whose records were folded; NULL: there are none. */
struct folded {
	unsigned char *pids; /* a bit for each */
	uint64_t room;       /* bits */
	bool more;           /* than are known */
};

static void add_pids(
	struct cp_report *report, struct folded *folded, const struct cp_record *record)
{
	size_t length = 0;
	const char *value = cp_record_meta(record, "folded", &length);
	int32_t pid;

	if (!record->header->folded)
		return;
	if (!folded->pids) {
		folded->room = (uint64_t)1 << 22; /* as many as there can be */
		folded->pids = cp_arena_alloc(report->arena, folded->room / 8);
	}
	folded->more |= record->header->folded > length / sizeof(pid);
	for (size_t i = 0; value && i + sizeof(pid) <= length; i += sizeof(pid)) {
		memcpy(&pid, value + i, sizeof(pid));
		if (pid > 0 && (uint64_t)pid < folded->room)
			folded->pids[pid / 8] |= (unsigned char)(1u << pid % 8);
	}
}

static bool was_folded(const struct folded *folded, const struct note *note)
{
	return folded->pids &&
	       (folded->more ||
		       (note->pid < folded->room &&
			       folded->pids[note->pid / 8] >> note->pid % 8 & 1));
}

/* One that lives may only not have come so far. */
static bool may_come(const struct cp_record *writer, const struct note *note)
{
	return note->comes &&
	       strcmp(cp_process_state((int32_t)note->pid, (uint64_t)1 << 62,
			      cp_record_meta(writer, "host", NULL)),
		       "running") == 0;
}

static void add_unfollowed(
	struct cp_report *report, const struct cp_record *writer, const struct note *note)
{
	struct cp_unfollowed *it = &report->unfollowed[report->nunfollowed++];

	it->pid = (int32_t)note->pid;
	it->ppid = it->pid == writer->header->pid ? writer->header->ppid
						  : writer->header->pid;
	it->exe = note->path;
	it->why = note->why;
}

static bool is_note(const struct cp_meta_item *meta, struct note *note)
{
	return cp_meta_is(meta, "program") && parse_note(cp_meta_value(meta), note);
}

static size_t count_notes(struct cp_source *const *sources, size_t nsources)
{
	struct note note;
	size_t count = 0;

	for (size_t i = 0; i < nsources; i++)
		for (size_t j = 0; j < sources[i]->record.nmetas; j++)
			count += is_note(sources[i]->record.metas[j], &note);
	return count;
}

void cp_report_unfollowed(
	struct cp_report *report, struct cp_source *const *sources, size_t nsources)
{
	struct folded folded = {NULL, 0, false};
	struct note note;

	for (size_t i = 0; i < nsources; i++)
		add_pids(report, &folded, &sources[i]->record);
	report->unfollowed = cp_arena_alloc(report->arena,
		count_notes(sources, nsources) * sizeof(*report->unfollowed));
	for (size_t i = 0; i < nsources; i++) {
		const struct cp_record *record = &sources[i]->record;

		for (size_t j = 0; j < record->nmetas; j++)
			if (is_note(record->metas[j], &note) &&
				!was_folded(&folded, &note) &&
				!is_there(sources, nsources, record->header, &note) &&
				!may_come(record, &note))
				add_unfollowed(report, record, &note);
	}
}
