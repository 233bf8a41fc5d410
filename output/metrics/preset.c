/* SPDX-License-Identifier: MIT */
#include "output/metrics/preset.h"

#include <errno.h>
#include <string.h>

#include "base/embedded.h"
#include "base/text.h"
#include "base/text/words.h"

/* A data file of one or more PMUs, at the line after the directives read. */
struct file {
	const char *text;
	struct cp_lines lines;
	unsigned line_size;
	bool bare, socket, matches, beside; /* the PMU that was asked for */
};

static const char *const include_names[] = {"loads", "stores", "prefetch", "code",
	"walks", "writebacks", "socket", "fills", NULL};

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

static bool has_word(struct cp_slice words, const char *wanted)
{
	struct cp_slice word;

	while (cp_slice_word(&words, &word))
		if (cp_slice_is(word, wanted))
			return true;
	return false;
}

static void read_directive(struct file *file, struct cp_slice line, const char *pmu)
{
	struct cp_slice directive, word;

	cp_slice_word(&line, &directive);
	if (cp_slice_is(directive, "@bare"))
		file->bare = true;
	else if (cp_slice_is(directive, "@line") && cp_slice_word(&line, &word))
		file->line_size = parse_unsigned(word);
	else if (cp_slice_is(directive, "@scope") && cp_slice_word(&line, &word))
		file->socket = cp_slice_is(word, "socket");
	else if (cp_slice_is(directive, "@pmu"))
		file->matches |= has_word(line, pmu);
	else if (cp_slice_is(directive, "@beside"))
		file->beside |= has_word(line, pmu);
}

/* Reads the directives at the head; the lines after them remain. */
static struct file open_file(const char *text, const char *pmu)
{
	struct file file = {.text = text, .lines = {.at = text}};
	struct cp_slice line;
	struct cp_lines before = file.lines;

	while (cp_lines_next(&file.lines, &line) && *line.at == '@') {
		read_directive(&file, line, pmu);
		before = file.lines;
	}
	file.lines = before;
	return file;
}

static bool is_among(const struct cp_embedded *files, const char *pmu, struct file *out)
{
	for (const struct cp_embedded *at = files; at->name; at++) {
		if (!is_events(at->name))
			continue;
		*out = open_file(at->text, pmu);
		if (out->matches)
			return true;
	}
	return false;
}

static int find_file(const char *pmu, struct file *out)
{
	return is_among(cp_embedded_files, pmu, out) ||
			       is_among(cp_processor_files(), pmu, out)
		       ? 0
		       : -ENOENT;
}

static bool has_pmu(struct cp_slice event)
{
	for (const char *c = event.at; c + 1 < event.end; c++)
		if (c[0] == ':' && c[1] == ':')
			return true;
	return false;
}

static bool is_sysfs(struct cp_slice event)
{
	return cp_slice_length(event) > 6 && memcmp(event.at, "sysfs:", 6) == 0;
}

static const char *event_name(struct cp_arena *arena, const struct file *file,
	const char *pmu, struct cp_slice event)
{
	size_t length = cp_slice_length(event), prefix = strlen(pmu);
	char *name;

	if (file->bare || has_pmu(event) || is_sysfs(event))
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

/* Cuts "{words}" off the end of the line; -EINVAL for a word that is none. */
static int cut_includes(struct cp_slice *line, unsigned *includes)
{
	const char *open = memchr(line->at, '{', cp_slice_length(*line));
	struct cp_slice words = {open ? open + 1 : line->end, line->end - 1}, word;
	unsigned i;

	*includes = 0;
	if (!open)
		return 0;
	if (line->end[-1] != '}')
		return -EINVAL;
	while (cp_slice_word(&words, &word)) {
		for (i = 0; include_names[i] && !cp_slice_is(word, include_names[i]);)
			i++;
		if (!include_names[i])
			return -EINVAL;
		*includes |= 1U << i;
	}
	line->end = open;
	return 0;
}

/* The comment that is all of the line above `at`, or "". */
static const char *note_above(
	struct cp_arena *arena, const struct file *file, const char *at)
{
	const char *end = at, *from;

	while (end > file->text && end[-1] != '\n')
		end--;
	if (end == file->text)
		return "";
	for (from = --end; from > file->text && from[-1] != '\n';)
		from--;
	if (*from != '#')
		return "";
	return cp_arena_copy(arena, from + 1 + (from[1] == ' '),
		(size_t)(end - from - 1 - (from[1] == ' ')));
}

/* line is "name = alternative | alternative {what is included}". */
static int parse_preset(struct cp_arena *arena, const struct file *file, const char *pmu,
	struct cp_slice line, struct cp_preset *out)
{
	struct cp_slice name, part;
	const char *start = line.at;
	int error;

	memset(out, 0, sizeof(*out));
	error = cut_includes(&line, &out->includes);
	if (error || !memchr(line.at, '=', cp_slice_length(line)) ||
		!cp_slice_part(&line, '=', &name))
		return -EINVAL;
	out->note = note_above(arena, file, start);
	out->name = cp_arena_copy(arena, name.at, cp_slice_length(name));
	out->meaning = cp_preset_meaning(arena, out->name);
	if (!out->meaning)
		out->meaning = "";
	if (file->socket)
		out->includes |= CP_INCLUDES_SOCKET;
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

bool cp_preset_is_socket(const char *pmu)
{
	struct file file;

	return find_file(pmu, &file) == 0 && file.socket;
}

const char *cp_preset_include_name(unsigned index)
{
	return index < sizeof(include_names) / sizeof(include_names[0])
		       ? include_names[index]
		       : NULL;
}

/* ---- the PMUs ---- */

/* The next "@pmu NAME…" among the files from *at on; *at: the file after it. */
static bool next_pmus(const struct cp_embedded **at, struct cp_slice *names)
{
	struct cp_slice directive;
	struct cp_lines lines;

	for (; (*at)->name; ++*at) {
		if (!is_events((*at)->name))
			continue;
		lines = (struct cp_lines){.at = (*at)->text};
		while (cp_lines_next(&lines, names) && *names->at == '@')
			if (cp_slice_word(names, &directive) &&
				cp_slice_is(directive, "@pmu"))
				return ++*at, true;
	}
	return false;
}

/* Does "NAME/0x97,0x9a" fit?  NAME may end in *. */
static bool is_device(struct cp_slice word, const char *device, unsigned model)
{
	const char *at = word.at, *end;
	uint64_t number;

	for (; at < word.end && *at != '/' && *at != '*'; at++, device++)
		if (*at != *device)
			return false;
	if (*device && (at == word.end || *at != '*'))
		return false;
	at += at < word.end && *at == '*';
	if (at == word.end)
		return true;
	while (at < word.end && (*at == '/' || *at == ',')) {
		if (cp_parse_u64_prefix(at + 1, &end, &number) < 0)
			return false;
		if (number == model)
			return true;
		at = end;
	}
	return false;
}

/* The file's first PMU, if one of its devices fits. */
static bool of_device(
	const char *text, const char *device, unsigned model, struct cp_slice *pmu)
{
	struct cp_lines lines = {.at = text};
	struct cp_slice line, directive, word;

	*pmu = (struct cp_slice){NULL, NULL};
	while (cp_lines_next(&lines, &line) && *line.at == '@') {
		cp_slice_word(&line, &directive);
		if (cp_slice_is(directive, "@pmu"))
			cp_slice_word(&line, pmu);
		while (cp_slice_is(directive, "@device") && cp_slice_word(&line, &word))
			if (is_device(word, device, model))
				return pmu->at != NULL;
	}
	return false;
}

const char *cp_preset_pmu_of_device(
	struct cp_arena *arena, const char *device, unsigned model)
{
	struct cp_slice pmu = {"", ""};

	for (const struct cp_embedded *at = cp_processor_files(); at->name; at++)
		if (is_events(at->name) && of_device(at->text, device, model, &pmu))
			return cp_arena_copy(arena, pmu.at, cp_slice_length(pmu));
	return NULL;
}

static bool is_beside(const struct cp_embedded *embedded, const char *core)
{
	return !core || open_file(embedded->text, core).beside;
}

/* Collects the PMUs of the files beside core, or all (NULL); names may be NULL to count.
 */
static size_t collect_pmus(struct cp_arena *arena, const char *core, const char **names)
{
	const struct cp_embedded *at = cp_processor_files();
	struct cp_slice line, word;
	size_t count = 0;

	while (next_pmus(&at, &line))
		while (is_beside(at - 1, core) && cp_slice_word(&line, &word)) {
			if (names)
				names[count] = cp_arena_copy(
					arena, word.at, cp_slice_length(word));
			count++;
		}
	return count;
}

const char *const *cp_preset_beside(struct cp_arena *arena, const char *core)
{
	size_t count = collect_pmus(arena, core, NULL);
	const char **names = cp_arena_alloc(arena, (count + 1) * sizeof(*names));

	collect_pmus(arena, core, names);
	return names;
}

const char *const *cp_preset_pmus(struct cp_arena *arena)
{
	return cp_preset_beside(arena, NULL);
}

/* ---- counters ---- */

/* "0-3,7"; 0 if it is not that. */
static uint32_t parse_counters(struct cp_slice text)
{
	struct cp_slice range, from;
	uint32_t mask = 0;

	while (cp_slice_part(&text, ',', &range)) {
		cp_slice_part(&range, '-', &from);
		unsigned first = parse_unsigned(from);
		unsigned last = range.at < range.end ? parse_unsigned(range) : first;

		for (; first <= last && first < 32; first++)
			mask |= 1U << first;
	}
	return mask;
}

static bool stands_for(struct cp_slice pattern, const char *event)
{
	size_t length = cp_slice_length(pattern);

	return strncmp(pattern.at, event, length) == 0 &&
	       (event[length] == '\0' || event[length] == ':');
}

static bool lists_event(struct cp_slice events, const char *event)
{
	struct cp_slice word;

	while (cp_slice_word(&events, &word))
		if (stands_for(word, event))
			return true;
	return false;
}

int cp_preset_counters(const char *pmu, const char *event, uint32_t *counters)
{
	size_t prefix = strlen(pmu);
	struct cp_slice line, directive, word;
	struct file file;
	int error = find_file(pmu, &file);

	if (error)
		return error;
	if (strncmp(event, pmu, prefix) == 0 && strncmp(event + prefix, "::", 2) == 0)
		event += prefix + 2;
	error = -ENOENT;
	file.lines = (struct cp_lines){.at = file.text};
	while (cp_lines_next(&file.lines, &line) && *line.at == '@') {
		cp_slice_word(&line, &directive);
		if (cp_slice_is(directive, "@fixed") && lists_event(line, event))
			return *counters = 0, 0;
		if (cp_slice_is(directive, "@counters") && cp_slice_word(&line, &word))
			*counters = parse_counters(word), error = 0;
		if (cp_slice_is(directive, "@only") && cp_slice_word(&line, &word) &&
			lists_event(line, event))
			return *counters = parse_counters(word), 0;
	}
	return error;
}

/* ---- meanings ---- */

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
static struct cp_lines lines_of_meanings(void)
{
	const char *text = cp_embedded_find("meanings.events");

	return (struct cp_lines){.at = text ? text : ""};
}

static bool find_doc(const char *preset, struct cp_slice *meaning)
{
	struct cp_lines lines = lines_of_meanings();
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
	struct cp_lines lines = lines_of_meanings();
	struct cp_slice name, meaning;
	size_t count = 0, i = 0;
	const char **names;

	while (next_doc(&lines, &name, &meaning))
		count++;
	names = cp_arena_alloc(arena, (count + 1) * sizeof(*names));
	lines = lines_of_meanings();
	while (next_doc(&lines, &name, &meaning))
		names[i++] = cp_arena_copy(arena, name.at, cp_slice_length(name));
	return names;
}
