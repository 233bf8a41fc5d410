/* SPDX-License-Identifier: MIT
 *
 * Programs into which nothing can be preloaded, under the simulated PMU alone:
 * there are no regions, but the whole run is counted.
 */
#include "tools/alone.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "preload/machine.h"
#include "tools/launch.h"
#include "tools/place.h"

#if defined(__x86_64__)
#define TOOL_FILE "cachepeek-amd64-linux"
#elif defined(__aarch64__)
#define TOOL_FILE "cachepeek-arm64-linux"
#else
#define TOOL_FILE "cachepeek-none"
#endif

static const char *const core_options[] = {"--tool=cachepeek", "-q", "--vgdb=no",
	"--max-threads=5000", "--run-libc-freeres=no", "--read-inline-info=no",
	"--vex-guest-chase=no", "--report=yes"};
#define NCORE (sizeof(core_options) / sizeof(core_options[0]))

static const char *const names[] = {
#define X(name, meaning) #name,
	CP_SIM_COUNTERS (X)
#undef X
};

struct command {
	char directory[PATH_MAX], tool[PATH_MAX + 32], log[64];
	struct machine_options {
		char level[CP_NLEVELS][CP_MACHINE_OPTION], page[32], cores[32];
	} machine[CP_MAX_MACHINES];
	const char **argv;
	size_t count;
};

static void add(struct command *command, const char *word)
{
	command->argv[command->count++] = word;
}

static int find_tool(struct command *command)
{
	char library[PATH_MAX], *slash;

	if (cp_library_path(library, sizeof(library)) < 0)
		return -ENOENT;
	slash = strrchr(library, '/');
	if (!slash)
		return -ENOENT;
	*slash = '\0';
	snprintf(command->directory, sizeof(command->directory), "%.4000s/cachepeek",
		library);
	snprintf(command->tool, sizeof(command->tool), "%s/" TOOL_FILE,
		command->directory);
	return access(command->tool, X_OK) == 0 ? 0 : -errno;
}

static void add_machine(struct command *command, struct machine_options *options,
	const struct cp_machine *machine)
{
	for (int level = 0; level < CP_NLEVELS; level++) {
		cp_machine_option(machine, (enum cp_level)level, options->level[level],
			sizeof(options->level[level]));
		add(command, options->level[level]);
	}
	snprintf(options->page, sizeof(options->page), "--page=%u", machine->page);
	snprintf(options->cores, sizeof(options->cores), "--cores=%u", machine->cores);
	add(command, options->page);
	add(command, options->cores);
}

static void add_options(struct command *command, const struct cp_machine *machines,
	unsigned nmachines, FILE *log)
{
	snprintf(command->log, sizeof(command->log), "--log-file=/proc/%d/fd/%d",
		(int)getpid(), fileno(log));
	add(command, command->tool);
	for (size_t i = 0; i < NCORE; i++)
		add(command, core_options[i]);
	add(command, command->log);
	for (unsigned i = 0; i < nmachines; i++) {
		if (i)
			add(command, "--next-machine");
		add_machine(command, &command->machine[i], &machines[i]);
	}
	add(command, "--");
}

static int counter_of(const char *name)
{
	for (int i = 0; i < CP_SIM_NCOUNTERS; i++)
		if (strcmp(names[i], name) == 0)
			return i;
	return -1;
}

/* "==PID== process PID NAME VALUE", and of others than the first machine
 * "==PID== machine NUMBER NAME VALUE". */
static void read_counts(FILE *log, struct cp_counted_alone *counted, unsigned nmachines)
{
	char line[256], who[16], name[64];
	unsigned long long value;
	unsigned number;
	int counter;

	rewind(log);
	while (fgets(line, sizeof(line), log)) {
		if (sscanf(line, "==%*d== %15s %u %63s %llu", who, &number, name,
			    &value) != 4 ||
			(counter = counter_of(name)) < 0)
			continue;
		if (strcmp(who, "process") == 0)
			number = 0;
		else if (strcmp(who, "machine") != 0 || number >= nmachines)
			continue;
		counted->seen = true;
		counted->count[number][counter] = value;
	}
}

int cp_count_alone(char **argv, const struct cp_machine *machines, unsigned nmachines,
	struct cp_counted_alone *counted)
{
	static struct command command;
	struct cp_launch launch;
	size_t given = 0;
	FILE *log = tmpfile();
	int result = find_tool(&command);

	memset(counted, 0, sizeof(*counted));
	while (argv[given])
		given++;
	command.count = 0;
	command.argv = calloc(
		given + NCORE + nmachines * (CP_NLEVELS + 3) + 8, sizeof(*command.argv));
	if (result < 0 || !log || !command.argv)
		return result < 0 ? result : -ENOMEM;
	add_options(&command, machines, nmachines, log);
	for (size_t i = 0; i < given; i++)
		add(&command, argv[i]);
	setenv("VALGRIND_LIB", command.directory, 1);
	setenv("VALGRIND_LAUNCHER", "/proc/self/exe", 1);
	result = cp_launch(&launch, (char *const *)(uintptr_t)command.argv, NULL);
	counted->status = launch.status;
	if (result == 0)
		read_counts(log, counted, nmachines);
	fclose(log);
	free(command.argv);
	return result;
}

static void print_counts(const char *program, const struct cp_machine *machine,
	const uint64_t count[CP_SIM_NCOUNTERS])
{
	char text[512];

	cp_machine_describe(machine, text, sizeof(text));
	fprintf(stderr,
		"cachepeek %s: %s\n"
		"engine    simulated PMU (sim); nothing can be preloaded into a static "
		"program:\n"
		"          its raw counters, without regions, groups and report files\n"
		"machine   %s\n"
		"counted   user mode only, from the first instruction on; not its "
		"children\n\n",
		CP_VERSION, program, text);
	for (int i = 0; i < CP_SIM_NCOUNTERS; i++)
		if (count[i])
			fprintf(stderr, "%-22s %15llu\n", names[i],
				(unsigned long long)count[i]);
	fprintf(stderr, "The other counters are 0.\n");
}

int cp_run_alone(char **argv, const struct cp_machine *machine, int *status)
{
	static struct cp_counted_alone counted;
	int result = cp_count_alone(argv, machine, 1, &counted);

	*status = counted.status;
	if (result == 0)
		print_counts(argv[0], machine, counted.count[0]);
	return result;
}
