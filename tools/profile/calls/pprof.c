/* SPDX-License-Identifier: MIT
 *
 * The file format of pprof (github.com/google/pprof, proto/profile.proto), compressed as
 * its readers expect it: a location for each frame, and a sample for each stack that has
 * some of a quantity by itself.
 */
#include <string.h>
#include <zlib.h>

#include "base/hash.h"
#include "tools/profile/calls/protobuf.h"
#include "tools/profile/calls/stacks.h"
#include "tools/profile/model/keys.h"
#include "tools/profile/model/write.h"

/* Fields of the messages, as profile.proto numbers them. */
enum { SAMPLE_TYPE = 1, SAMPLE = 2, MAPPING = 3, LOCATION = 4, FUNCTION = 5, STRING = 6 };
enum { COMMENT = 13, DEFAULT_SAMPLE_TYPE = 14 };
enum { TYPE = 1, UNIT = 2 };                                      /* SAMPLE_TYPE's */
enum { LOCATION_ID = 1, VALUE = 2 };                              /* SAMPLE's */
enum { ID = 1, MAPPING_FILENAME = 5, MAPPING_FUNCTIONS = 7 };     /* all, and MAPPING's */
enum { MAPPING_ID = 2, LINE = 4 };                                /* LOCATION's */
enum { LINE_FUNCTION = 1, LINE_LINE = 2 };                        /* LINE's */
enum { NAME = 2, SYSTEM_NAME = 3, FILENAME = 4, START_LINE = 5 }; /* FUNCTION's */

struct pprof {
	const struct cp_stacks *stacks;
	struct cp_arena *arena;
	struct cp_message whole, part, inner;
	struct cp_keys *strings, *mappings;
	size_t nstrings, nmappings;
	const char **string;
};

/* ---- strings and modules, each once ---- */

static void add_string(struct pprof *p, const char *text)
{
	p->string = cp_profile_grow(p->arena, p->string, p->nstrings, sizeof(*p->string));
	p->string[p->nstrings++] = text;
	cp_message_bytes(&p->whole, STRING, text, strlen(text));
}

/* Its number in the table, in which the first one is the empty one. */
static size_t string_of(struct pprof *p, const char *text)
{
	for (uint64_t b = strlen(text);; b += 1ull << 32) {
		size_t *number = cp_keys_number(p->strings, cp_hash_text(0, text), b);

		if (!*number) {
			add_string(p, text);
			*number = p->nstrings;
		}
		if (p->string && strcmp(p->string[*number - 1], text) == 0)
			return *number - 1;
	}
}

static void add_mapping(struct pprof *p, size_t name)
{
	cp_message_number(&p->part, ID, ++p->nmappings);
	cp_message_number(&p->part, MAPPING_FILENAME, name);
	cp_message_number(&p->part, MAPPING_FUNCTIONS, 1);
	cp_message_add(&p->whole, MAPPING, &p->part);
}

/* 0: none. */
static size_t mapping_of(struct pprof *p, const char *module)
{
	size_t name = string_of(p, module);
	size_t *number = cp_keys_number(p->mappings, name, 0);

	if (!*module)
		return 0;
	if (!*number) {
		add_mapping(p, name);
		*number = p->nmappings;
	}
	return *number;
}

/* Whether the command is a call of that file. */
static bool is_called(const char *command, const char *module)
{
	const char *slash = strrchr(module, '/');
	size_t length = strcspn(command, " ");

	while (length && memrchr(command, '/', length)) {
		const char *name = (const char *)memrchr(command, '/', length) + 1;

		length -= (size_t)(name - command);
		command = name;
	}
	return length && slash && strlen(slash + 1) == length &&
	       strncmp(slash + 1, command, length) == 0;
}

/* The first mapping is the program, for pprof. */
static void put_program(struct pprof *p, const char *command)
{
	for (size_t i = 0; i < p->stacks->nframes; i++)
		if (is_called(command, p->stacks->frame[i].module)) {
			mapping_of(p, p->stacks->frame[i].module);
			return;
		}
}

/* ---- the parts ---- */

static void put_types(struct pprof *p)
{
	size_t count = string_of(p, "count");

	for (size_t q = 0; q < p->stacks->nquantities; q++) {
		cp_message_number(&p->part, TYPE, string_of(p, p->stacks->quantity[q]));
		cp_message_number(&p->part, UNIT, count);
		cp_message_add(&p->whole, SAMPLE_TYPE, &p->part);
	}
	cp_message_number(&p->whole, DEFAULT_SAMPLE_TYPE,
		string_of(p, p->stacks->quantity[p->stacks->misses]));
}

static void put_function(struct pprof *p, const struct cp_stack_frame *frame, size_t id)
{
	size_t name = string_of(p, frame->name);

	cp_message_number(&p->part, ID, id);
	cp_message_number(&p->part, NAME, name);
	cp_message_number(&p->part, SYSTEM_NAME, name);
	cp_message_number(&p->part, FILENAME, string_of(p, frame->file));
	if (!frame->is_statement)
		cp_message_number(&p->part, START_LINE, frame->line);
	cp_message_add(&p->whole, FUNCTION, &p->part);
}

/* A location has its function's number, its frame's and one more: 0 is none. */
static void put_frames(struct pprof *p)
{
	for (size_t i = 0; i < p->stacks->nframes; i++) {
		const struct cp_stack_frame *frame = &p->stacks->frame[i];
		size_t mapping = mapping_of(p, frame->module);

		put_function(p, frame, i + 1);
		cp_message_number(&p->inner, LINE_FUNCTION, i + 1);
		cp_message_number(&p->inner, LINE_LINE, frame->line);
		cp_message_number(&p->part, ID, i + 1);
		cp_message_number(&p->part, MAPPING_ID, mapping);
		cp_message_add(&p->part, LINE, &p->inner);
		cp_message_add(&p->whole, LOCATION, &p->part);
	}
}

static bool has_some(const struct pprof *p, const struct cp_stack *stack)
{
	for (size_t q = 0; q < p->stacks->nquantities; q++)
		if (stack->own[q])
			return true;
	return false;
}

static void put_samples(struct pprof *p)
{
	size_t *list = cp_arena_alloc(p->arena, (p->stacks->n + 1) * sizeof(*list));

	for (size_t i = 0; i < p->stacks->n; i++) {
		if (!has_some(p, &p->stacks->stack[i]))
			continue;
		for (size_t f = cp_stack_frames(p->stacks, i, list); f-- > 0;)
			cp_message_packed(&p->inner, list[f] + 1);
		cp_message_add(&p->part, LOCATION_ID, &p->inner);
		for (size_t q = 0; q < p->stacks->nquantities; q++)
			cp_message_packed(&p->inner, p->stacks->stack[i].own[q]);
		cp_message_add(&p->part, VALUE, &p->inner);
		cp_message_add(&p->whole, SAMPLE, &p->part);
	}
}

static void put_comment(struct pprof *p, const struct cp_profile_view *view)
{
	cp_message_number(
		&p->whole, COMMENT, string_of(p, cp_stacks_title(view, p->stacks)));
}

/* ---- the file ---- */

/* Writes each piece that zlib has filled. */
static void deflate_into(struct cp_out *out, z_stream *stream)
{
	unsigned char piece[8192];
	int result;

	do {
		stream->next_out = piece;
		stream->avail_out = sizeof(piece);
		result = deflate(stream, Z_FINISH);
		cp_out_bytes(out, piece, sizeof(piece) - stream->avail_out);
	} while (result == Z_OK);
}

/* As gzip, with no time in its header: the same profile is the same file. */
static void put_compressed(struct cp_out *out, struct cp_message *message)
{
	enum { WITH_GZIPS_HEADER = 16 };
	z_stream stream = {.next_in = message->bytes, .avail_in = (uInt)message->size};

	if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED,
		    MAX_WBITS + WITH_GZIPS_HEADER, 8, Z_DEFAULT_STRATEGY) != Z_OK)
		cp_escape_take(message->arena->out_of_memory);
	deflate_into(out, &stream);
	deflateEnd(&stream);
}

void cp_profile_write_pprof(struct cp_out *out, const struct cp_profile_view *view)
{
	struct cp_arena *arena = view->profile->arena;
	struct pprof p = {
		.stacks = cp_stacks_of(view, true),
		.arena = arena,
		.whole.arena = arena,
		.part.arena = arena,
		.inner.arena = arena,
		.strings = cp_keys_new(arena),
		.mappings = cp_keys_new(arena),
	};

	string_of(&p, "");
	put_types(&p);
	put_program(&p, view->profile->command);
	put_frames(&p);
	put_samples(&p);
	put_comment(&p, view);
	put_compressed(out, &p.whole);
}
