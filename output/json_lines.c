/* SPDX-License-Identifier: MIT */
#include "output/json_lines.h"

#include <string.h>

#include "base/text/utf8.h"

static void put_escaped(struct cp_out *out, unsigned char c)
{
	if (c == '"' || c == '\\')
		cp_out_format(out, "\\%c", c);
	else if (c == '\n')
		cp_out_text(out, "\\n");
	else if (c == '\t')
		cp_out_text(out, "\\t");
	else
		cp_out_format(out, "\\u%04x", c);
}

/* In a page, "</script" and "<!--" would end the report or hide what follows. */
static bool is_markup(const char *text, const char *end)
{
	return *text == '<' && text + 1 < end && (text[1] == '/' || text[1] == '!');
}

void cp_json_characters(struct cp_out *out, const char *text, size_t length)
{
	const char *end = text + length;

	while (text < end) {
		size_t bytes = cp_utf8_length(text, (size_t)(end - text));
		unsigned char c = (unsigned char)*text;

		if (bytes > 1 || (bytes == 1 && c >= ' ' && c != '"' && c != '\\' &&
					 c != 0x7f && !is_markup(text, end)))
			cp_out_bytes(out, text, bytes);
		else
			put_escaped(out, c);
		text += bytes ? bytes : 1;
	}
}

void cp_json_string(struct cp_out *out, const char *text, size_t length)
{
	cp_out_text(out, "\"");
	cp_json_characters(out, text, length);
	cp_out_text(out, "\"");
}

void cp_json_quoted(struct cp_out *out, const char *text)
{
	cp_json_string(out, text, strlen(text));
}

void cp_json_pair(struct cp_out *out, const char *name, const char *text)
{
	cp_json_quoted(out, name);
	cp_out_text(out, ": ");
	cp_json_quoted(out, text);
}

void cp_json_next(struct cp_out *out, const char *name, const char *text)
{
	cp_out_text(out, ", ");
	cp_json_pair(out, name, text);
}

void cp_json_next_count(struct cp_out *out, const char *name, uint64_t value)
{
	if (value)
		cp_out_format(out, ", \"%s\": %lu", name, (unsigned long)value);
	else
		cp_out_format(out, ", \"%s\": null", name);
}

void cp_json_path(struct cp_out *out, const struct cp_region *region)
{
	const struct cp_slice *names[CP_MAX_DEPTH];
	unsigned depth = cp_region_path(region, names);

	cp_out_text(out, "[");
	for (unsigned i = 0; i < depth; i++) {
		cp_out_text(out, i ? ", " : "");
		cp_json_string(out, names[i]->at, cp_slice_length(*names[i]));
	}
	cp_out_text(out, "]");
}

void cp_json_indent(struct cp_json *json)
{
	if (json->comma)
		cp_out_text(json->out, ",");
	if (!json->flat)
		cp_out_text(json->out, "\n");
	for (int i = 0; i < json->depth && !json->flat; i++)
		cp_out_text(json->out, " ");
	json->comma = true;
}

/* A member that begins on a line of its own; its value follows. */
void cp_json_key(struct cp_json *json, const char *name)
{
	cp_json_indent(json);
	cp_json_quoted(json->out, name);
	cp_out_text(json->out, json->flat ? ":" : ": ");
}

void cp_json_first(struct cp_json *json, const char *name)
{
	cp_out_text(json->out, "{\"");
	cp_out_text(json->out, name);
	cp_out_text(json->out, json->flat ? "\":" : "\": ");
}

void cp_json_member(struct cp_json *json, const char *name)
{
	cp_out_text(json->out, json->flat ? ",\"" : ", \"");
	cp_out_text(json->out, name);
	cp_out_text(json->out, json->flat ? "\":" : "\": ");
}

void cp_json_put(struct cp_json *json, const char *text)
{
	if (text)
		cp_json_quoted(json->out, text);
	else
		cp_out_text(json->out, "null");
}

void cp_json_text(struct cp_json *json, const char *name, const char *text)
{
	cp_json_key(json, name);
	cp_json_put(json, text);
}

void cp_json_integer(struct cp_json *json, const char *name, uint64_t value)
{
	cp_json_key(json, name);
	cp_out_format(json->out, "%lu", (unsigned long)value);
}

void cp_json_open(struct cp_json *json, const char *bracket)
{
	cp_out_text(json->out, bracket);
	json->depth++;
	json->comma = false;
}

void cp_json_close(struct cp_json *json, const char *bracket)
{
	bool empty = !json->comma;

	json->depth--;
	json->comma = false;
	if (!empty && !json->flat)
		cp_json_indent(json);
	cp_out_text(json->out, bracket);
	json->comma = true;
}

void cp_json_list(
	struct cp_json *json, const char *name, const char *const *texts, size_t count)
{
	cp_json_key(json, name);
	cp_out_text(json->out, "[");
	for (size_t i = 0; i < count; i++) {
		cp_out_text(json->out, i ? ", " : "");
		cp_json_put(json, texts[i]);
	}
	cp_out_text(json->out, "]");
}

/* Integers exactly; else 10 digits, more than any counter's noise allows. */
void cp_json_value(struct cp_json *json, double value)
{
	if (value > -9e15 && value < 9e15 && value == (double)(int64_t)value) {
		cp_out_format(json->out, "%ld", (long)value);
		return;
	}
	cp_out_format(json->out, "%.10g", value);
}

/* , "NAME": VALUE within a line */
void cp_json_inline_number(struct cp_json *json, const char *name, double value)
{
	cp_json_member(json, name);
	cp_json_value(json, value);
}

void cp_json_inline_text(struct cp_json *json, const char *name, const char *text)
{
	cp_json_member(json, name);
	cp_json_put(json, text);
}

void cp_json_inline_known(struct cp_json *json, const char *name, double value)
{
	if (value >= 0)
		cp_json_inline_number(json, name, value);
	else
		cp_json_inline_text(json, name, NULL);
}
