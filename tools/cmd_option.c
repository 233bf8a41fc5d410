/* SPDX-License-Identifier: MIT
 *
 * The options of every command: getopt_long(), with our words for what is wrong.
 */
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
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

/* As getopt_long(); '?' after saying what is wrong. */
static int next_option(
	int argc, char **argv, const char *letters, const struct option *options)
{
	int option;

	opterr = 0;
	while ((option = getopt_long(argc, argv, letters, options, NULL)) == COLOUR)
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

/* ---- a command's own ---- */

bool cp_cmd_number(const struct cp_arg *arg, const char *value, uint64_t least,
	uint64_t most, uint64_t *to)
{
	uint64_t number;

	if (cp_parse_u64(value, &number) == 0 && number >= least && number <= most) {
		*to = number;
		return true;
	}
	fprintf(stderr, "cachepeek: --%s %s: expected a number from %llu to %llu\n",
		arg->name, value, (unsigned long long)least, (unsigned long long)most);
	return false;
}

enum { FIRST = UCHAR_MAX + 1 };

static int has_value(enum cp_arg_kind kind)
{
	switch (kind) {
	case CP_ARG_FLAG:
	case CP_ARG_JSON:
	case CP_ARG_LIST_JSON:
	case CP_ARG_TAKE_FLAG:
		return no_argument;
	case CP_ARG_OPTIONAL:
	case CP_ARG_TAKE_OPTIONAL:
		return optional_argument;
	default:
		return required_argument;
	}
}

/* To a list with commas. */
static bool add_to(char **list, const char *entry)
{
	char *longer;

	if (asprintf(&longer, "%s%s%s", *list ? *list : "", *list ? "," : "", entry) < 0)
		return false;
	free(*list);
	*list = longer;
	return true;
}

static bool take_one(void *request, const struct cp_arg *arg, const char *value)
{
	void *at = (char *)request + arg->at;

	switch (arg->kind) {
	case CP_ARG_FLAG:
		return *(bool *)at = true;
	case CP_ARG_TEXT:
	case CP_ARG_OPTIONAL:
		*(const char **)at = value ? value : "1";
		return true;
	case CP_ARG_OUTPUT:
	case CP_ARG_JSON:
		return cp_output_add(at, value ? value : "-.json");
	case CP_ARG_LIST:
	case CP_ARG_LIST_JSON:
		return add_to(at, value ? value : "-.json");
	default:
		return arg->take(request, arg, value);
	}
}

/* A row's option has its letter for a value, or its number. */
static const struct cp_arg *arg_of(const struct cp_arg *args, int option)
{
	if (option >= FIRST)
		return &args[option - FIRST];
	while (args->letter != option)
		args++;
	return args;
}

static bool take_all(int argc, char **argv, const struct cp_arg *args, void *request,
	const char *before)
{
	struct option options[MAX_NAMES + 2] = {{NULL, 0, NULL, 0}};
	char letters[2 * MAX_NAMES + 4], *letter = stpcpy(letters, before);
	int option;

	for (int i = 0; i < MAX_NAMES && args[i].name; i++) {
		int has = has_value(args[i].kind);

		options[i] = (struct option){args[i].name, has, NULL,
			args[i].letter ? args[i].letter : FIRST + i};
		if (args[i].letter)
			letter = stpcpy(
				letter, (char[]){args[i].letter, has ? ':' : '\0', '\0'});
		options[i + 1] = colour_option;
	}
	optind = 1;
	while ((option = next_option(argc, argv, letters, options)) != -1)
		if (option == '?' || !take_one(request, arg_of(args, option), optarg))
			return false;
	return true;
}

bool cp_cmd_args(int argc, char **argv, const struct cp_arg *args, void *request)
{
	return take_all(argc, argv, args, request, "+:");
}

bool cp_cmd_args_mixed(int argc, char **argv, const struct cp_arg *args, void *request)
{
	return take_all(argc, argv, args, request, ":");
}
