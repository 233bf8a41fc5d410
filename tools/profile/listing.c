/* SPDX-License-Identifier: MIT */
#include "tools/profile/listing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output/json.h"
#include "tools/profile/model/source.h"

#define CONTEXT 6               /* lines before and after a line with misses */
#define MAX_LINE 400            /* bytes of a line that are shown */
#define MAX_LISTINGS (24 << 20) /* of all files: a page has to open */

/* A line with misses. */
struct place {
	const char *file;
	unsigned line;
	const struct cp_profiled_module *module;
};

/* The listing of one file. */
struct listing {
	struct cp_out *out;
	const struct place *place;
	size_t n, at; /* of place: the first one that may be near */
	size_t *used; /* of MAX_LISTINGS */
	const char *comma;
};

/* ---- which lines ---- */

static int by_file(const void *a, const void *b)
{
	const struct place *x = a, *y = b;
	int order = strcmp(x->file, y->file);

	return order ? order : (x->line > y->line) - (x->line < y->line);
}

static size_t places_of(const struct cp_profile *profile, struct place *place)
{
	size_t n = 0;

	for (size_t i = 0; i < profile->nsites; i++) {
		const struct cp_place_in_code *at = &profile->sites[i].at;

		if (*at->file && at->line)
			place[n++] = (struct place){at->file, at->line, at->module};
	}
	qsort(place, n, sizeof(*place), by_file);
	return n;
}

/* ---- the text ---- */

/* Lines come in order. */
static bool is_near(struct listing *l, unsigned number)
{
	while (l->at < l->n && l->place[l->at].line + CONTEXT < number)
		l->at++;
	return l->at < l->n && l->place[l->at].line <= number + CONTEXT;
}

static void put_line(struct listing *l, unsigned number, const char *line, size_t length)
{
	while (length && (line[length - 1] == '\n' || line[length - 1] == '\r'))
		length--;
	if (length > MAX_LINE)
		length = MAX_LINE;
	cp_out_format(l->out, "%s[%u, ", l->comma, number);
	cp_json_string(l->out, line, length);
	cp_out_text(l->out, "]");
	l->comma = ",\n";
	*l->used += length;
}

static void put_lines(struct listing *l, FILE *file)
{
	char *line = NULL;
	size_t size = 0;
	ssize_t length;

	for (unsigned number = 1; (length = getline(&line, &size, file)) > 0; number++)
		if (is_near(l, number))
			put_line(l, number, line, (size_t)length);
	free(line);
}

/* ---- the file ---- */

static FILE *open_source(const char *path, const char **reason)
{
	*reason = "its path is relative to a directory that is not recorded";
	return *path == '/' ? cp_source_open(path, reason) : NULL;
}

static void put_file(struct listing *l)
{
	const char *reason = "";
	FILE *file = open_source(l->place->file, &reason);

	if (file && *l->used > MAX_LISTINGS) {
		reason = "there is too much source for one page";
		fclose(file);
		file = NULL;
	}
	cp_out_text(l->out, "{\"file\": ");
	cp_json_quoted(l->out, l->place->file);
	cp_out_text(l->out, ", \"reason\": ");
	if (file)
		cp_out_text(l->out, "null");
	else
		cp_json_quoted(l->out, reason);
	cp_out_format(l->out, ", \"changed\": %s, \"lines\": [",
		file && cp_source_changed(l->place->file, l->place->module->path)
			? "true"
			: "false");
	if (file) {
		put_lines(l, file);
		fclose(file);
	}
	cp_out_text(l->out, "]}");
}

void cp_listing_write(struct cp_out *out, const struct cp_profile *profile)
{
	struct place *place =
		cp_arena_alloc(profile->arena, (profile->nsites + 1) * sizeof(*place));
	size_t n = places_of(profile, place), used = 0, next;

	cp_out_text(out, "{\"files\": [");
	for (size_t i = 0; i < n; i = next) {
		for (next = i + 1; next < n; next++)
			if (strcmp(place[next].file, place[i].file) != 0)
				break;
		cp_out_text(out, i ? ",\n" : "\n");
		put_file(&(struct listing){out, &place[i], next - i, 0, &used, "\n"});
	}
	cp_out_text(out, "]}\n");
}
