/* SPDX-License-Identifier: MIT
 *
 * The options of every command: getopt_long(), with our words for what is wrong.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/shared/cmd.h"
#include "tools/shared/help.h"
#include "tools/shared/pager.h"
#include "tools/shared/peers.h"

#define MAX_NAMES 32
#define MAX_WORD 128

/* ---- --color, which every command has ---- */

enum { COLOUR = INT_MAX };
static const struct option colour_option = {"color", required_argument, NULL, COLOUR};

static bool colour_given;
static enum cp_colour colour;

enum cp_colour cp_cmd_colour(void)
{
	enum cp_colour asked = colour_given ? colour : cp_colour_of(cp_cmd_getenv);

	return asked == CP_COLOUR_AUTO && cp_pager_on() ? CP_COLOUR_ALWAYS : asked;
}

static bool take_colour(const char *when)
{
	static const char *const words[] = {
		[CP_COLOUR_AUTO] = "auto",
		[CP_COLOUR_ALWAYS] = "always",
		[CP_COLOUR_NEVER] = "never",
	};

	for (unsigned i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcmp(when, words[i]) == 0) {
			colour_given = true;
			colour = (enum cp_colour)i;
			return true;
		}
	fprintf(stderr, "cachepeek: --color %s: expected auto, always or never\n", when);
	return false;
}

/* ---- all ---- */

static const struct option *with_value(const struct option *options, int value)
{
	for (; options->name; options++)
		if (options->val == value)
			return options;
	return NULL;
}

/* Every command has --help, --version and --color. */
static int say_misspelt(
	const char *command, const char *word, const struct option *options)
{
	char names[MAX_NAMES][MAX_WORD], typed[MAX_WORD], where[32];
	const char *known[MAX_NAMES + 4] = {"--help", "--version", "--color"};
	size_t count = 0;

	for (; options->name && count < MAX_NAMES; options++, count++) {
		snprintf(names[count], sizeof(names[count]), "--%s", options->name);
		known[3 + count] = names[count];
	}
	snprintf(typed, sizeof(typed), "%.*s", (int)strcspn(word, "="), word);
	snprintf(where, sizeof(where), "help %s", command);
	return cp_cmd_misspelt("option", typed, known, where);
}

static void refuse_option(char **argv, const struct option *options)
{
	const struct option *known = optopt ? with_value(options, optopt) : NULL;
	char letter[] = {'-', (char)optopt, '\0'};
	const char *word, *answer;

	if (known) {
		fprintf(stderr, "cachepeek: --%s takes no value\n", known->name);
		return;
	}
	word = optopt ? letter : argv[optind - 1];
	cp_help_asked(argv[0], word);
	answer = strcmp(cp_cmd_name(argv[0]), "run") == 0 ? cp_peer_answer(word) : NULL;
	if (answer)
		fprintf(stderr, "cachepeek: there is no option \"%s\": %s\n", word,
			answer);
	else
		say_misspelt(cp_cmd_name(argv[0]), word, options);
}

int cp_cmd_option(
	int argc, char **argv, const char *letters, const struct option *options)
{
	struct option all[MAX_NAMES + 2] = {colour_option};
	int option;

	for (size_t i = 0; i < MAX_NAMES && options[i].name; i++)
		all[1 + i] = options[i];
	opterr = 0;
	while ((option = getopt_long(argc, argv, letters, all, NULL)) == COLOUR)
		if (!take_colour(optarg))
			return '?';
	if (option == '?')
		refuse_option(argv, options);
	if (option == ':')
		fprintf(stderr,
			"cachepeek: %s lacks its value: "
			"`cachepeek help %s` shows which\n",
			argv[optind - 1], cp_cmd_name(argv[0]));
	return option == ':' ? '?' : option;
}
