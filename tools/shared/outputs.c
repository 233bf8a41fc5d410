/* SPDX-License-Identifier: MIT */
#include "tools/shared/outputs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text/colour.h"
#include "output/html.h"
#include "output/meanings.h"
#include "tools/shared/cmd.h"

static bool is_colourful(const struct cp_output *output)
{
	int fd = output->file.fd;

	return (!output->file.fresh[0] || isatty(fd)) &&
	       cp_colour_on(cp_cmd_colour(), fd);
}

static void write_text(const struct cp_document *document, struct cp_output *output)
{
	document->text(document->of, &output->out, is_colourful(output));
}

static void write_csv(const struct cp_document *document, struct cp_output *output)
{
	document->csv(document->of, &output->out);
}

static int add_output(const char *text, size_t length, void *out)
{
	cp_out_bytes(out, text, length);
	return 0;
}

static void write_json(const struct cp_document *document, struct cp_output *output)
{
	json_t *made = document->json(document->of);

	if (!made || json_dump_callback(made, add_output, &output->out,
			     JSON_INDENT(1) | JSON_REAL_PRECISION(10)) < 0)
		output->out.error = ENOMEM;
	cp_out_text(&output->out, "\n");
	json_decref(made);
}

/* ---- pages ---- */

/* Nothing in JSON ends the element that holds it: `<` is in strings alone. */
static int add_escaped(const char *text, size_t length, void *out)
{
	for (size_t i = 0, plain; i < length; i += plain + 1) {
		const char *found = memchr(text + i, '<', length - i);

		plain = found ? (size_t)(found - text) - i : length - i;
		cp_out_bytes(out, text + i, plain);
		if (found)
			cp_out_text(out, "\\u003c");
	}
	return 0;
}

/* Names the values of the whole run: regions have no others with a meaning. */
static void put_meanings(struct cp_out *out, const json_t *made)
{
	const json_t *values = json_object_get(made, "values"), *value;
	const char **names = calloc(json_array_size(values) + 1, sizeof(*names));
	size_t i, n = 0;

	if (!names) {
		out->error = ENOMEM;
		return;
	}
	json_array_foreach(values, i,
		value) if (json_array_size(json_object_get(value, "path")) == 0)
		names[n++] = json_string_value(json_object_get(value, "name"));
	cp_meanings_of_names(out, names, n);
	free(names);
}

static void put_part(struct cp_out *out, const char *name, const void *made)
{
	if (strcmp(name, "MEANINGS") == 0)
		put_meanings(out, made);
	else if (json_dump_callback(made, add_escaped, out,
			 JSON_COMPACT | JSON_REAL_PRECISION(10)) < 0)
		out->error = ENOMEM;
}

static void write_page(const struct cp_document *document, struct cp_output *output)
{
	json_t *made = document->json(document->of);

	if (made)
		cp_page_write(&output->out, document->page, put_part, made);
	else
		output->out.error = ENOMEM;
	json_decref(made);
}

/* ---- all ---- */

static const struct {
	const char *ending;
	void (*write)(const struct cp_document *document, struct cp_output *output);
} formats[] = {
	{".txt", write_text},
	{".json", write_json},
	{".csv", write_csv},
	{".html", write_page},
};

static void write_one(struct cp_output *output, int format, const void *document)
{
	formats[format].write(document, output);
}

bool cp_outputs_check(const char *command, const struct cp_output_list *outputs)
{
	return cp_output_check_all(command, outputs, CP_ENDINGS(formats));
}

int cp_outputs_write(const struct cp_output_list *outputs, const char *otherwise,
	const struct cp_document *document)
{
	const struct cp_output_list one = {1, {otherwise}};

	return cp_output_write_all(outputs->count ? outputs : &one, CP_ENDINGS(formats),
		write_one, document);
}
