/* SPDX-License-Identifier: MIT
 *
 * Programs into which nothing can be preloaded, under the simulated PMU alone:
 * there are no regions, but the whole run is counted.
 */
#include "tools/runs/alone.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/counters/simtool.h"
#include "regions/rundir.h"
#include "tools/shared/place.h"

static const char *const names[] = {
#define X(name, meaning) #name,
	CP_SIM_COUNTERS (X)
#undef X
};

static const char *const sampled_names[] = {
#define X(name) #name,
	CP_SIM_BURST_COUNTERS(X) CP_SIM_SET_COUNTERS(X)
#undef X
};

static const char *const help_names[] = {
#define X(name) #name,
	CP_SIM_HELP_COUNTERS(X)
#undef X
};

struct command {
	char directory[PATH_MAX], tool[PATH_MAX + 32], log[64], sample[CP_SAMPLE_OPTION],
		profile[CP_RUNDIR_SIZE + 16];
	struct cp_sim_words machine[CP_MAX_MACHINES];
	const char **argv;
	size_t count;
};

static void add_word(struct command *command, const char *word)
{
	command->argv[command->count++] = word;
}

int cp_alone_directory(char *to, size_t size)
{
	char library[PATH_MAX], *slash;

	if (cp_library_path(library, sizeof(library)) < 0)
		return -ENOENT;
	slash = strrchr(library, '/');
	if (!slash)
		return -ENOENT;
	*slash = '\0';
	snprintf(to, size, "%.4000s/libcachepeek", library);
	return 0;
}

static int find_tool(struct command *command)
{
	int result = cp_alone_directory(command->directory, sizeof(command->directory));

	if (result < 0)
		return result;
	snprintf(command->tool, sizeof(command->tool), "%.4080s/" CP_SIM_TOOL,
		command->directory);
	return access(command->tool, X_OK) == 0 ? 0 : -errno;
}

static void add_options(struct command *command, const struct cp_machine *machines,
	unsigned nmachines, FILE *log)
{
	snprintf(command->log, sizeof(command->log), "--log-file=/proc/%d/fd/%d",
		(int)getpid(), fileno(log));
	add_word(command, command->tool);
	for (unsigned i = 0; i < CP_SIM_NCORE; i++)
		add_word(command, cp_sim_core_options[i]);
	add_word(command, "--report=yes");
	add_word(command, "--alone=yes");
	add_word(command, command->log);
	for (unsigned i = 0; i < nmachines; i++) {
		if (i)
			add_word(command, "--next-machine");
		cp_sim_describe(&machines[i], &command->machine[i]);
		for (unsigned w = 0; w < CP_SIM_NWORDS; w++)
			add_word(command, command->machine[i].word[w]);
	}
}

static int counter_of(const char *name)
{
	for (int i = 0; i < CP_SIM_NCOUNTERS; i++)
		if (strcmp(names[i], name) == 0)
			return i;
	return -1;
}

static int index_of(const char *const *all, int n, const char *name, size_t length)
{
	for (int i = 0; i < n; i++)
		if (strlen(all[i]) == length && memcmp(name, all[i], length) == 0)
			return i;
	return -1;
}

/* "sample_NAME_PART": its number; -1: it is none. */
static int part_of(const char *name)
{
	const char *part = strrchr(name, '_');
	size_t length = part ? (size_t)(part - name) : 0;
	int counter;

	if (length <= 7)
		return -1;
	counter = index_of(sampled_names, CP_SIM_SET_SWEEP, name + 7, length - 7);
	if (counter < 0) {
		counter = index_of(help_names, CP_SAMPLE_HELP, name + 7, length - 7);
		counter += counter < 0 ? 0 : CP_SIM_SET_HELP;
	}
	return counter < 0 ? -1 : counter * CP_SIM_PARTS + atoi(part + 1) % CP_SIM_PARTS;
}

/* "==PID== process PID NAME VALUE", and of others than the first machine
 * "==PID== machine NUMBER NAME VALUE"; children write the same with their own. */
static void read_counts(
	FILE *log, int pid, struct cp_counted_alone *counted, unsigned nmachines)
{
	char line[256], who[16], name[64];
	unsigned long long value;
	unsigned number;
	int counter, whose;

	rewind(log);
	while (fgets(line, sizeof(line), log)) {
		if (sscanf(line, "==%d== %15s %u %63s %llu", &whose, who, &number, name,
			    &value) != 5 ||
			whose != pid)
			continue;
		if (strcmp(who, "process") == 0)
			number = 0;
		else if (strcmp(who, "machine") != 0 || number >= nmachines)
			continue;
		counter = counter_of(name);
		counted->seen |= counter >= 0;
		if (counter >= 0)
			counted->count[number][counter] = value;
		else if (strncmp(name, "sample_", 7) == 0 && part_of(name) >= 0)
			counted->parts[number][part_of(name)] = value;
	}
}

/* One number, as in the library, is one sample. */
static void add_sample(struct command *command, const struct cp_sample_plan *sample)
{
	if (!sample)
		return;
	cp_sample_option(
		sample, 1 + (uint64_t)getpid(), command->sample, sizeof(command->sample));
	add_word(command, command->sample);
}

static void add_profile(struct command *command, const struct cp_alone_profile *profile)
{
	if (!profile)
		return;
	snprintf(command->profile, sizeof(command->profile), "--profile=%s",
		profile->directory);
	add_word(command, command->profile);
	if (profile->sharing)
		add_word(command, "--sharing=yes");
	if (profile->line_use)
		add_word(command, "--line-use=yes");
}

int cp_count_alone(char **argv, const struct cp_alone_run *run, struct cp_launch *launch,
	struct cp_counted_alone *counted)
{
	static struct command command;
	size_t given = 0;
	FILE *log = tmpfile();
	int result = find_tool(&command);

	memset(counted, 0, sizeof(*counted));
	while (argv[given])
		given++;
	command.count = 0;
	command.argv =
		calloc(given + CP_SIM_NCORE + run->nmachines * (CP_SIM_NWORDS + 1) + 16,
			sizeof(*command.argv));
	if (result < 0 || !log || !command.argv)
		return result < 0 ? result : -ENOMEM;
	add_options(&command, run->machines, run->nmachines, log);
	add_sample(&command, run->sample);
	add_profile(&command, run->profile);
	add_word(&command, "--");
	for (size_t i = 0; i < given; i++)
		add_word(&command, argv[i]);
	setenv("VALGRIND_LIB", command.directory, 1);
	setenv("VALGRIND_LAUNCHER", "/proc/self/exe", 1);
	result = cp_launch(launch, (char *const *)(uintptr_t)command.argv, NULL);
	if (result == 0)
		read_counts(log, launch->pid, counted, run->nmachines);
	fclose(log);
	free(command.argv);
	return result;
}
