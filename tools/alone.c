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

struct command {
	char directory[PATH_MAX], tool[PATH_MAX + 32], log[64];
	char level[CP_NLEVELS][CP_MACHINE_OPTION], page[32], cores[32];
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

static void add_machine(struct command *command, const struct cp_machine *machine)
{
	for (int level = 0; level < CP_NLEVELS; level++) {
		cp_machine_option(machine, (enum cp_level)level, command->level[level],
			sizeof(command->level[level]));
		add(command, command->level[level]);
	}
	snprintf(command->page, sizeof(command->page), "--page=%u", machine->page);
	snprintf(command->cores, sizeof(command->cores), "--cores=%u", machine->cores);
	add(command, command->page);
	add(command, command->cores);
}

/* "==PID== process PID NAME VALUE" */
static void print_counts(FILE *log, const char *program, const struct cp_machine *machine)
{
	char line[256], name[64], text[512];
	unsigned long long value;

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
	while (fgets(line, sizeof(line), log))
		if (sscanf(line, "==%*d== process %*d %63s %llu", name, &value) == 2 &&
			value)
			fprintf(stderr, "%-22s %15llu\n", name, value);
	fprintf(stderr, "The other counters are 0.\n");
}

int cp_run_alone(char **argv, const struct cp_machine *machine, int *status)
{
	static struct command command;
	struct cp_launch launch;
	size_t given = 0;
	FILE *log = tmpfile();
	int result = find_tool(&command);

	while (argv[given])
		given++;
	command.argv = calloc(given + NCORE + CP_NLEVELS + 8, sizeof(char *));
	if (result < 0 || !log || !command.argv)
		return result < 0 ? result : -ENOMEM;
	snprintf(command.log, sizeof(command.log), "--log-file=/proc/%d/fd/%d",
		(int)getpid(), fileno(log));
	add(&command, command.tool);
	for (size_t i = 0; i < NCORE; i++)
		add(&command, core_options[i]);
	add(&command, command.log);
	add_machine(&command, machine);
	add(&command, "--");
	for (size_t i = 0; i < given; i++)
		add(&command, argv[i]);
	setenv("VALGRIND_LIB", command.directory, 1);
	setenv("VALGRIND_LAUNCHER", "/proc/self/exe", 1);
	result = cp_launch(&launch, (char *const *)(uintptr_t)command.argv, NULL);
	*status = launch.status;
	rewind(log);
	if (result == 0)
		print_counts(log, argv[0], machine);
	fclose(log);
	free(command.argv);
	return result;
}
