/* SPDX-License-Identifier: MIT
 *
 * The options of every command: getopt_long(), with our words for what is wrong.
 */
#include <stdio.h>
#include <string.h>

#include "tools/cmd.h"
#include "tools/help.h"

#define MAX_NAMES 32
#define MAX_WORD 128

static const struct option *with_value(const struct option *options, int value)
{
	for (; options->name; options++)
		if (options->val == value)
			return options;
	return NULL;
}

/* Every command has --help and --version. */
static int misspelt(const char *command, const char *word, const struct option *options)
{
	char names[MAX_NAMES][MAX_WORD], typed[MAX_WORD], where[32];
	const char *known[MAX_NAMES + 3] = {"--help", "--version"};
	size_t count = 0;

	for (; options->name && count < MAX_NAMES; options++, count++) {
		snprintf(names[count], sizeof(names[count]), "--%s", options->name);
		known[2 + count] = names[count];
	}
	snprintf(typed, sizeof(typed), "%.*s", (int)strcspn(word, "="), word);
	snprintf(where, sizeof(where), "help %s", command);
	return cp_cmd_misspelt("option", typed, known, where);
}

static void refuse(char **argv, const struct option *options)
{
	const struct option *known = optopt ? with_value(options, optopt) : NULL;
	char letter[] = {'-', (char)optopt, '\0'};

	if (known) {
		fprintf(stderr, "cachepeek: --%s takes no value\n", known->name);
		return;
	}
	cp_help_asked(argv[0], optopt ? letter : argv[optind - 1]);
	misspelt(cp_cmd_name(argv[0]), optopt ? letter : argv[optind - 1], options);
}

int cp_cmd_option(
	int argc, char **argv, const char *letters, const struct option *options)
{
	int option;

	opterr = 0;
	option = getopt_long(argc, argv, letters, options, NULL);
	if (option == '?')
		refuse(argv, options);
	if (option == ':')
		fprintf(stderr,
			"cachepeek: %s lacks its value: `cachepeek help %s` shows "
			"which\n",
			argv[optind - 1], cp_cmd_name(argv[0]));
	return option == ':' ? '?' : option;
}
