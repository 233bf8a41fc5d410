/* SPDX-License-Identifier: MIT */
#include "tools/shared/outputs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text/colour.h"
#include "base/text.h"
#include "output/html.h"
#include "output/meanings.h"
#include "tools/shared/cmd.h"

static bool is_colourful(const struct cp_output *output)
{
	int fd = output->file.fd;

	return (!output->file.fresh[0] || isatty(fd)) &&
	       cp_colour_on(cp_cmd_colour(), fd);
}

static int write_table(const struct cp_document *document, const char *name)
{
	struct cp_output output;

	if (!cp_output_open(&output, name))
		return 1;
	if (cp_format_of(name, CP_DOCUMENT_TAKES) == CP_FORMAT_CSV)
		document->csv(document->of, &output.out);
	else
		document->text(document->of, &output.out, is_colourful(&output));
	return cp_output_close(&output);
}

static int add_output(const char *text, size_t length, void *out)
{
	cp_out_bytes(out, text, length);
	return 0;
}

static int save_json(const json_t *made, const char *name)
{
	struct cp_output output;

	if (!cp_output_open(&output, name))
		return 1;
	if (!made || json_dump_callback(made, add_output, &output.out,
			     JSON_INDENT(1) | JSON_REAL_PRECISION(10)) < 0) {
		fprintf(stderr, "cachepeek: output %s: no memory for it\n", output.name);
		cp_output_abandon();
		return 1;
	}
	cp_out_text(&output.out, "\n");
	return cp_output_close(&output);
}

static int write_json(const struct cp_document *document, const char *output)
{
	json_t *made = document->json(document->of);
	int status = save_json(made, output);

	json_decref(made);
	return status;
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

static int write_page(const struct cp_document *document, const char *name)
{
	json_t *made = document->json(document->of);
	struct cp_output output;
	int status = 1;

	if (cp_output_open(&output, name)) {
		if (made)
			cp_page_write(&output.out, document->page, put_part, made);
		else
			output.out.error = ENOMEM;
		status = cp_output_close(&output);
	}
	json_decref(made);
	return status;
}

static int write_one(const struct cp_document *document, const char *output)
{
	switch (cp_format_of(output, CP_DOCUMENT_TAKES)) {
	case CP_FORMAT_JSON:
		return write_json(document, output);
	case CP_FORMAT_HTML:
		return write_page(document, output);
	default:
		return write_table(document, output);
	}
}

int cp_outputs_write(const struct cp_output_list *outputs, const char *otherwise,
	const struct cp_document *document)
{
	int status = 0;

	if (!outputs->count)
		return write_one(document, otherwise);
	for (size_t i = 0; i < outputs->count; i++)
		status |= write_one(document, outputs->name[i]);
	return status;
}
