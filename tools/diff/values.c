/* SPDX-License-Identifier: MIT */
#include "tools/diff/values.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/format.h"
#include "base/hash.h"
#include "base/files/directory.h"
#include "base/files/trusted.h"
#include "tools/diff/kinds.h"
#include "tools/shared/json_file.h"
#include "output/json.h"

#define uthash_malloc(size) cp_arena_alloc(values->arena, size)
#define uthash_free(memory, size) ((void)(memory))
#include <uthash.h>

/* ---- finding what is there ---- */

/* Entries and spots by their keys. */
struct cp_index {
	const char *key;
	void *what;
	UT_hash_handle hh;
};

static void *find_key(const struct cp_values *values, const char *key)
{
	struct cp_index *found;

	HASH_FIND_STR(values->index, key, found);
	return found ? found->what : NULL;
}

static void insert_key(struct cp_values *values, const char *key, void *what)
{
	struct cp_index *made = cp_arena_alloc(values->arena, sizeof(*made));

	made->key = key;
	made->what = what;
	HASH_ADD_KEYPTR(hh, values->index, key, strlen(key), made);
}

/* Appends to a list of pointers that has room for the next power of two. */
static void *append_item(struct cp_arena *arena, void *list, size_t *count, void *item)
{
	void **items = list, **longer;

	if ((*count & (*count - 1)) == 0) {
		longer =
			cp_arena_alloc(arena, (*count ? 2 * *count : 1) * sizeof(void *));
		if (*count)
			memcpy(longer, items, *count * sizeof(void *));
		items = longer;
	}
	items[(*count)++] = item;
	return items;
}

static const char *keep_text(struct cp_values *values, const char *text)
{
	return text ? cp_arena_copy(values->arena, text, strlen(text)) : NULL;
}

/* ---- spots, entries, cells ---- */

const char *cp_kind_name(enum cp_kind kind)
{
	static const char *const names[] = {"calls", "time", "count", "metric"};

	return names[kind];
}

static const char *join_names(struct cp_values *values, const json_t *names, char between)
{
	size_t length = 0, count = json_array_size(names);
	char *path, *to;

	for (size_t i = 0; i < count; i++)
		length += json_string_length(json_array_get(names, i)) + 1;
	to = path = cp_arena_alloc(values->arena, length + 1);
	for (size_t i = 0; i < count; i++) {
		const json_t *name = json_array_get(names, i);

		if (i)
			*to++ = between;
		if (json_is_string(name))
			memcpy(to, json_string_value(name), json_string_length(name));
		to += json_string_length(name);
	}
	return path;
}

/* Functions, data and lines may have names of each other. */
static const char *spot_key(
	const struct cp_values *values, const json_t *names, const char *what)
{
	char *text = json_dumps(names, JSON_COMPACT);
	const char *key = text ? cp_text_format(values->arena, "%s%s", what, text) : NULL;

	free(text);
	return key;
}

static struct cp_spot *spot_of(struct cp_values *values, json_t *names, const char *what)
{
	const char *key = spot_key(values, names, what);
	struct cp_spot *spot = key ? find_key(values, key) : NULL;

	if (!spot && key) {
		spot = cp_arena_alloc(values->arena, sizeof(*spot));
		spot->index = values->nspots;
		spot->key = key;
		spot->what = keep_text(values, what);
		spot->path = join_names(values, names, '/');
		spot->names = json_incref(names);
		values->spots =
			append_item(values->arena, values->spots, &values->nspots, spot);
		insert_key(values, spot->key, spot);
	}
	return spot;
}

static const char *entry_key(const struct cp_values *values, const struct cp_spot *spot,
	enum cp_kind kind, const char *name)
{
	size_t size = strlen(spot->key) + strlen(name) + 16;
	char *key = cp_arena_alloc(values->arena, size);

	cp_format(key, size, "%s%s:%s", spot->key, cp_kind_name(kind), name);
	return key;
}

struct cp_entry *cp_values_find(const struct cp_values *values,
	const struct cp_spot *spot, enum cp_kind kind, const char *name)
{
	return find_key(values, entry_key(values, spot, kind, name));
}

static struct cp_entry *entry_of(struct cp_values *values, struct cp_spot *spot,
	enum cp_kind kind, const char *name, const char *unit)
{
	const char *key = entry_key(values, spot, kind, name);
	struct cp_entry *entry = find_key(values, key);

	if (entry)
		return entry;
	entry = cp_arena_alloc(values->arena, sizeof(*entry));
	*entry = (struct cp_entry){values->nentries, spot, kind, keep_text(values, name),
		keep_text(values, unit ? unit : ""), {{0}}};
	values->entries =
		append_item(values->arena, values->entries, &values->nentries, entry);
	insert_key(values, key, entry);
	return entry;
}

static void add_value(struct cp_values *values, struct cp_cell *cell, double value)
{
	size_t n = cell->runs.n;

	if ((n & (n - 1)) == 0) {
		double *longer =
			cp_arena_alloc(values->arena, (n ? 2 * n : 1) * sizeof(*longer));

		if (n)
			memcpy(longer, cell->values, n * sizeof(*longer));
		cell->values = longer;
	}
	cell->values[n] = value;
	cp_runs_add(&cell->runs, value);
}

static enum cp_status status_of(const json_t *value)
{
	const char *name = json_string_value(json_object_get(value, "status"));

	for (enum cp_status status = CP_EXACT; name && status < CP_UNAVAILABLE; status++)
		if (strcmp(name, cp_status_name(status)) == 0)
			return status;
	return CP_UNAVAILABLE;
}

/* {"value", "status", "reason"}, of a report */
static void add_cell(
	struct cp_values *values, struct cp_cell *cell, const json_t *description)
{
	const json_t *value = json_object_get(description, "value"),
		     *error = json_object_get(description, "error");
	enum cp_status status = status_of(description);

	if (!json_is_number(value)) {
		cell->missing++;
		cell->reason = keep_text(values,
			json_string_value(json_object_get(description, "reason")));
		return;
	}
	cell->status = status > cell->status ? status : cell->status;
	add_value(values, cell, json_number_value(value));
	if (status != CP_ESTIMATED)
		return;
	cell->unsized += !json_is_number(error);
	if (!json_is_number(error))
		return;
	cell->sampled++;
	cell->squares += json_number_value(error) * json_number_value(error);
	if (values->calibrated)
		cell->shared += json_number_value(error);
}

double cp_cell_error(const struct cp_cell *cell)
{
	if (!cell->sampled || cell->unsized)
		return -1;
	return fmax(sqrt(cell->squares), cell->shared) / (double)cell->runs.n;
}

bool cp_values_sampled(const struct cp_values *values, unsigned side)
{
	for (size_t i = 0; i < values->nentries; i++)
		if (values->entries[i]->side[side].sampled)
			return true;
	return false;
}

/* ---- a report ---- */

static void add_all(struct cp_values *values, unsigned side, struct cp_spot *spot,
	enum cp_kind kind, json_t *all)
{
	for (void *at = json_object_iter(all); at; at = json_object_iter_next(all, at)) {
		const json_t *value = json_object_iter_value(at);
		const char *unit = json_string_value(json_object_get(value, "unit"));
		struct cp_entry *entry =
			entry_of(values, spot, kind, json_object_iter_key(at), unit);

		add_cell(values, &entry->side[side], value);
	}
}

static void place_line(struct cp_values *values, unsigned side, struct cp_spot *spot,
	const json_t *region)
{
	json_int_t line = json_integer_value(json_object_get(region, "line"));

	if (line <= 0)
		return;
	spot->line[side] = (unsigned)line;
	spot->file = keep_text(values, cp_json_word(region, "file"));
	spot->function = keep_text(values, cp_json_word(region, "function"));
}

static void add_region(struct cp_values *values, unsigned side, const json_t *region)
{
	json_t *names = json_object_get(region, "path"),
	       *calls = json_object_get(region, "calls");
	struct cp_spot *spot =
		json_is_array(names)
			? spot_of(values, names, cp_json_word(region, "what"))
			: NULL;
	struct cp_cell *cell;

	if (!spot)
		return;
	place_line(values, side, spot, region);
	if (json_array_size(names) > 0 && json_is_number(calls)) {
		cell = &entry_of(values, spot, CP_CALLS, "calls", "")->side[side];
		add_value(values, cell, json_number_value(calls));
	}
	if (json_object_get(region, "time_s"))
		add_cell(values,
			&entry_of(values, spot, CP_TIME, "time_s", "s")->side[side],
			json_object_get(region, "time_s"));
	add_all(values, side, spot, CP_COUNT, json_object_get(region, "counts"));
	add_all(values, side, spot, CP_METRIC, json_object_get(region, "metrics"));
}

static const char *command_of(struct cp_values *values, const json_t *report)
{
	const json_t *command = json_object_get(report, "command");

	return cp_text_safe(values->arena, cp_slice_of(join_names(values, command, ' ')));
}

/* The words of the command; NULL: they are not recorded. */
static char **argv_of(struct cp_values *values, const json_t *report)
{
	const json_t *words = json_object_get(report, "arguments");
	char **argv;
	size_t n;

	words = words ? words : json_object_get(report, "command");
	n = json_array_size(words);
	argv = n ? cp_arena_alloc(values->arena, (n + 1) * sizeof(*argv)) : NULL;
	for (size_t i = 0; i < n; i++) {
		const char *word = json_string_value(json_array_get(words, i));

		argv[i] = cp_arena_copy(
			values->arena, word ? word : "", word ? strlen(word) : 0);
	}
	if (n)
		argv[n] = NULL;
	return argv;
}

static const char *exe_of(struct cp_values *values, const json_t *report)
{
	const json_t *first = json_array_get(json_object_get(report, "processes"), 0);
	const char *exe = json_string_value(json_object_get(first, "exe"));

	return keep_text(values, exe);
}

/* The program itself, not its children. */
static const char *end_of(struct cp_values *values, const json_t *report)
{
	const json_t *first = json_array_get(json_object_get(report, "processes"), 0),
		     *end = json_object_get(first, "exit"),
		     *code = json_object_get(end, "code");
	const char *how = json_string_value(json_object_get(end, "how"));

	if (!how)
		return "";
	return cp_text_format(values->arena, json_is_integer(code) ? "%s %d" : "%s", how,
		(int)json_integer_value(code));
}

/* A baseline holds it, and has no use for what somebody's variables are. */
static const char *environment_of(struct cp_values *values, const json_t *report)
{
	const json_t *all =
		json_object_get(json_object_get(report, "reproducible"), "environment");
	const char *list = NULL;

	for (size_t i = 0; i < json_array_size(all); i++) {
		const char *entry = json_string_value(json_array_get(all, i)),
			   *equals = entry ? strchr(entry, '=') : NULL;

		if (equals)
			list = cp_text_format(values->arena, "%s%s%.*s:%08x",
				list ? list : "", list ? " " : "", (int)(equals - entry),
				entry, (unsigned)cp_hash_text(0, equals));
	}
	return list;
}

/* The host of profiles, and of reports. */
static const char *host_of(struct cp_values *values, const json_t *report)
{
	const char *host = json_string_value(json_object_get(report, "host"));

	return keep_text(
		values, host ? host
			     : json_string_value(json_object_get(
				       json_object_get(report, "machine"), "host")));
}

static bool is_same_text(const char *one, const char *other)
{
	return strcmp(one ? one : "", other ? other : "") == 0;
}

static void describe_side(
	struct cp_values *values, unsigned number, const json_t *report, size_t nruns)
{
	struct cp_side *side = &values->sides[number];
	const json_t *engine = json_object_get(report, "engine"),
		     *machine = json_object_get(report, "machine");
	const char *command = command_of(values, report),
		   *name = keep_text(
			   values, json_string_value(json_object_get(engine, "name"))),
		   *description = keep_text(values,
			   json_string_value(json_object_get(machine, "description"))),
		   *end = end_of(values, report);

	if (!side->nruns) {
		side->command = command;
		side->argv = argv_of(values, report);
		side->exe = exe_of(values, report);
		side->engine = name ? name : "";
		side->machine = description ? description : "";
		side->environment = environment_of(values, report);
		side->end = end;
		side->began = keep_text(
			values, json_string_value(json_object_get(report, "began")));
		side->host = host_of(values, report);
	}
	if (!side->cut)
		side->cut = keep_text(
			values, json_string_value(json_object_get(report, "ended")));
	side->mixed |= !is_same_text(side->command, command) ||
		       !is_same_text(side->engine, name) ||
		       !is_same_text(side->machine, description);
	side->ends_differ |= !is_same_text(side->end, end);
	side->nruns += nruns;
}

/* Fills in values that a report with many regions leaves out, since they are usual. */
static void fill_in(json_t *all, const json_t *usual)
{
	for (void *at = json_object_iter(all); at; at = json_object_iter_next(all, at))
		json_object_update_missing(json_object_iter_value(at),
			json_object_get(usual, json_object_iter_key(at)));
}

static void fill_in_region(const json_t *region, const json_t *usual)
{
	static const char *const kinds[] = {"counts", "metrics"};

	json_object_update_missing(
		json_object_get(region, "time_s"), json_object_get(usual, "time_s"));
	for (size_t i = 0; i < 2; i++)
		fill_in(json_object_get(region, kinds[i]),
			json_object_get(usual, kinds[i]));
}

void cp_values_add_report(struct cp_values *values, unsigned side, const json_t *report)
{
	const json_t *regions = json_object_get(report, "regions"),
		     *usual = json_object_get(report, "usual");

	values->calibrated = json_object_get(report, "spreads") != NULL;
	describe_side(values, side, report, 1);
	for (size_t i = 0; i < json_array_size(regions); i++) {
		if (usual)
			fill_in_region(json_array_get(regions, i), usual);
		add_region(values, side, json_array_get(regions, i));
	}
}

/* ---- the report of several runs ---- */

static bool kind_of(const json_t *value, enum cp_kind *kind)
{
	const char *name = json_string_value(json_object_get(value, "kind"));

	for (*kind = CP_CALLS; name && *kind <= CP_METRIC; (*kind)++)
		if (strcmp(name, cp_kind_name(*kind)) == 0)
			return true;
	return false;
}

static void add_repeated_value(
	struct cp_values *values, unsigned side, const json_t *value)
{
	json_t *names = json_object_get(value, "path"),
	       *numbers = json_object_get(value, "values");
	struct cp_spot *spot = json_is_array(names) ? spot_of(values, names, "") : NULL;
	const char *name = json_string_value(json_object_get(value, "name"));
	enum cp_status status = status_of(value);
	struct cp_cell *cell;
	enum cp_kind kind;

	if (!spot || !name || !kind_of(value, &kind))
		return;
	cell = &entry_of(values, spot, kind, name,
		json_string_value(json_object_get(value, "unit")))
			->side[side];
	for (size_t i = 0; i < json_array_size(numbers); i++)
		add_value(values, cell, json_number_value(json_array_get(numbers, i)));
	if (cell->runs.n)
		cell->status = status > cell->status ? status : cell->status;
	cell->missing += (size_t)json_integer_value(json_object_get(value, "missing"));
	cell->reason =
		keep_text(values, json_string_value(json_object_get(value, "reason")));
}

static void add_repeated(struct cp_values *values, unsigned side, const json_t *report)
{
	const json_t *all = json_object_get(report, "values");

	describe_side(values, side, report,
		(size_t)json_integer_value(json_object_get(report, "runs")));
	for (size_t i = 0; i < json_array_size(all); i++)
		add_repeated_value(values, side, json_array_get(all, i));
}

/* ---- one of the kinds of JSON ---- */

/* Whether all are of one kind; else says which is not. */
static bool is_of_kind(struct cp_values *values, const char *what, const char *path,
	char *error, size_t error_size)
{
	if (!values->kind) {
		values->kind = what;
		values->first = path;
	}
	if (strcmp(values->kind, what) == 0)
		return true;
	cp_format(error, error_size,
		"%s is %s, and %s is %s: compare two files of one kind", values->first,
		values->kind, path, what);
	return false;
}

void cp_values_keep_run(json_t *report, const json_t *document)
{
	static const char *const keys[] = {"ended", "began", "host"};

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		json_object_set(report, keys[i], json_object_get(document, keys[i]));
}

static bool add_document(struct cp_values *values, unsigned side, const char *path,
	const json_t *document, char *error, size_t error_size)
{
	const struct cp_json_kind *kind = cp_json_kind_of(document);
	const char *schema = cp_json_word(document, "schema");
	json_t *report;

	if (!kind) {
		cp_format(error, error_size,
			"%s is no JSON report, profile, sharing or comparison of machines"
			" (schema: %s): write one with -o FILE.json",
			path, *schema ? schema : "none");
		return false;
	}
	if (!is_of_kind(values, cp_json_what(values->arena, kind, document), path, error,
		    error_size))
		return false;
	report = kind->report ? kind->report(document) : NULL;
	if (report)
		cp_values_keep_run(report, document);
	if (report)
		cp_values_add_report(values, side, report);
	else if (strcmp(kind->schema, CP_REPEAT_SCHEMA) == 0)
		add_repeated(values, side, document);
	else
		cp_values_add_report(values, side, document);
	values->without_text +=
		(size_t)json_integer_value(json_object_get(report, "lines_without_text"));
	json_decref(report);
	return true;
}

/* ---- where they come from ---- */

static bool add_json(struct cp_values *values, unsigned side, const char *path,
	char *error, size_t error_size)
{
	json_error_t fault;
	json_t *document = cp_json_file(path, &fault);
	bool added = false;

	if (!document && fault.line < 0)
		cp_format(error, error_size, "%s: %s", path, fault.text);
	else if (document)
		added = add_document(values, side, path, document, error, error_size);
	else
		cp_format(error, error_size,
			"%s is neither a run record nor JSON (line %d: %s): write it "
			"again with -o FILE.json",
			path, fault.line, fault.text);
	json_decref(document);
	return added;
}

/* A report as its JSON has it, so that there is one way in. */
static json_t *document_of(const struct cp_report *report)
{
	int fd = memfd_create("cachepeek-report", MFD_CLOEXEC);
	struct cp_out out;

	if (fd < 0)
		return NULL;
	cp_out_open(&out, fd);
	cp_json_write(&out, report);
	if (cp_out_flush(&out) == 0 && lseek(fd, 0, SEEK_SET) == 0)
		return cp_json_read(fd, NULL);
	close(fd);
	return NULL;
}

static bool add_run(struct cp_values *values, unsigned side, const char *path,
	char *error, size_t error_size)
{
	/* Its JSON says why values are unavailable, for which it takes memory, too. */
	struct cp_arena arena = {.out_of_memory = values->arena->out_of_memory};
	const struct cp_report *report =
		cp_report_build(&arena, &path, 1, error, error_size);
	json_t *document = report ? document_of(report) : NULL;

	if (!is_of_kind(values, CP_REPORT_WHAT, path, error, error_size))
		return false;
	if (report && !document)
		cp_format(error, error_size, "%s: no memory for its report", path);
	if (document)
		cp_values_add_report(values, side, document);
	json_decref(document);
	cp_arena_free(&arena);
	return document;
}

static bool is_record(const char *path)
{
	char magic[8] = "";
	char why[160];
	int fd = cp_trusted_open(AT_FDCWD, path, CP_NAMED, UINT64_MAX, why, sizeof(why));
	bool read_it = fd >= 0 && read(fd, magic, sizeof(magic)) == sizeof(magic);

	if (fd >= 0)
		close(fd);
	return read_it && memcmp(magic, CP_RECORD_MAGIC, sizeof(magic)) == 0;
}

static int names_directory(const struct dirent *entry)
{
	return entry->d_name[0] != '.' &&
	       (entry->d_type == DT_DIR || entry->d_type == DT_UNKNOWN);
}

/* The directories of runs in it. */
static bool add_directory(struct cp_values *values, unsigned side, const char *path,
	char *error, size_t error_size)
{
	struct dirent **found = NULL;
	int count = scandir(path, &found, names_directory, versionsort);
	bool added = false, failed = false;

	for (int i = 0; i < count; i++) {
		char *inside;

		if (!failed && asprintf(&inside, "%s/%s", path, found[i]->d_name) >= 0) {
			if (cp_directory_has(inside, ".rec")) {
				added = add_run(values, side, inside, error, error_size);
				failed = !added;
			}
			free(inside);
		}
		free(found[i]);
	}
	free(found);
	if (!added && !failed)
		cp_format(error, error_size,
			"%s holds no run records (*.rec), and no directories with some: "
			"name a directory that -d named",
			path);
	return added;
}

bool cp_values_add(struct cp_values *values, unsigned side, const char *path, char *error,
	size_t error_size)
{
	struct stat status;

	if (stat(path, &status) < 0) {
		cp_format(error, error_size,
			"%s: %s: name a run's directory, record or JSON report", path,
			strerror(errno));
		return false;
	}
	if (S_ISDIR(status.st_mode) ? cp_directory_has(path, ".rec") : is_record(path))
		return add_run(values, side, path, error, error_size);
	if (S_ISDIR(status.st_mode))
		return add_directory(values, side, path, error, error_size);
	return add_json(values, side, path, error, error_size);
}

struct cp_values *cp_values_new(struct cp_arena *arena)
{
	struct cp_values *values = cp_arena_alloc(arena, sizeof(*values));

	values->arena = arena;
	return values;
}

/* ---- which region matters ---- */

/* The region's share of the whole run's count, on the side where it is larger. */
static double share_of_whole(const struct cp_entry *entry, const struct cp_entry *whole)
{
	double most = 0;

	for (unsigned i = 0; whole && i < 2; i++) {
		double all = whole->side[i].runs.mean, here = entry->side[i].runs.mean;

		if (all > 0 && here / all > most)
			most = here / all;
	}
	return most < 1 ? most : 1;
}

static struct cp_spot *spot_around(
	const struct cp_values *values, const struct cp_spot *spot)
{
	json_t *names = json_copy(spot->names);
	struct cp_spot *found = NULL;
	size_t n = *spot->what ? 0 : json_array_size(names);

	while (!found && n > 0) {
		char *key;

		json_array_remove(names, --n);
		key = json_dumps(names, JSON_COMPACT);
		found = key ? find_key(values, key) : NULL;
		free(key);
	}
	json_decref(names);
	return found;
}

static void nest_spots(struct cp_values *values)
{
	for (size_t i = 0; i < values->nspots; i++) {
		struct cp_spot *spot = values->spots[i];

		spot->around = spot_around(values, spot);
		if (spot->around)
			spot->around->is_around = true;
	}
}

void cp_values_weigh(struct cp_values *values)
{
	const struct cp_spot *run = find_key(values, "[]");

	cp_values_join_lines(values);
	nest_spots(values);
	for (size_t i = 0; run && i < values->nentries; i++) {
		const struct cp_entry *entry = values->entries[i];
		double here;

		if (entry->kind != CP_COUNT && entry->kind != CP_TIME)
			continue;
		here = share_of_whole(
			entry, cp_values_find(values, run, entry->kind, entry->name));
		if (here > entry->spot->weight)
			entry->spot->weight = here;
	}
}
