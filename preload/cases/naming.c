/* SPDX-License-Identifier: MIT
 *
 * {name} is the function's, without its parameters, {base} the last part of that. {argN},
 * {argN+OFFSET}, {argN+OFFSET:TYPE}: argument N (from 1), or what lies OFFSET bytes
 * behind where it points.  An object of the program's may be of another version than
 * whoever wrote the offset thought of, so each is looked at as if it were none: what is
 * no string is not taken for one.
 */
#include "preload/cases/naming.h"

#include <string.h>

#include "base/format.h"
#include "base/text.h"
#include "preload/program/readable.h"
#include "preload/warn.h"

#define LONGEST 1000 /* of a part */
#define MOST_NUMBERS 32

/* The list being written. */
struct text {
	char *to;
	size_t size, length;
};

struct part {
	unsigned argument; /* from 0 */
	unsigned long offset;
	bool behind; /* there is an offset */
	struct cp_span type;
};

/* ---- what libstdc++ has ---- */

struct string {
	const char *text;
	size_t length;
	union {
		char within[16];
		size_t capacity;
	};
};

struct numbers {
	const long *first, *end;
};

static bool put_piece(struct text *out, const char *text, size_t length)
{
	if (length >= out->size - out->length)
		return false;
	memcpy(out->to + out->length, text, length);
	out->length += length;
	return true;
}

static bool has_room(const struct string *s)
{
	return s->text == s->within
		       ? s->length < sizeof(s->within)
		       : s->length <= s->capacity && s->capacity < (1ul << 40);
}

static bool put_string(struct text *out, uintptr_t at)
{
	const struct string *s = (const struct string *)at;

	return at % sizeof(void *) == 0 && cp_can_read(s, sizeof(*s)) && s->length > 0 &&
	       s->length <= LONGEST && has_room(s) &&
	       cp_can_read(s->text, s->length + 1) && s->text[s->length] == '\0' &&
	       !memchr(s->text, '\0', s->length) && put_piece(out, s->text, s->length);
}

static bool put_number(struct text *out, long value)
{
	char number[32];
	size_t length = cp_format(number, sizeof(number), "%ld", value);

	return put_piece(out, number, length);
}

/* None of them is no mistake. */
static bool put_numbers(struct text *out, uintptr_t at)
{
	const struct numbers *all = (const struct numbers *)at;
	size_t bytes, n;

	if (at % sizeof(void *) || !cp_can_read(all, sizeof(*all)))
		return false;
	bytes = (uintptr_t)all->end - (uintptr_t)all->first;
	if (!bytes)
		return true;
	n = bytes / sizeof(long);
	if (bytes % sizeof(long) || n > MOST_NUMBERS || !cp_can_read(all->first, bytes))
		return false;
	for (size_t i = 0; i < n; i++) {
		if (!put_piece(out, "/", 1) || !put_number(out, all->first[i]))
			return false;
	}
	return true;
}

/* ---- what C has ---- */

static bool load_part(const struct part *part, uintptr_t argument, uintptr_t *value)
{
	const void *at = (const void *)(argument + part->offset);

	*value = argument;
	if (!part->behind)
		return true;
	if (!cp_can_read(at, sizeof(*value)))
		return false;
	memcpy(value, at, sizeof(*value));
	return true;
}

static bool put_text(struct text *out, const char *text)
{
	return cp_can_read_text(text) && *text && strlen(text) <= LONGEST &&
	       put_piece(out, text, strlen(text));
}

/* Rust's names end in "::h" and 16 digits. */
#define HASH 19

static bool has_hash(const char *name, size_t length)
{
	const char *at = name + length - HASH;

	return length > HASH && cp_starts_with(at, "::h") &&
	       strspn(at + 3, "0123456789abcdef") >= HASH - 3;
}

/* Where the last part begins: 3 of "a::f<b::c>". */
static size_t base_of(const char *name, size_t length)
{
	size_t base = 0;
	int depth = 0;

	for (size_t i = 0; i + 1 < length; i++) {
		depth += (name[i] == '<') - (name[i] == '>');
		if (depth == 0 && name[i] == ':' && name[i + 1] == ':')
			base = i + 2;
	}
	return base;
}

/* "void a::f<int>(long)": "a::f<int>", or only its last part. */
static bool put_name(struct text *out, const char *plain, bool whole)
{
	const char *begin = cp_skip_type(plain), *end = strrchr(begin, '(');
	size_t length = end && end > begin ? (size_t)(end - begin) : strlen(begin);
	size_t skipped;

	if (has_hash(begin, length))
		length -= HASH;
	skipped = whole ? 0 : base_of(begin, length);
	return put_piece(out, begin + skipped, length - skipped);
}

/* ---- parts ---- */

static bool is_type(const struct part *part, const char *type)
{
	size_t length = (size_t)(part->type.end - part->type.at);

	return strlen(type) == length && memcmp(part->type.at, type, length) == 0;
}

static bool put_part(
	struct text *out, const struct part *part, const uintptr_t *arguments)
{
	uintptr_t argument = arguments[part->argument], value;

	if (is_type(part, "std::string"))
		return put_string(out, argument + part->offset);
	if (is_type(part, "std::vector<long>"))
		return put_numbers(out, argument + part->offset);
	if (!load_part(part, argument, &value))
		return false;
	return is_type(part, "string") ? put_text(out, (const char *)value)
				       : put_number(out, (long)value);
}

static bool is_known_type(const struct part *part)
{
	return is_type(part, "std::string") || is_type(part, "std::vector<long>") ||
	       is_type(part, "string") || is_type(part, "long");
}

/* word: with its closing brace, five bytes. */
static bool is_word(struct cp_span left, const char *word)
{
	return left.end - left.at > 5 && memcmp(left.at + 1, word, 5) == 0;
}

/* at: behind a '{'.  Returns what is behind its '}'; NULL: it is none. */
static const char *read_part(const char *at, const char *end, struct part *part)
{
	static const char string[] = "string";
	const char *close = memchr(at, '}', (size_t)(end - at));
	uint64_t offset = 0;

	*part = (struct part){.type = {string, string + sizeof(string) - 1}};
	if (!close || close - at < 4 || !cp_starts_with(at, "arg"))
		return NULL;
	part->argument = (unsigned)(at[3] - '1');
	at += 4;
	part->behind = *at == '+';
	if (part->behind && cp_parse_u64_prefix(at + 1, &at, &offset) < 0)
		return NULL;
	part->offset = offset;
	if (*at == ':')
		part->type = (struct cp_span){at + 1, close};
	else if (at != close)
		return NULL;
	return part->argument < CP_NAMING_ARGUMENTS && is_known_type(part) ? close + 1
									   : NULL;
}

/* A byte, or what stands in braces; NULL: it cannot be understood, or is not there.
 * arguments NULL: only looks whether it can be. */
static const char *put_next(struct text *out, struct cp_span left, const char *plain,
	const uintptr_t *arguments)
{
	const char *at = left.at;
	struct part part;

	if (*at != '{')
		return put_piece(out, at, 1) ? at + 1 : NULL;
	if (is_word(left, "name}") || is_word(left, "base}"))
		return put_name(out, plain, is_word(left, "name}"))
			       ? at + strlen("{name}")
			       : NULL;
	at = read_part(at + 1, left.end, &part);
	return at && (!arguments || put_part(out, &part, arguments)) ? at : NULL;
}

static bool read_naming(struct cp_span naming, struct text *out, const char *plain,
	const uintptr_t *arguments)
{
	struct cp_span left = {naming.at + 1, naming.end};

	while (left.at && left.at < left.end)
		left.at = put_next(out, left, plain, arguments);
	return left.at != NULL;
}

/* ---- functions ---- */

bool cp_function_set(struct cp_function *function, const char *name, const char *plain,
	struct cp_span naming)
{
	struct cp_name *own = cp_name_intern(name, strlen(name));

	function->plain = cp_name_intern(plain, strlen(plain));
	function->naming = naming;
	if (!own || !function->plain)
		return false;
	own->left_out = false;
	__atomic_store_n(&function->name, own, __ATOMIC_RELEASE);
	return true;
}

struct cp_name *cp_function_named(
	const struct cp_function *function, const uintptr_t *arguments)
{
	char name[CP_MAX_REGION_NAME];
	struct text out = {name, sizeof(name), 0};
	struct cp_name *called;

	if (!read_naming(function->naming, &out, function->plain->text, arguments) ||
		!out.length)
		return function->name;
	called = cp_name_intern(name, out.length);
	if (!called)
		return function->name;
	called->left_out = false;
	return called;
}

void cp_naming_complain(const char *patterns)
{
	char room[CP_MAX_REGION_NAME] = "", line[700];
	struct cp_span piece;
	int except;

	while (patterns && (piece = cp_next_function(&patterns, &except)).at) {
		struct cp_span naming = cp_naming_behind(piece);
		struct text out = {room, sizeof(room), 0};

		if (naming.at == naming.end || read_naming(naming, &out, "", NULL))
			continue;
		cp_format(line, sizeof(line),
			"CACHEPEEK_REGIONS: %.*s is ignored, "
			"and the function's name taken: expected {name}, {base}, "
			"{argN} or {argN+OFFSET:TYPE}, with N from 1 to %d, "
			"and string, std::string, std::vector<long> or long as TYPE",
			(int)(naming.end - naming.at < 200 ? naming.end - naming.at
							   : 200),
			naming.at, CP_NAMING_ARGUMENTS);
		cp_warn(line);
	}
}
