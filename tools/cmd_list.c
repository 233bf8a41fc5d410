/* SPDX-License-Identifier: MIT
 *
 * cachepeek list: what can be asked for.
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/embedded.h"
#include "base/text/table.h"
#include "base/encoder/pfm.h"
#include "tools/shared/cmd.h"
#include "tools/list/list.h"
#include "tools/list_events.h"

const char *cp_list_ours(const struct cp_list *list, enum cp_named what, const char *name)
{
	struct cp_other_name other;
	char line[256];

	if (!cp_other_name(list->arena, what, name, &other) ||
		strcmp(name, other.ours) == 0)
		return name;
	cp_other_name_note(&other, other.name, line, sizeof(line));
	printf("%s's ", other.tool);
	cp_cmd_wrap(line, strlen(other.tool) + 3, 2);
	return other.ours;
}

/* ---- events ---- */

bool cp_list_wants(const struct cp_list *list, const char *name)
{
	for (char *const *filter = list->names; *filter; filter++)
		if (strcasestr(name, *filter))
			return true;
	return !*list->names;
}

int cp_list_no_event(const struct cp_list *list)
{
	fprintf(stderr,
		"cachepeek: no event of this processor has \"%s\" in its name: "
		"`cachepeek list events` has all, `cachepeek list presets` those of "
		"every processor\n",
		*list->names);
	return 2;
}

/* ---- machines ---- */

static const char HOST[] = "the caches and TLBs of this machine";
static const char PLAIN_HOST[] =
	"the same without its policies and prefetchers, in half the time";

/* The first comment after the licence says what it is. */
static const char *after_licence(const char *file)
{
	const char *comment = strstr(file, "\n# ");

	return comment ? comment + 1 : "";
}

void cp_list_each_machine(void (*each)(void *context, const char *name, const char *text),
	void *context, struct cp_arena *arena)
{
	each(context, "host", HOST);
	each(context, "plain", PLAIN_HOST);
	for (const struct cp_embedded *file = cp_embedded_files; file->name; file++) {
		const char *text = after_licence(file->text);
		size_t length = strlen(file->name);

		text += strspn(text, "# ");
		if (length > 8 && strcmp(file->name + length - 8, ".machine") == 0)
			each(context, cp_arena_copy(arena, file->name, length - 8),
				cp_arena_copy(arena, text, strcspn(text, "\n")));
	}
}

struct naming {
	const char *names[64];
	size_t count;
};

static void add_name(void *context, const char *name, const char *text)
{
	struct naming *naming = context;

	(void)text;
	if (naming->count < sizeof(naming->names) / sizeof(naming->names[0]) - 1)
		naming->names[naming->count++] = name;
}

int cp_list_check_machines(const struct cp_list *list)
{
	struct naming naming = {.count = 0};

	cp_list_each_machine(add_name, &naming, list->arena);
	for (char *const *name = list->names; *name; name++) {
		size_t i = 0;

		while (naming.names[i] && strcmp(naming.names[i], *name) != 0)
			i++;
		if (!naming.names[i])
			return cp_cmd_misspelt(
				"machine", *name, naming.names, "list machines");
	}
	return 0;
}

static void show_machine(const struct cp_list *list, const char *name)
{
	const char *file =
		cp_embedded_find(cp_text_format(list->arena, "%s.machine", name));

	if (file)
		printf("%s\n%s", name, after_licence(file));
	else
		printf("%s\n# %s: `cachepeek doctor` says what they are\n", name,
			strcmp(name, "plain") == 0 ? PLAIN_HOST : HOST);
}

static void print_machine(void *context, const char *name, const char *text)
{
	(void)context;
	printf("%-16s ", name);
	cp_cmd_wrap(text, 17, 17);
}

static int list_machines(const struct cp_list *list)
{
	int status = cp_list_check_machines(list);

	if (!*list->names)
		cp_list_each_machine(print_machine, NULL, list->arena);
	for (char *const *name = list->names; !status && *name; name++) {
		if (name != list->names)
			puts("");
		show_machine(list, *name);
	}
	return status;
}

/* ---- which ---- */

static const char *const topics[] = {"events", "presets", "groups", "machines", NULL};

static bool takes_pmu(const char *topic)
{
	return strcmp(topic, "events") != 0 && strcmp(topic, "machines") != 0;
}

static int list_topic(const char *topic, const struct cp_list *list)
{
	static int (*const lists[])(const struct cp_list *list) = {
		cp_list_events, cp_list_presets, cp_list_groups, list_machines};

	if (list->pmu && !takes_pmu(topic)) {
		fprintf(stderr,
			"cachepeek: list %s takes no --pmu: presets and groups do\n",
			topic);
		return 2;
	}
	if (list->json && list->check)
		return fprintf(stderr, "cachepeek: list: either --json or --check\n"), 2;
	for (size_t i = 0; topics[i]; i++)
		if (strcmp(topic, topics[i]) == 0)
			return list->json ? cp_list_json(list, topic) : lists[i](list);
	return cp_cmd_misspelt("list of", topic, topics, "help list");
}

#define AT(kind, member) CP_ARG_AT(kind, struct cp_list, member)

static const struct cp_arg args[] = {
	{"pmu", 'p', AT(TEXT, pmu)},
	{"check", 0, AT(FLAG, check)},
	{"json", 0, AT(FLAG, json)},
	{"verbose", 'v', AT(FLAG, verbose)},
	{.name = NULL},
};

static bool parse_arguments(int argc, char **argv, struct cp_list *list)
{
	if (!cp_cmd_args_mixed(argc, argv, args, list))
		return false;
	if (optind == argc)
		fprintf(stderr, "cachepeek: list what? cachepeek list "
				"events|presets|groups|machines\n");
	return optind < argc;
}

int cp_cmd_list(int argc, char **argv)
{
	struct cp_arena arena = {0};
	struct cp_list list = {.arena = &arena};
	struct cp_escape out_of_memory;
	int status;

	if (!parse_arguments(argc, argv, &list))
		return 2;
	if (CP_ESCAPE_SET(out_of_memory)) {
		fprintf(stderr, "cachepeek: out of memory\n");
		return 1;
	}
	arena.out_of_memory = &out_of_memory;
	list.names = argv + optind + 1;
	status = list_topic(argv[optind], &list);
	cp_arena_free(&arena);
	return fflush(stdout) == 0 ? status : 1;
}
