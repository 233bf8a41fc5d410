/* SPDX-License-Identifier: MIT
 *
 * The page of a gate: what failed first, with its place, and no script.
 */
#include <stdlib.h>
#include <string.h>

#include "output/html.h"
#include "tools/gate/gate.h"

static void put_element(FILE *file, const char *tag, const char *text)
{
	fprintf(file, "<%s>", tag);
	cp_gate_put_xml(file, text);
	fprintf(file, "</%.*s>\n", (int)strcspn(tag, " "), tag);
}

static const char *place_text(
	const struct cp_baseline *gate, const struct cp_baseline_line *line)
{
	struct cp_gate_place place = cp_baseline_place(gate, line);

	return cp_text_format(gate->arena, "%s:%u", place.file, place.line);
}

static void put_row(
	FILE *file, const struct cp_baseline *gate, const struct cp_baseline_line *line)
{
	bool known = line->entry != NULL;

	fprintf(file, "<tr%s>\n",
		line->result == CP_BASELINE_FAILS ? " class=\"fails\"" : "");
	put_element(file, "td", cp_baseline_word(line->result));
	put_element(file, "td", line->region);
	put_element(file, "td", line->name);
	put_element(file, "td", place_text(gate, line));
	put_element(file, "td", cp_baseline_number(gate->arena, line->value));
	put_element(file, "td",
		known ? cp_baseline_number(gate->arena, line->now) : "\u2014");
	put_element(file, "td", known ? cp_baseline_change(gate->arena, line) : "\u2014");
	put_element(file, "td", line->tolerance ? line->tolerance : gate->tolerance);
	fputs("</tr>\n", file);
}

static void put_table(FILE *file, const struct cp_baseline *gate)
{
	fputs("<div class=\"wide\" tabindex=\"0\" role=\"group\" aria-label=\"Values\"><table>\n"
	      "<thead><tr><th></th><th>region</th><th>value</th><th>place</th>"
	      "<th>before</th><th>after</th><th>change</th><th>allowed</th></tr></thead>\n"
	      "<tbody>\n",
		file);
	for (int worst = CP_BASELINE_UNKNOWN_VALUE; worst >= CP_BASELINE_HELD; worst--)
		for (size_t i = 0; i < gate->nlines; i++)
			if ((int)gate->lines[i].result == worst)
				put_row(file, gate, &gate->lines[i]);
	fputs("</tbody></table></div>\n", file);
}

static void put_gate(FILE *file, const struct cp_baseline *gate)
{
	const struct cp_side *run = &gate->values->sides[1];
	int status = cp_baseline_status(gate);

	put_element(file, "h1",
		status == 0   ? "Cache gate: passed"
		: status == 3 ? "Cache gate: failed"
			      : "Cache gate: not judged");
	put_element(file, "p class=\"note\"",
		cp_text_format(gate->arena, "%s%scachepeek %s \u00b7 %s against %s",
			run->began ? run->began : "", run->began ? " \u00b7 " : "",
			CP_VERSION, run->command, gate->file));
	if (gate->unlike)
		put_element(file, "p class=\"cut\"", gate->unlike);
	else
		put_table(file, gate);
	put_element(file, "p class=\"note\"",
		cp_text_format(gate->arena, "Counted on %s.", run->machine));
	if (gate->variables && status)
		put_element(file, "p class=\"note\"",
			cp_text_format(gate->arena,
				"Variables are not those of the baseline's run, and counts "
				"may depend on them: %s",
				gate->variables));
}

static void put_part(struct cp_out *out, const char *name, const void *data)
{
	char *text = NULL;
	size_t size = 0;
	FILE *file = open_memstream(&text, &size);

	(void)name;
	if (!file)
		return;
	put_gate(file, data);
	if (fclose(file) == 0)
		cp_out_bytes(out, text, size);
	free(text);
}

void cp_gate_write_html(const struct cp_baseline *gate, FILE *file)
{
	struct cp_out out;

	fflush(file);
	cp_out_open(&out, fileno(file));
	cp_page_write(&out, "gate.html", put_part, gate);
	if (cp_out_flush(&out) < 0)
		fputc(EOF, file);
}
