/* SPDX-License-Identifier: MIT */
#include "tools/shared/help.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/embedded.h"
#include "base/counters/options.h"
#include "tools/shared/cmd.h"

/* The files of tools/help, by tools/embed.sh. */
extern const struct cp_embedded cp_help_files[];

static const char *find_help(const char *name, size_t length, const char *ending)
{
	for (const struct cp_embedded *file = cp_help_files; file->name; file++)
		if (strncmp(file->name, name, length) == 0 &&
			strcmp(file->name + length, ending) == 0)
			return file->text;
	return NULL;
}

/* A line @NAME stands for the file NAME.part, and one with # is for who edits it. */
static void print_text(const char *text)
{
	while (*text) {
		size_t length = strcspn(text, "\n");
		const char *part =
			*text == '@' ? find_help(text + 1, length - 1, ".part") : NULL;

		if (part)
			print_text(part);
		else if (*text != '#')
			printf("%.*s\n", (int)length, text);
		text += length + (text[length] == '\n');
	}
}

static void print_variable(const struct cp_option *option)
{
	char text[512];

	snprintf(text, sizeof(text), "%s", option->help);
	if (option->fallback && !strstr(option->help, "default"))
		snprintf(text, sizeof(text), "%s (default: %s)", option->help,
			option->fallback);
	printf("  %s=%s\n        ", option->name,
		option->choices ? option->choices : option->placeholder);
	cp_cmd_wrap(text, 8, 8);
}

static void print_variables(void)
{
	printf("Variables, for the command and for LD_PRELOAD=libcachepeek.so alike:\n");
	for (const struct cp_option *option = cp_option_table; option->name; option++)
		print_variable(option);
}

int cp_help(const char *topic)
{
	const char *text = find_help(topic, strlen(topic), ".help");

	if (text)
		print_text(text);
	else if (strcmp(topic, "variables") == 0)
		print_variables();
	else
		return -1;
	return fflush(stdout) == 0 ? 0 : 1;
}

void cp_help_asked(const char *name, const char *word)
{
	if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0)
		exit(cp_cmd_version());
	if (strcmp(word, "--help") != 0 && strcmp(word, "-h") != 0)
		return;
	exit(cp_help(cp_cmd_name(name)));
}
