/* SPDX-License-Identifier: MIT */
#include "output/metrics/group.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/embedded.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/format.h"
#include "base/text/nearest.h"
#include "base/files/trusted.h"
#include "output/metrics/preset.h"

#define SUFFIX ".group"
#define MAX_FILE (64 << 10)

struct parser {
	struct cp_arena *arena;
	struct cp_group *group;
	struct cp_lines lines;
	const char *file;
	char *error;
	size_t error_size;
	bool (*known)(const char *name); /* quantities; NULL: presets and events */
};

/* Always false, so that a directive can return it. */
__attribute__((format(printf, 2, 3))) static bool fail_at_line(
	struct parser *parser, const char *format, ...)
{
	size_t used = cp_format(parser->error, parser->error_size,
		"%s:%u: ", parser->file, parser->lines.number);
	va_list args;

	va_start(args, format);
	if (used < parser->error_size)
		cp_vformat(parser->error + used, parser->error_size - used, format, args);
	va_end(args);
	return false;
}

static const char *keep_slice(struct parser *parser, struct cp_slice slice)
{
	return cp_arena_copy(parser->arena, slice.at, cp_slice_length(slice));
}

static bool parse_text(struct parser *parser, struct cp_slice rest, const char **to)
{
	rest = cp_slice_trim(rest);
	if (rest.at == rest.end)
		return fail_at_line(parser,
			"nothing follows the directive: write its text behind it");
	*to = keep_slice(parser, rest);
	return true;
}

static bool is_event(const char *name)
{
	return strstr(name, "::") != NULL;
}

static bool check_quantity(struct parser *parser, const char *name)
{
	const char *nearest;

	if (parser->known)
		return parser->known(name) ||
		       fail_at_line(parser, "there is no %s", name);
	if (is_event(name) || cp_preset_known(name))
		return true;
	nearest = cp_nearest(name, cp_preset_names(parser->arena));
	if (nearest)
		return fail_at_line(parser,
			"there is no preset \"%s\": did you mean \"%s\"?", name, nearest);
	return fail_at_line(parser,
		"there is no preset \"%s\": see cachepeek list presets, "
		"or name an event as PMU::EVENT",
		name);
}

static bool parse_names(
	struct parser *parser, struct cp_slice rest, const char **names, size_t *count)
{
	struct cp_slice word;

	while (cp_slice_word(&rest, &word)) {
		const char *name = keep_slice(parser, word);

		if (*count == CP_GROUP_MAX_NAMES)
			return fail_at_line(parser,
				"more than %d quantities: split the group",
				CP_GROUP_MAX_NAMES);
		if (!check_quantity(parser, name))
			return false;
		names[(*count)++] = name;
	}
	return true;
}

/* A list of columns that is being read. */
struct column_list {
	struct cp_column *at;
	size_t *count, most;
};

/* NAME "heading words" */
static bool parse_column(
	struct parser *parser, struct cp_slice part, const struct column_list *list)
{
	struct cp_slice name;

	if (!cp_slice_word(&part, &name))
		return fail_at_line(parser,
			"an empty column: write NAME \"heading\" between the bars");
	part = cp_slice_trim(part);
	if (cp_slice_length(part) < 3 || *part.at != '"' || part.end[-1] != '"')
		return fail_at_line(parser,
			"column %s has no heading: write it as \"words\"",
			keep_slice(parser, name));
	if (*list->count == list->most)
		return fail_at_line(parser, "more than %zu columns", list->most);
	part.at++;
	part.end--;
	list->at[(*list->count)++] =
		(struct cp_column){keep_slice(parser, name), keep_slice(parser, part)};
	return true;
}

static bool parse_list(
	struct parser *parser, struct cp_slice rest, struct column_list list)
{
	struct cp_slice part;

	while (cp_slice_part(&rest, '|', &part))
		if (!parse_column(parser, part, &list))
			return false;
	return true;
}

static bool parse_columns(struct parser *parser, struct cp_slice rest)
{
	struct cp_group *group = parser->group;

	return parse_list(parser, rest,
		(struct column_list){
			group->columns, &group->ncolumns, CP_GROUP_MAX_COLUMNS});
}

static bool parse_parts(
	struct parser *parser, struct cp_slice rest, struct cp_parts *parts)
{
	return parse_list(parser, rest,
		(struct column_list){parts->at, &parts->count, CP_GROUP_MAX_PARTS});
}

/* ---- constants ---- */

const struct cp_let *cp_group_let(const struct cp_group *group, const char *name)
{
	for (size_t i = 0; i < group->nlets; i++)
		if (strcmp(group->lets[i].name, name) == 0)
			return &group->lets[i];
	return NULL;
}

const struct cp_metric *cp_group_metric(const struct cp_group *group, const char *name)
{
	for (size_t i = 0; i < group->nmetrics; i++)
		if (strcmp(group->metrics[i].name, name) == 0)
			return &group->metrics[i];
	return NULL;
}

struct weighed {
	const struct cp_group *group;
	unsigned by;
};

/* Constants of the group's own go first. */
static bool add_weight(void *context, const char *name)
{
	struct weighed *weighed = context;
	enum cp_weight_of of = cp_weight_find(name);

	if (of < CP_NWEIGHTS && !cp_group_let(weighed->group, name))
		weighed->by |= 1u << of;
	return true;
}

unsigned cp_group_weighs(const struct cp_group *group)
{
	struct weighed weighed = {group, 0};

	for (size_t i = 0; i < group->nmetrics; i++)
		cp_formula_names(group->metrics[i].formula, add_weight, &weighed);
	return weighed.by;
}

/* The constant of this name, made if there is none. */
static struct cp_let *find_let(struct cp_group *group, const char *name)
{
	for (size_t i = 0; i < group->nlets; i++)
		if (strcmp(group->lets[i].name, name) == 0)
			return &group->lets[i];
	if (group->nlets == CP_GROUP_MAX_LETS)
		return NULL;
	group->lets[group->nlets] = (struct cp_let){.name = name, .meaning = ""};
	return &group->lets[group->nlets++];
}

/* NAME VALUE what it means */
static bool parse_let(struct parser *parser, struct cp_slice rest)
{
	struct cp_slice name, text;
	struct cp_let *let;
	double number;

	if (!cp_slice_word(&rest, &name) || !cp_slice_word(&rest, &text))
		return fail_at_line(parser, "write @let NAME NUMBER what it means");
	if (!cp_formula_number(
		    parser->arena, cp_slice_of(keep_slice(parser, text)), &number))
		return fail_at_line(parser, "@let %s %s is not a number above 0",
			keep_slice(parser, name), keep_slice(parser, text));
	let = find_let(parser->group, keep_slice(parser, name));
	if (!let)
		return fail_at_line(parser, "more than %d constants", CP_GROUP_MAX_LETS);
	let->value = number;
	let->text = keep_slice(parser, text);
	rest = cp_slice_trim(rest);
	if (!*let->meaning)
		let->meaning = keep_slice(parser, rest);
	return true;
}

/* ---- checks ---- */

static const struct cp_formula *parse_side(
	struct parser *parser, struct cp_slice side, const char **text)
{
	const struct cp_formula *formula;
	char why[200];

	*text = keep_slice(parser, cp_slice_trim(side));
	formula = cp_formula_parse(parser->arena, cp_slice_of(*text), why, sizeof(why));
	if (!formula)
		fail_at_line(parser, "@check %s: %s", *text, why);
	return formula;
}

/* LEFT <= RIGHT "message", or LEFT ~ RIGHT "message" */
static bool parse_check(struct parser *parser, struct cp_slice rest)
{
	struct cp_check *check = &parser->group->checks[parser->group->nchecks];
	struct cp_slice left, right, message;
	char mark;

	if (parser->group->nchecks == CP_GROUP_MAX_CHECKS)
		return fail_at_line(parser, "more than %d checks", CP_GROUP_MAX_CHECKS);
	check->about = !memchr(rest.at, '<', cp_slice_length(rest));
	mark = check->about ? '~' : '<';
	if (!memchr(rest.at, mark, cp_slice_length(rest)) ||
		!cp_slice_part(&rest, mark, &left) ||
		!cp_slice_part(&rest, '"', &right) ||
		(!check->about && (right.at == right.end || *right.at++ != '=')) ||
		!cp_slice_part(&rest, '"', &message))
		return fail_at_line(parser,
			"write @check LEFT <= RIGHT \"message\", or LEFT ~ RIGHT");
	check->message = keep_slice(parser, message);
	check->left = parse_side(parser, left, &check->left_text);
	check->right = check->left ? parse_side(parser, right, &check->right_text) : NULL;
	parser->group->nchecks++;
	return check->right != NULL;
}

static bool parse_long(struct parser *parser)
{
	unsigned began = parser->lines.number;
	const char *from = parser->lines.at;
	struct cp_slice line;

	while (cp_lines_verbatim(&parser->lines, &line)) {
		if (!cp_slice_is(cp_slice_trim(line), "@end"))
			continue;
		parser->group->description =
			cp_arena_copy(parser->arena, from, (size_t)(line.at - from));
		return true;
	}
	parser->lines.number = began;
	return fail_at_line(parser, "@long does not end: put @end on a line of its own");
}

static bool parse_marks(struct parser *parser, struct cp_slice rest)
{
	struct cp_group *group = parser->group;
	struct cp_slice word;

	while (cp_slice_word(&rest, &word)) {
		if (group->nmarks == CP_GROUP_MAX_MARKS)
			return fail_at_line(parser, "@mark takes %d names at most",
				CP_GROUP_MAX_MARKS);
		group->marks[group->nmarks++] = keep_slice(parser, word);
	}
	return true;
}

static bool parse_directive(struct parser *parser, struct cp_slice line)
{
	static const char *const known[] = {"@group", "@title", "@need", "@want",
		"@simulated", "@let", "@check", "@columns", "@mark", "@served", "@costs",
		"@long", NULL};
	struct cp_group *group = parser->group;
	struct cp_slice word;
	const char *nearest;

	cp_slice_word(&line, &word);
	if (cp_slice_is(word, "@group"))
		return parse_text(parser, line, &group->name);
	if (cp_slice_is(word, "@title"))
		return parse_text(parser, line, &group->title);
	if (cp_slice_is(word, "@mark"))
		return parse_marks(parser, line);
	if (cp_slice_is(word, "@need"))
		return parse_names(parser, line, group->need, &group->nneed);
	if (cp_slice_is(word, "@want"))
		return parse_names(parser, line, group->want, &group->nwant);
	if (cp_slice_is(word, "@simulated"))
		return parse_names(parser, line, group->simulated, &group->nsimulated);
	if (cp_slice_is(word, "@let"))
		return parse_let(parser, line);
	if (cp_slice_is(word, "@check"))
		return parse_check(parser, line);
	if (cp_slice_is(word, "@columns"))
		return parse_columns(parser, line);
	if (cp_slice_is(word, "@served"))
		return parse_parts(parser, line, &group->served);
	if (cp_slice_is(word, "@costs"))
		return parse_parts(parser, line, &group->costs);
	if (cp_slice_is(word, "@long"))
		return parse_long(parser);
	nearest = cp_nearest(keep_slice(parser, word), known);
	return fail_at_line(parser, "unknown directive %s%s%s", keep_slice(parser, word),
		nearest ? ": did you mean " : "", nearest ? nearest : "");
}

/* Cuts "[unit]" off the end of left, which is "name [unit]". */
static const char *cut_unit(struct parser *parser, struct cp_slice *left)
{
	struct cp_slice unit = *left;

	if (left->at == left->end || left->end[-1] != ']')
		return "";
	unit.at = memchr(left->at, '[', cp_slice_length(*left));
	if (!unit.at)
		return "";
	left->end = unit.at++;
	unit.end--;
	*left = cp_slice_trim(*left);
	return keep_slice(parser, cp_slice_trim(unit));
}

static bool parse_metric(struct parser *parser, struct cp_slice line)
{
	struct cp_group *group = parser->group;
	struct cp_metric *metric = &group->metrics[group->nmetrics];
	struct cp_slice left, word;
	char why[200];

	if (!memchr(line.at, '=', cp_slice_length(line)))
		return fail_at_line(parser,
			"neither a directive nor a metric: write NAME [UNIT] = FORMULA");
	if (group->nmetrics == CP_GROUP_MAX_METRICS)
		return fail_at_line(parser, "more than %d metrics: split the group",
			CP_GROUP_MAX_METRICS);
	cp_slice_part(&line, '=', &left);
	metric->unit = cut_unit(parser, &left);
	metric->name = keep_slice(parser, left);
	if (!cp_slice_word(&left, &word) || left.at < left.end)
		return fail_at_line(parser,
			"a metric's name is one word: write NAME [UNIT] = FORMULA");
	metric->formula_text = keep_slice(parser, cp_slice_trim(line));
	metric->formula = cp_formula_parse(
		parser->arena, cp_slice_of(metric->formula_text), why, sizeof(why));
	metric->group = group;
	if (!metric->formula)
		return fail_at_line(parser, "metric %s: %s", metric->name, why);
	group->nmetrics++;
	return true;
}

static bool is_among(const char *const *names, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

bool cp_group_takes(const struct cp_group *group, const char *name)
{
	return is_among(group->need, group->nneed, name) ||
	       is_among(group->want, group->nwant, name) ||
	       is_among(group->simulated, group->nsimulated, name);
}

static bool is_metric(const struct cp_group *group, const char *name)
{
	return cp_group_metric(group, name) != NULL;
}

struct names {
	struct parser *parser;
	size_t nmetrics; /* that may be used */
};

static bool formula_name_is_there(void *context, const char *name)
{
	static const char *const parameters[] = {"LINE", "N", "SECONDS", "TSC", "CLOCK"};
	struct names *names = context;
	const struct cp_group *group = names->parser->group;
	const struct cp_metric *metric = cp_group_metric(group, name);

	return is_among(parameters, 5, name) || cp_weight_find(name) < CP_NWEIGHTS ||
	       cp_group_takes(group, name) || cp_group_let(group, name) ||
	       (metric && (size_t)(metric - group->metrics) < names->nmetrics) ||
	       fail_at_line(names->parser,
		       "a formula uses %s, which is "
		       "in neither @need nor @want: add it there",
		       name);
}

static bool check_parts(
	struct parser *parser, const char *directive, const struct cp_parts *parts)
{
	for (size_t i = 0; i < parts->count; i++)
		if (!is_metric(parser->group, parts->at[i].name))
			return fail_at_line(parser, "%s %s is not a metric of the group",
				directive, parts->at[i].name);
	return true;
}

/* Checks that need the whole file. */
static bool check_group(struct parser *parser)
{
	const struct cp_group *group = parser->group;
	struct names names = {parser, 0};

	if (!group->name)
		return fail_at_line(
			parser, "the group has no name: add a line @group NAME");
	if (!group->nneed && !group->nwant)
		return fail_at_line(
			parser, "the group counts nothing: add a line @need QUANTITY …");
	for (; names.nmetrics < group->nmetrics; names.nmetrics++)
		if (!cp_formula_names(group->metrics[names.nmetrics].formula,
			    formula_name_is_there, &names))
			return false;
	for (size_t i = 0; i < group->nchecks; i++)
		if (!cp_formula_names(
			    group->checks[i].left, formula_name_is_there, &names) ||
			!cp_formula_names(
				group->checks[i].right, formula_name_is_there, &names))
			return false;
	for (size_t i = 0; i < group->ncolumns; i++)
		if (!is_metric(group, group->columns[i].name) &&
			!cp_group_takes(group, group->columns[i].name))
			return fail_at_line(parser,
				"column %s is neither a metric nor counted",
				group->columns[i].name);
	for (size_t i = 0; i < group->nmarks; i++)
		if (!is_metric(group, group->marks[i]) &&
			!cp_group_takes(group, group->marks[i]))
			return fail_at_line(parser,
				"@mark %s is neither a metric nor counted",
				group->marks[i]);
	return check_parts(parser, "@served", &group->served) &&
	       check_parts(parser, "@costs", &group->costs);
}

const struct cp_group *cp_group_parse(struct cp_arena *arena, const char *file,
	const char *text, char *error, size_t error_size)
{
	return cp_group_parse_with(arena, file, text, NULL, error, error_size);
}

const struct cp_group *cp_group_parse_with(struct cp_arena *arena, const char *file,
	const char *text, bool (*known)(const char *name), char *error, size_t error_size)
{
	struct cp_group *group = cp_arena_alloc(arena, sizeof(*group));
	struct parser parser = {
		arena, group, {.at = text}, file, error, error_size, known};
	struct cp_slice line;

	group->text = cp_arena_copy(arena, text, strlen(text));
	group->title = group->description = "";
	while (cp_lines_next(&parser.lines, &line))
		if (!(*line.at == '@' ? parse_directive(&parser, line)
				      : parse_metric(&parser, line)))
			return NULL;
	return check_group(&parser) ? group : NULL;
}

/* Returns a length, or -errno. */
static ssize_t read_all(int fd, char *to, size_t size)
{
	size_t used = 0;
	ssize_t n = 1;

	while (n > 0 && used < size) {
		n = read(fd, to + used, size - used);
		if (n > 0)
			used += (size_t)n;
		else if (n < 0 && errno == EINTR)
			n = 1;
	}
	return n < 0 ? -errno : (ssize_t)used;
}

static const struct cp_group *read_group(
	struct cp_arena *arena, const char *path, char *error, size_t error_size)
{
	char *text, why[160];
	ssize_t length;
	int fd = cp_trusted_open(
		AT_FDCWD, path, CP_NAMED, CP_TRUSTED_MOST, why, sizeof(why));

	if (fd < 0) {
		cp_format(error, error_size, "group file %s: %s", path, why);
		return NULL;
	}
	text = cp_arena_alloc(arena, MAX_FILE + 1);
	length = read_all(fd, text, MAX_FILE + 1);
	cp_fd_close(fd);
	if (length >= 0 && length <= MAX_FILE && !memchr(text, '\0', (size_t)length))
		return cp_group_parse(arena, path, text, error, error_size);
	cp_format(error, error_size, "group file %s: %s", path,
		length < 0 ? cp_error_text((int)length)
			   : "not a group file: it is larger than 64 KiB or holds a NUL");
	return NULL;
}

static bool is_group_file(const char *name)
{
	size_t length = strlen(name), suffix = strlen(SUFFIX);

	return length > suffix && strcmp(name + length - suffix, SUFFIX) == 0;
}

const char *const *cp_group_names(struct cp_arena *arena)
{
	const struct cp_embedded *file;
	const char **names;
	size_t count = 0;

	for (file = cp_embedded_files; file->name; file++)
		count++;
	names = cp_arena_alloc(arena, (count + 1) * sizeof(*names));
	count = 0;
	for (file = cp_embedded_files; file->name; file++)
		if (is_group_file(file->name))
			names[count++] = cp_arena_copy(
				arena, file->name, strlen(file->name) - strlen(SUFFIX));
	return names;
}

const struct cp_group *cp_group_find(
	struct cp_arena *arena, const char *name, char *error, size_t error_size)
{
	char file[80];
	const char *text, *nearest;

	if (strchr(name, '/'))
		return read_group(arena, name, error, error_size);
	cp_format(file, sizeof(file), "%.64s" SUFFIX, name);
	text = cp_embedded_find(file);
	if (text)
		return cp_group_parse(arena, file, text, error, error_size);
	nearest = cp_nearest(name, cp_group_names(arena));
	if (nearest)
		cp_format(error, error_size,
			"there is no group \"%s\": did you mean \"%s\"?", name, nearest);
	else
		cp_format(error, error_size,
			"there is no group \"%s\": see cachepeek list groups; "
			"a path holds a slash",
			name);
	return NULL;
}
