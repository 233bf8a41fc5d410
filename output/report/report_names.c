/* SPDX-License-Identifier: MIT
 *
 * Names of regions that are places in a file: FUNCTION@FILE+0xOFFSET becomes
 * FUNCTION@SOURCE:LINE where the file has line tables.
 */
#include <string.h>

#include "base/format.h"
#include "output/report/report_parts.h"

struct resolved {
	struct resolved *next;
	const char *object;
	struct cp_slice name, better;
};

#define BUCKETS 1024

struct cp_names {
	struct resolved *resolved[BUCKETS];
};

static bool is_same_slice(struct cp_slice a, struct cp_slice b)
{
	size_t length = cp_slice_length(a);

	return length == cp_slice_length(b) && memcmp(a.at, b.at, length) == 0;
}

/* The record's file of that name; with two of one name there is no telling. */
static const char *object_named(const struct cp_record *record, struct cp_slice file)
{
	size_t length = cp_slice_length(file);
	const char *found = NULL;

	for (size_t i = 0; i < record->nmetas; i++) {
		const char *text = cp_meta_value(record->metas[i]), *slash;

		if (!cp_meta_is(record->metas[i], "object"))
			continue;
		slash = strrchr(text, '/');
		if (!slash || strlen(slash + 1) != length ||
			memcmp(slash + 1, file.at, length) != 0)
			continue;
		if (found && strcmp(found, text) != 0)
			return NULL;
		found = text;
	}
	return found;
}

static bool parse_hex(struct cp_slice text, uint64_t *value)
{
	*value = 0;
	for (const char *at = text.at; at < text.end; at++) {
		const char *digits = "0123456789abcdef",
			   *digit = *at ? strchr(digits, *at) : NULL;

		if (!digit)
			return false;
		*value = *value << 4 | (uint64_t)(digit - digits);
	}
	return text.end > text.at && text.end - text.at <= 16;
}

/* Splits FUNCTION@FILE+0xOFFSET; false: the name has another form. */
static bool take_apart(struct cp_slice name, struct cp_slice *function,
	struct cp_slice *file, uint64_t *offset)
{
	const char *plus = NULL, *at = NULL;

	for (const char *c = name.at; c + 2 < name.end; c++)
		if (memcmp(c, "+0x", 3) == 0)
			plus = c;
	for (const char *c = name.at; plus && c < plus; c++)
		if (*c == '@')
			at = c;
	if (!at)
		return false;
	*function = (struct cp_slice){name.at, at};
	*file = (struct cp_slice){at + 1, plus};
	return parse_hex((struct cp_slice){plus + 3, name.end}, offset);
}

/* Fortran's compilers put an underscore behind the names of procedures. */
static bool is_fortran(const char *source)
{
	const char *ending = strrchr(source, '.');

	return ending && (ending[1] == 'f' || ending[1] == 'F');
}

size_t (*cp_demangle)(const char *name, bool whole, char *to, size_t size);
const char *(*cp_source_at)(const char *object, uint64_t offset, unsigned *line);

/* In to, if it can be made readable. */
static struct cp_slice demangle_function(
	struct cp_slice function, bool whole, char *to, size_t size)
{
	char name[CP_MAX_RESOLVED];
	size_t length = cp_format(name, sizeof(name), "%.*s",
		(int)(function.end - function.at), function.at);

	if (!cp_demangle || length >= sizeof(name) ||
		(strncmp(name, "_Z", 2) != 0 && strncmp(name, "_R", 2) != 0))
		return function;
	length = cp_demangle(name, whole, to, size);
	return length ? (struct cp_slice){to, to + length} : function;
}

static struct cp_slice better_name(struct cp_report *report, const char *object,
	struct cp_slice name, struct cp_slice function, uint64_t offset)
{
	char text[CP_MAX_RESOLVED], plain[CP_MAX_RESOLVED];
	unsigned line;
	const char *source = cp_source_at ? cp_source_at(object, offset, &line) : NULL,
		   *place = function.end;
	size_t length;

	function = demangle_function(function, false, plain, sizeof(plain));
	if (!source) {
		if (function.at != plain)
			return name;
		length = cp_format(text, sizeof(text), "%.*s%.*s",
			(int)(function.end - function.at), function.at,
			(int)(name.end - place), place);
		return length < sizeof(text)
			       ? cp_slice_of(cp_arena_copy(report->arena, text, length))
			       : name;
	}
	if (is_fortran(source) && function.end - function.at > 1 &&
		function.end[-1] == '_' && function.end[-2] != '_')
		function.end--;
	length = cp_format(text, sizeof(text), "%.*s@%s:%u",
		(int)(function.end - function.at), function.at, source, line);
	if (length >= sizeof(text))
		return name;
	return cp_slice_of(cp_arena_copy(report->arena, text, length));
}

/* A region that is a function by its symbol: of two with the same name the parameters
 * differ. */
static struct cp_slice symbol_name(struct cp_report *report, struct cp_slice name)
{
	char plain[CP_MAX_RESOLVED];
	struct cp_slice better = demangle_function(name, true, plain, sizeof(plain));

	return better.at == plain ? cp_slice_of(cp_arena_copy(report->arena, plain,
					    cp_slice_length(better)))
				  : name;
}

struct cp_slice cp_region_name(
	struct cp_report *report, const struct cp_record *record, struct cp_slice name)
{
	struct cp_slice function, file;
	struct resolved *one, **bucket;
	const char *object;
	uint64_t offset;

	if (!take_apart(name, &function, &file, &offset))
		return symbol_name(report, name);
	object = object_named(record, file);
	if (!object)
		return name;
	if (!report->names)
		report->names = cp_arena_alloc(report->arena, sizeof(*report->names));
	bucket = &report->names->resolved[offset / 16 % BUCKETS];
	for (one = *bucket; one; one = one->next)
		if (is_same_slice(one->name, name) && strcmp(one->object, object) == 0)
			return one->better;
	one = cp_arena_alloc(report->arena, sizeof(*one));
	one->object = object;
	one->name = name;
	one->better = better_name(report, object, name, function, offset);
	one->next = *bucket;
	*bucket = one;
	return one->better;
}
