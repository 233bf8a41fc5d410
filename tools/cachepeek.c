/* SPDX-License-Identifier: MIT
 *
 * cachepeek: finds the command and leaves the rest to it.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "base/env.h"
#include "base/counters/options.h"
#include "base/text/nearest.h"
#include "base/text/table.h"
#include "tools/shared/cmd.h"
#include "tools/shared/demangle.h"
#include "tools/shared/source_at.h"
#include "tools/shared/help.h"
#include "tools/shared/pager.h"

static const struct command {
	const char *name;
	int (*run)(int argc, char **argv);
} commands[] = {
	{"run", cp_cmd_run},
	{"report", cp_cmd_report},
	{"compare", cp_cmd_compare},
	{"dcache", cp_cmd_profile},
	{"dtlb", cp_cmd_profile},
	{"icache", cp_cmd_profile},
	{"sharing", cp_cmd_sharing},
	{"explain", cp_cmd_explain},
	{"annotate", cp_cmd_annotate},
	{"diff", cp_cmd_diff},
	{"gate", cp_cmd_gate},
	{"merge", cp_cmd_merge},
	{"list", cp_cmd_list},
	{"doctor", cp_cmd_doctor},
	{"help", cp_cmd_help},
};

int cp_cmd_version(void)
{
	printf("cachepeek %s\n", CP_VERSION);
	return fflush(stdout) == 0 ? 0 : 1;
}

int cp_cmd_misspelt(
	const char *what, const char *word, const char *const *known, const char *where)
{
	const char *nearest = cp_nearest(word, known);

	if (nearest)
		fprintf(stderr,
			"cachepeek: there is no %s \"%s\": did you mean \"%s\"?\n", what,
			word, nearest);
	else
		fprintf(stderr,
			"cachepeek: there is no %s \"%s\": `cachepeek %s` has them\n",
			what, word, where);
	return 2;
}

void cp_cmd_wrap(const char *text, size_t at, size_t indent)
{
	struct cp_out out;

	fflush(stdout);
	cp_out_open(&out, STDOUT_FILENO);
	cp_text_wrap(&out, text, at, indent, 80);
	(void)cp_out_flush(&out);
}

const char *cp_cmd_like(const char *word)
{
	const char *names[sizeof(commands) / sizeof(commands[0]) + 1] = {NULL};

	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		names[i] = commands[i].name;
	return strchr(word, '/') ? NULL : cp_nearest(word, names);
}

static const struct command *find_command(const char *word)
{
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (strcmp(word, commands[i].name) == 0)
			return &commands[i];
	return NULL;
}

const char *cp_cmd_name(const char *word)
{
	return find_command(word) ? word : "run";
}

int cp_cmd_help(int argc, char **argv)
{
	const char *names[sizeof(commands) / sizeof(commands[0]) + 2] = {NULL};
	size_t count = 0;
	int status = cp_help(argc > 1 ? argv[1] : "cachepeek");

	if (status >= 0)
		return status;
	for (; count < sizeof(commands) / sizeof(commands[0]); count++)
		names[count] = commands[count].name;
	names[count] = "variables";
	return cp_cmd_misspelt("command", argv[1], names, "help");
}

/* Is the command's own output to be read, and possibly long? */
static bool is_read(const struct command *command)
{
	static const char *const names[] = {
		"report", "merge", "diff", "explain", "list", "help"};

	return CP_IS_AMONG(command->name, names);
}

/* Into files. */
static bool has_output(char **argv)
{
	for (; *argv; argv++)
		if (strncmp(*argv, "-o", 2) == 0 || strncmp(*argv, "--output", 8) == 0)
			return true;
	return false;
}

/* A variable that is empty is one that is not set, for the command as for the library. */
static void forget_empty_variables(void)
{
	for (const struct cp_option *option = cp_option_table; option->name; option++) {
		const char *value = getenv(option->name);

		if (value && !*value)
			unsetenv(option->name);
	}
}

int main(int argc, char **argv)
{
	const struct command *command = find_command(argc > 1 ? argv[1] : "");
	const char *word;

	cp_env_use(environ);
	cp_demangle_start();
	cp_source_at_start();
	forget_empty_variables();
	if (argc < 2) {
		fprintf(stderr,
			"cachepeek: no program to run: cachepeek PROGRAM [arguments], "
			"or cachepeek --help\n");
		return 2;
	}
	word = command && argc > 2 ? argv[2] : argv[1];
	if (command && is_read(command) && !has_output(argv))
		cp_pager_start();
	if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
		return cp_help(command ? command->name : "cachepeek");
	if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0)
		return cp_cmd_version();
	return command ? command->run(argc - 1, argv + 1) : cp_cmd_run(argc, argv);
}
