/* SPDX-License-Identifier: MIT */
#include "output/preset.h"

#include <errno.h>
#include <string.h>

#include "base/embedded.h"
#include "base/format.h"
#include "output/words.h"

/* A data file of one or more PMUs, at the line after the directives read. */
struct file {
	struct cp_lines lines;
	unsigned line_size;
	bool bare, matches;
};

static bool is_events(const char *name)
{
	size_t length = strlen(name);

	return length > 7 && strcmp(name + length - 7, ".events") == 0;
}

static unsigned parse_unsigned(struct cp_slice text)
{
	unsigned value = 0;

	for (; text.at < text.end && *text.at >= '0' && *text.at <= '9' && value < 100000;
		text.at++)
		value = value * 10 + (unsigned)(*text.at - '0');
	return value;
}

static void read_directive(struct file *file, struct cp_slice line, const char *pmu)
{
	struct cp_slice directive, word;

	cp_slice_word(&line, &directive);
	if (cp_slice_is(directive, "@bare"))
		file->bare = true;
	else if (cp_slice_is(directive, "@line") && cp_slice_word(&line, &word))
		file->line_size = parse_unsigned(word);
	else if (cp_slice_is(directive, "@pmu"))
		while (cp_slice_word(&line, &word))
			file->matches |= cp_slice_is(word, pmu);
}

/* Reads the directives at the head; the lines after them remain. */
static struct file open_file(const char *text, const char *pmu)
{
	struct file file = {.lines = {.at = text}};
	struct cp_slice line;
	struct cp_lines before = file.lines;

	while (cp_lines_next(&file.lines, &line) && *line.at == '@') {
		read_directive(&file, line, pmu);
		before = file.lines;
	}
	file.lines = before;
	return file;
}

static int find_file(const char *pmu, struct file *out)
{
	for (const struct cp_embedded *at = cp_embedded_files; at->name; at++) {
		if (!is_events(at->name))
			continue;
		*out = open_file(at->text, pmu);
		if (out->matches)
			return 0;
	}
	return -ENOENT;
}

static bool has_pmu(struct cp_slice event)
{
	for (const char *c = event.at; c + 1 < event.end; c++)
		if (c[0] == ':' && c[1] == ':')
			return true;
	return false;
}

static const char *event_name(struct cp_arena *arena, const struct file *file,
	const char *pmu, struct cp_slice event)
{
	size_t length = cp_slice_length(event), prefix = strlen(pmu);
	char *name;

	if (file->bare || has_pmu(event))
		return cp_arena_copy(arena, event.at, length);
	name = cp_arena_alloc(arena, prefix + 2 + length + 1);
	memcpy(name, pmu, prefix);
	memcpy(name + prefix, "::", 2);
	memcpy(name + prefix + 2, event.at, length);
	return name;
}

static int parse_alternative(struct cp_arena *arena, const struct file *file,
	const char *pmu, struct cp_slice text, struct cp_preset_alternative *out)
{
	struct cp_slice word;
	int sign = 1; /* of the term that comes; 0: an operator must come */

	while (cp_slice_word(&text, &word)) {
		bool plus = cp_slice_is(word, "+"), minus = cp_slice_is(word, "-");

		if ((plus || minus) && sign == 0) {
			sign = plus ? 1 : -1;
			continue;
		}
		if (plus || minus || sign == 0 || out->nterms == CP_PRESET_MAX_TERMS)
			return -EINVAL;
		out->terms[out->nterms++] =
			(struct cp_preset_term){sign, event_name(arena, file, pmu, word)};
		sign = 0;
	}
	return sign == 0 ? 0 : -EINVAL;
}

/* line is "name = alternative | alternative". */
static int parse_preset(struct cp_arena *arena, const struct file *file, const char *pmu,
	struct cp_slice line, struct cp_preset *out)
{
	struct cp_slice name, part;
	int error = 0;

	if (!memchr(line.at, '=', cp_slice_length(line)) ||
		!cp_slice_part(&line, '=', &name))
		return -EINVAL;
	memset(out, 0, sizeof(*out));
	out->name = cp_arena_copy(arena, name.at, cp_slice_length(name));
	out->meaning = cp_preset_meaning(arena, out->name);
	if (!out->meaning)
		out->meaning = "";
	while (!error && cp_slice_part(&line, '|', &part)) {
		if (out->nalternatives == CP_PRESET_MAX_ALTERNATIVES)
			return -EINVAL;
		error = parse_alternative(
			arena, file, pmu, part, &out->alternatives[out->nalternatives++]);
	}
	return out->nalternatives ? error : -EINVAL;
}

static bool line_defines(struct cp_slice line, const char *preset)
{
	struct cp_slice name;

	return cp_slice_part(&line, '=', &name) && cp_slice_is(name, preset);
}

int cp_preset_lookup(struct cp_arena *arena, const char *pmu, const char *preset,
	struct cp_preset *out)
{
	struct file file;
	struct cp_slice line;
	int error = find_file(pmu, &file);

	if (error)
		return error;
	while (cp_lines_next(&file.lines, &line))
		if (line_defines(line, preset))
			return parse_preset(arena, &file, pmu, line, out);
	return -ENOENT;
}

int cp_preset_each(struct cp_arena *arena, const char *pmu,
	bool (*visit)(void *context, const struct cp_preset *preset), void *context)
{
	struct cp_preset *preset = cp_arena_alloc(arena, sizeof(*preset));
	struct cp_slice line;
	struct file file;
	int error = find_file(pmu, &file);

	while (!error && cp_lines_next(&file.lines, &line)) {
		error = parse_preset(arena, &file, pmu, line, preset);
		if (!error && !visit(context, preset))
			break;
	}
	return error;
}

unsigned cp_preset_line(const char *pmu)
{
	struct file file;

	return find_file(pmu, &file) == 0 ? file.line_size : 0;
}

/* The next "@doc NAME MEANING"; line becomes the meaning. */
static bool next_doc(struct cp_lines *lines, struct cp_slice *name, struct cp_slice *line)
{
	struct cp_slice directive;

	while (cp_lines_next(lines, line)) {
		if (!cp_slice_word(line, &directive) || !cp_slice_is(directive, "@doc") ||
			!cp_slice_word(line, name))
			continue;
		*line = cp_slice_trim(*line);
		return true;
	}
	return false;
}

/* Every preset has a line in meanings.events: a test sees to that. */
static struct cp_lines docs(void)
{
	const char *text = cp_embedded_find("meanings.events");

	return (struct cp_lines){.at = text ? text : ""};
}

static bool find_doc(const char *preset, struct cp_slice *meaning)
{
	struct cp_lines lines = docs();
	struct cp_slice name;

	while (next_doc(&lines, &name, meaning))
		if (cp_slice_is(name, preset))
			return true;
	return false;
}

bool cp_preset_known(const char *name)
{
	struct cp_slice meaning;

	return find_doc(name, &meaning);
}

const char *cp_preset_meaning(struct cp_arena *arena, const char *name)
{
	struct cp_slice meaning;

	if (!find_doc(name, &meaning))
		return NULL;
	return cp_arena_copy(arena, meaning.at, cp_slice_length(meaning));
}

const char *const *cp_preset_names(struct cp_arena *arena)
{
	struct cp_lines lines = docs();
	struct cp_slice name, meaning;
	size_t count = 0, i = 0;
	const char **names;

	while (next_doc(&lines, &name, &meaning))
		count++;
	names = cp_arena_alloc(arena, (count + 1) * sizeof(*names));
	lines = docs();
	while (next_doc(&lines, &name, &meaning))
		names[i++] = cp_arena_copy(arena, name.at, cp_slice_length(name));
	return names;
}
