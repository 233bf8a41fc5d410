/* SPDX-License-Identifier: MIT
 *
 * Asks perf what is in its file: perf's own commands know each version of the format.
 */
#include "tools/profile/samples/perf_data.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text.h"
#include "base/text/table.h"
#include "tools/profile/model/sampled_write.h"
#include "tools/profile/model/symbols.h"
#include "tools/profile/samples/perf_parts.h"

extern char **environ;

/* ---- perf ---- */

struct perf_run {
	FILE *lines;
	pid_t child;
};

static bool start_perf(struct perf_run *run, char *const *argv)
{
	posix_spawn_file_actions_t actions;
	int ends[2], error;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return false;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
	posix_spawn_file_actions_addopen(
		&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	error = posix_spawnp(&run->child, argv[0], &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	close(ends[1]);
	run->lines = error ? NULL : fdopen(ends[0], "r");
	if (!run->lines)
		close(ends[0]);
	errno = error;
	return run->lines != NULL;
}

static int finish_perf(struct perf_run *run)
{
	int status = 0;

	fclose(run->lines);
	while (waitpid(run->child, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

/* Hands each line of its output over.  Returns its wait status; -1: it did not start. */
static int each_line(struct cp_perf *perf, char *const *argv,
	void (*take)(struct cp_perf *perf, const char *line))
{
	struct perf_run run;
	char *line = NULL;
	size_t size = 0;

	if (!start_perf(&run, argv))
		return -1;
	while (getline(&line, &size, run.lines) > 0)
		take(perf, line);
	free(line);
	return finish_perf(&run);
}

/* ---- its events ---- */

static bool has_word(const char *types, const char *word)
{
	size_t length = strlen(word);

	for (const char *at = types; (at = strstr(at, word)); at += length)
		if ((at == types || at[-1] == '|' || at[-1] == ' ') &&
			strchr("|,\n ", at[length]))
			return true;
	return false;
}

#define ALL_FAULTS 2

static enum cp_sampled_event kind_of(unsigned type, unsigned long config, const char *is)
{
	if (!has_word(is, "IP") || !has_word(is, "TID") || !has_word(is, "TIME") ||
		!has_word(is, "ADDR"))
		return CP_SAMPLED_EVENTS;
	/* Software: all faults, minor ones, major ones. */
	if (type == 1)
		return config == ALL_FAULTS || config == 5 || config == 6
			       ? CP_SAMPLED_FAULTS
			       : CP_SAMPLED_EVENTS;
	return has_word(is, "DATA_SRC") ? CP_SAMPLED_MEMORY : CP_SAMPLED_EVENTS;
}

#define OF_LEADER "its samples are those of its group's first event (:S)"

/* NAME: type: 1, ..., config: 0x2, { sample_period, sample_freq }: 1, sample_type: IP|...
 */
static void take_event(struct cp_perf *perf, const char *line)
{
	const char *type = strstr(line, ": type: "), *config = strstr(line, " config: "),
		   *period = strstr(line, "sample_freq }: "),
		   *is = strstr(line, "sample_type: ");
	struct cp_perf_event *event;

	if (!type || !is)
		return;
	event = CP_ADD(perf->arena, perf->events);
	*event = (struct cp_perf_event){
		.name = cp_arena_copy(perf->arena, line, (size_t)(type - line)),
		.type = (unsigned)atoi(type + 8),
		.config = config ? strtoul(config + 9, NULL, 0) : 0,
		.of_kernel = strstr(line, " exclude_user: 1") != NULL,
		.each = period && atoi(period + 15) == 1 && !strstr(line, " freq: 1"),
	};
	event->kind = kind_of(event->type, event->config, is + 13);
	if (event->kind != CP_SAMPLED_EVENTS && !period) {
		event->kind = CP_SAMPLED_EVENTS;
		event->left_out = OF_LEADER;
	} else if (event->kind == CP_SAMPLED_EVENTS) {
		event->left_out = "its samples have no addresses of data";
	}
	if (event->kind == CP_SAMPLED_EVENTS)
		return;
	perf->has_source &= has_word(is + 13, "DATA_SRC");
	perf->has_weight &=
		has_word(is + 13, "WEIGHT") || has_word(is + 13, "WEIGHT_STRUCT");
}

/* The one that others repeat: it has no modifier, which the kernel's share may be, or is
 * first. */
static bool is_before(const struct cp_perf_event *one, const struct cp_perf_event *other)
{
	bool plain = !strchr(one->name, ':'), other_plain = !strchr(other->name, ':');

	return plain == other_plain ? one < other : plain;
}

/* Whether the program's samples of the other are its, too. */
static bool has_all_of(const struct cp_perf_event *one, const struct cp_perf_event *other)
{
	if (one == other || one->kind != other->kind || one->type != other->type ||
		one->of_kernel || other->of_kernel)
		return false;
	if (one->config == other->config)
		return is_before(one, other);
	return one->kind == CP_SAMPLED_FAULTS && one->config == ALL_FAULTS;
}

/* A fault, or an access, counts once. */
static void leave_out_repeated(struct cp_perf *perf)
{
	for (size_t i = 0; i < perf->events.n; i++) {
		struct cp_perf_event *event = &perf->events.all[i];

		for (size_t k = 0; k < perf->events.n && !event->by; k++)
			if (event->kind != CP_SAMPLED_EVENTS &&
				has_all_of(&perf->events.all[k], event))
				event->by = &perf->events.all[k];
	}
}

/* # cpuid : GenuineIntel,6,85,7 */
static void take_header(struct cp_perf *perf, const char *line)
{
	const char *colon = strstr(line, " : ");
	size_t length = colon ? strcspn(colon + 3, "\n") : 0;

	if (!colon)
		return;
	while (length && colon[2 + length] == ' ')
		length--;
	if (cp_starts_with(line, "# cmdline"))
		perf->command = cp_text_safe(perf->arena,
			cp_slice_of(cp_arena_copy(perf->arena, colon + 3, length)));
	else if (!cp_starts_with(line, "# cpuid"))
		return;
	else if (strstr(colon, "GenuineIntel"))
		perf->vendor_name = "intel";
	else if (strstr(colon, "0x"))
		perf->vendor_name = "arm";
}

static bool has_events(const struct cp_perf *perf, enum cp_sampled_event kind)
{
	for (size_t i = 0; i < perf->events.n; i++)
		if (perf->events.all[i].kind == kind)
			return true;
	return false;
}

/* NULL, or what is wrong. */
static const char *choose_measurement(struct cp_perf *perf, const char *measurement)
{
	bool faults = has_events(perf, CP_SAMPLED_FAULTS),
	     memory = has_events(perf, CP_SAMPLED_MEMORY);

	perf->translations = strcmp(measurement, "dtlb") == 0;
	perf->faults = faults && perf->translations;
	perf->memory = memory && strcmp(measurement, "icache") != 0;
	if (perf->faults || perf->memory)
		return NULL;
	if (strcmp(measurement, "icache") == 0)
		return "it has samples of data, not of code: `cachepeek dcache -i`";
	for (size_t i = 0; i < perf->events.n; i++)
		if (perf->events.all[i].left_out &&
			strcmp(perf->events.all[i].left_out, OF_LEADER) == 0)
			return "the events that have addresses take no samples of their own: "
			       "record them without `:S`";
	if (faults)
		return "of samples with addresses it has page faults only, "
		       "which are for `cachepeek dtlb -i`";
	return "it has no samples with addresses: make it with `perf mem record`, "
	       "`perf c2c record` or `perf record -d`";
}

/* ---- the profile ---- */

static int read_script(struct cp_perf *perf, const char *path)
{
	char fields[100];
	char *argv[] = {"perf", "script", "-i", (char *)(uintptr_t)path, "--ns",
		"--show-mmap-events", "--show-task-events", "--show-lost-events",
		"-G", /* of a call chain the first address, on the sample's line */
		"-F", fields, NULL};

	snprintf(fields, sizeof(fields), "comm,pid,tid,time,period,event,addr%s%s,ip",
		perf->has_source ? ",data_src" : "", perf->has_weight ? ",weight" : "");
	return each_line(perf, argv, cp_perf_line);
}

static void name_threads(struct cp_profile *profile, const struct cp_perf *perf)
{
	size_t at = 0;

	for (size_t i = 0; i < perf->images.n; i++)
		for (size_t t = 0; t < perf->images.all[i].threads.n; t++)
			profile->threads[at++].name =
				perf->images.all[i].threads.all[t].name;
}

static void warn_of_event(struct cp_profile *profile, const struct cp_perf *perf,
	const struct cp_perf_event *event)
{
	if (event->left_out && !cp_starts_with(event->name, "dummy"))
		cp_profile_warn(profile, "%s: %s, and are left out", event->name,
			event->left_out);
	else if (event->by && event->repeated)
		cp_profile_warn(profile,
			"%s: its samples are those of %s once more, and are left out",
			event->name, event->by->name);
	else if (event->by && cp_perf_takes(perf, event->kind))
		cp_profile_warn(profile,
			"%s: perf shows its samples as those of %s, "
			"where they may count twice",
			event->name, event->by->name);
}

static void warn_of_loss(struct cp_profile *profile, const struct cp_perf *perf)
{
	if (perf->lost)
		cp_profile_warn(profile,
			"perf lost %lu records: what they had is not here",
			(unsigned long)perf->lost);
	if (perf->in_kernel)
		cp_profile_warn(profile, "%lu samples of the kernel are left out",
			(unsigned long)perf->in_kernel);
	cp_profile_warn(profile, "perf does not record the blocks of the heap: "
				 "data is named by variables, files and mappings");
	for (size_t i = 0; i < perf->events.n; i++)
		warn_of_event(profile, perf, &perf->events.all[i]);
	if (perf->memory && !perf->has_weight)
		cp_profile_warn(
			profile, "the samples have no latencies (perf record -W)");
}

static struct cp_profile *make_profile(struct cp_perf *perf)
{
	struct cp_profile *profile = cp_profile_new(perf->arena);
	struct cp_sampled_source *sources =
		cp_arena_alloc(perf->arena, (perf->images.n + 1) * sizeof(*sources));
	size_t n = 0;

	for (size_t i = 0; i < perf->images.n; i++)
		if (perf->images.all[i].samples.n)
			sources[n++] = cp_perf_source(perf, &perf->images.all[i]);
	if (!n)
		return NULL;
	profile->command = perf->command;
	profile->sampled = true;
	profile->translations = perf->translations;
	cp_sampled_add(profile, sources, n);
	name_threads(profile, perf);
	warn_of_loss(profile, perf);
	cp_sampled_warn(profile);
	return profile;
}

static bool look_at_file(
	struct cp_perf *perf, const char *path, char *error, size_t error_size)
{
	struct stat status;

	if (stat(path, &status) < 0) {
		snprintf(error, error_size,
			"%s: %s: name a file that perf mem record, perf c2c record or perf "
			"record -d has written",
			path, strerror(errno));
		return false;
	}
	perf->written_ns = (uint64_t)status.st_mtim.tv_sec * 1000000000u +
			   (uint64_t)status.st_mtim.tv_nsec;
	return true;
}

/* "BUILD-ID PATH".  perf itself links what ran into its cache of files by build ID, which
 * changes when they were changed. */
static void take_build_id(struct cp_perf *perf, const char *line)
{
	uint8_t id[32];
	size_t n = 0;
	const char *path, *why;
	struct cp_symbols *symbols;

	while (n < sizeof(id) && sscanf(line + 2 * n, "%2hhx", &id[n]) == 1)
		n++;
	if (!n || line[2 * n] != ' ' || line[2 * n + 1] != '/')
		return;
	path = cp_arena_copy(
		perf->arena, line + 2 * n + 1, strcspn(line + 2 * n + 1, "\n"));
	symbols = cp_symbols_open(path, id, n, &why);
	if (!symbols)
		return;
	cp_symbols_close(symbols);
	*CP_ADD(perf->arena, perf->same) = path;
}

static bool ask_perf(
	struct cp_perf *perf, const char *path, char *error, size_t error_size)
{
	char *name = (char *)(uintptr_t)path;
	char *events[] = {"perf", "evlist", "-v", "-i", name, NULL},
	     *header[] = {"perf", "script", "--header-only", "-i", name, NULL},
	     *builds[] = {"perf", "buildid-list", "-i", name, NULL};
	int status = each_line(perf, events, take_event);

	if (status == -1 || (WIFEXITED(status) && WEXITSTATUS(status) == 127)) {
		snprintf(error, error_size,
			"perf is needed to read %s (Debian: linux-perf)", path);
		return false;
	}
	leave_out_repeated(perf);
	if (status == 0)
		status = each_line(perf, header, take_header);
	if (status == 0)
		each_line(perf, builds, take_build_id);
	if (status)
		snprintf(error, error_size,
			"perf cannot read %s: `perf evlist -i %s` says why", path, path);
	return status == 0;
}

struct cp_profile *cp_perf_data_read(struct cp_arena *arena, const char *path,
	const char *measurement, char *error, size_t error_size)
{
	/* AMD's words are the most cautious ones: of an unknown processor they hold, too.
	 */
	struct cp_perf perf = {.arena = arena,
		.has_source = true,
		.has_weight = true,
		.vendor_name = "amd",
		.command = path};
	struct cp_profile *profile = NULL;
	const char *wrong;

	if (!look_at_file(&perf, path, error, error_size) ||
		!ask_perf(&perf, path, error, error_size))
		return NULL;
	wrong = choose_measurement(&perf, measurement);
	if (wrong) {
		snprintf(error, error_size, "%s: %s", path, wrong);
		return NULL;
	}
	if (read_script(&perf, path) == 0)
		profile = make_profile(&perf);
	if (!profile)
		snprintf(error, error_size,
			"%s: perf script shows no sample of a program", path);
	return profile;
}
