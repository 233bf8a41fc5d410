/* SPDX-License-Identifier: MIT
 *
 * Shows what a gate says: lines of text, a table of Markdown for a merge request, JUnit's
 * XML for those who collect tests, commands of GitHub's log.
 */
#include <stdio.h>
#include <string.h>

#include "tools/gate/file.h"
#include "output/endings.h"
#include "tools/gate/gate.h"

const char *cp_baseline_word(enum cp_baseline_result result)
{
	static const char *const words[] = {"ok", "better", "unsure", "FAILS", "unknown"};

	return words[result];
}

/* Variables, too, may have changed the counts. */
static void write_variables(
	const struct cp_baseline *gate, const char *before, FILE *file)
{
	if (gate->variables && cp_baseline_status(gate) != 0)
		fprintf(file,
			"%sVariables are not those of the baseline's run, and counts "
			"may depend on them: %s\n",
			before, gate->variables);
}

/* ---- text ---- */

static void write_line(
	const struct cp_baseline *gate, const struct cp_baseline_line *line, FILE *file)
{
	struct cp_gate_place place = cp_baseline_place(gate, line);

	fprintf(file, "%-8s%s:%u: %s", cp_baseline_word(line->result), gate->file,
		line->number, cp_baseline_sentence(gate, line));
	if (place.file != gate->file)
		fprintf(file, ", most at %s:%u", place.file, place.line);
	fputc('\n', file);
}

static void write_text(const struct cp_baseline *gate, FILE *file)
{
	size_t held = 0;

	if (gate->unlike) {
		fprintf(file, "cannot judge: %s\n", gate->unlike);
		return;
	}
	for (size_t i = 0; i < gate->nlines; i++) {
		const struct cp_baseline_line *line = &gate->lines[i];

		held += line->result == CP_BASELINE_HELD;
		if (line->result != CP_BASELINE_HELD)
			write_line(gate, line, file);
	}
	fprintf(file, "%zu of %zu values held\n", held, gate->nlines);
	write_variables(gate, "", file);
}

/* ---- Markdown ---- */

static void put_cell(FILE *file, const char *text)
{
	for (; *text; text++)
		if (*text == '|')
			fputs("\\|", file);
		else
			fputc(*text == '\n' || *text == '`' ? ' ' : *text, file);
}

static void write_row(
	const struct cp_baseline *gate, const struct cp_baseline_line *line, FILE *file)
{
	bool known = line->entry != NULL;

	fprintf(file, "| %s | `", cp_baseline_word(line->result));
	put_cell(file, line->region);
	fputs("` | `", file);
	put_cell(file, line->name);
	fprintf(file, "` | %s | %s | %s | %s |\n",
		cp_baseline_number(gate->arena, line->value),
		known ? cp_baseline_number(gate->arena, line->now) : "–",
		known ? cp_baseline_change(gate->arena, line) : "–",
		line->tolerance ? line->tolerance : gate->tolerance);
}

static void write_markdown(const struct cp_baseline *gate, FILE *file)
{
	int status = cp_baseline_status(gate);

	fprintf(file, "### Cache gate: %s\n\n",
		status == 0   ? "passed"
		: status == 3 ? "failed"
			      : "not judged");
	if (gate->unlike) {
		fprintf(file, "%s\n", gate->unlike);
		return;
	}
	fputs("| | region | value | before | after | change | allowed |\n"
	      "|---|---|---|--:|--:|--:|--:|\n",
		file);
	for (int worst = CP_BASELINE_UNKNOWN_VALUE; worst >= CP_BASELINE_HELD; worst--)
		for (size_t i = 0; i < gate->nlines; i++)
			if ((int)gate->lines[i].result == worst)
				write_row(gate, &gate->lines[i], file);
	fprintf(file, "\nCounted on %s.\n", gate->values->sides[1].machine);
	write_variables(gate, "\n", file);
}

/* ---- JUnit ---- */

void cp_gate_put_xml(FILE *file, const char *text)
{
	for (; *text; text++)
		switch (*text) {
		case '&':
			fputs("&amp;", file);
			break;
		case '<':
			fputs("&lt;", file);
			break;
		case '>':
			fputs("&gt;", file);
			break;
		case '"':
			fputs("&quot;", file);
			break;
		default:
			fputc((unsigned char)*text < ' ' ? '?' : *text, file);
		}
}

static size_t count_results(
	const struct cp_baseline *gate, enum cp_baseline_result result)
{
	size_t n = 0;

	for (size_t i = 0; i < gate->nlines; i++)
		n += !gate->unlike && gate->lines[i].result == result;
	return n;
}

static void write_case(
	const struct cp_baseline *gate, const struct cp_baseline_line *line, FILE *file)
{
	bool fails = !gate->unlike && line->result == CP_BASELINE_FAILS,
	     unknown = gate->unlike || line->result == CP_BASELINE_UNKNOWN_VALUE;

	fputs("  <testcase classname=\"", file);
	cp_gate_put_xml(file, line->region);
	fputs("\" name=\"", file);
	cp_gate_put_xml(file, line->name);
	fputs("\" file=\"", file);
	cp_gate_put_xml(file, gate->file);
	fprintf(file, "\" line=\"%u\"", line->number);
	if (!fails && !unknown) {
		fputs("/>\n", file);
		return;
	}
	fprintf(file, ">\n    <%s message=\"", fails ? "failure" : "error");
	cp_gate_put_xml(
		file, gate->unlike ? gate->unlike : cp_baseline_sentence(gate, line));
	fputs("\"/>\n  </testcase>\n", file);
}

static void write_junit(const struct cp_baseline *gate, FILE *file)
{
	fprintf(file,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<testsuite name=\"cachepeek gate\" "
		"tests=\"%zu\" failures=\"%zu\" errors=\"%zu\">\n",
		gate->nlines, count_results(gate, CP_BASELINE_FAILS),
		gate->unlike ? gate->nlines
			     : count_results(gate, CP_BASELINE_UNKNOWN_VALUE));
	for (size_t i = 0; i < gate->nlines; i++)
		write_case(gate, &gate->lines[i], file);
	fputs("</testsuite>\n", file);
}

/* ---- GitHub ---- */

/* As its log has it: what ends a line or a property is written by its number. */
static void put_escaped(const char *text)
{
	for (; *text; text++)
		if (strchr("%\r\n:,", *text))
			printf("%%%02X", (unsigned char)*text);
		else
			putchar(*text);
}

void cp_baseline_annotate(const struct cp_baseline *gate)
{
	for (size_t i = 0; i < gate->nlines; i++) {
		const struct cp_baseline_line *line = &gate->lines[i];
		struct cp_gate_place place;

		if (!gate->unlike && line->result == CP_BASELINE_HELD)
			continue;
		place = cp_baseline_place(gate, line);
		printf("::%s file=", gate->unlike || line->result >= CP_BASELINE_FAILS
					     ? "error"
					     : "notice");
		put_escaped(place.file);
		printf(",line=%u,title=cachepeek gate::", place.line);
		put_escaped(
			gate->unlike ? gate->unlike : cp_baseline_sentence(gate, line));
		putchar('\n');
	}
}

/* ---- files ---- */

static const struct {
	const char *ending;
	void (*write)(const struct cp_baseline *gate, FILE *file);
} formats[] = {
	{".txt", write_text},
	{".html", cp_gate_write_html},
	{".md", write_markdown},
	{".xml", write_junit},
	{".sarif", cp_gate_write_sarif},
};

struct shown {
	const struct cp_baseline *gate;
	int format;
};

static void write_shown(FILE *file, const void *context)
{
	const struct shown *it = context;

	formats[it->format].write(it->gate, file);
}

bool cp_gate_check_outputs(const struct cp_output_list *outputs)
{
	return cp_output_check_all("gate", outputs, CP_ENDINGS(formats));
}

bool cp_baseline_write(const struct cp_baseline *gate, const char *name)
{
	bool is_stdout = strcmp(name, "-") == 0;
	FILE *stream = is_stdout ? stdout : stderr;

	if (!is_stdout && strcmp(name, "stderr") != 0)
		return cp_gate_write(name, write_shown,
			&(const struct shown){
				gate, cp_ending_row(name, CP_ENDINGS(formats))});
	write_text(gate, stream);
	return fflush(stream) == 0;
}
