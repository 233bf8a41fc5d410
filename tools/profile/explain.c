/* SPDX-License-Identifier: MIT */
#include "tools/profile/explain.h"

#include <stdio.h>
#include <string.h>

#include "output/json.h"
#include "base/text/table.h"

#define SCHEMA "cachepeek-explain/1"
#define WIDTH 80
#define COLUMN 11

/* ---- of a run's directory ---- */

static void add_findings(struct cp_findings *to, const struct cp_findings *more)
{
	for (size_t i = 0; i < more->n && to->n < CP_ADVICE_MOST; i++)
		to->finding[to->n++] = more->finding[i];
}

static bool add_measurement(struct cp_profile *profile, const char *name,
	struct cp_findings *to, char *error, size_t size)
{
	struct cp_profile_view view = {.profile = profile,
		.measurement = cp_measurement_find(profile, name, error, size)};
	struct cp_findings found;

	if (!view.measurement)
		return false;
	found = cp_advise(&view);
	if (!to->finding)
		*to = found;
	else
		add_findings(to, &found);
	return true;
}

bool cp_explain_profile(struct cp_profile *profile, const char *directory,
	struct cp_explained *to, char *error, size_t size)
{
	*to = (struct cp_explained){
		.from = directory,
		.command = profile->command,
		.machine = profile->machine,
		.ended = profile->cut,
		.source = profile->sampled ? "sampled" : "simulated",
		.words = profile->arguments,
		.nwords = profile->narguments,
	};
	if (!add_measurement(profile, "dcache", &to->found, error, size) ||
		!add_measurement(profile, "icache", &to->found, error, size))
		return false;
	to->warnings = profile->warnings;
	to->nwarnings = profile->nwarnings;
	return true;
}

/* ---- commands that confirm ---- */

static bool is_plain(const char *word)
{
	return *word && word[strspn(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
					  "abcdefghijklmnopqrstuvwxyz0123456789"
					  "_@%+=:,./-")] == '\0';
}

/* As a shell takes it. */
static const char *quoted(struct cp_arena *arena, const char *word)
{
	const char *text = "'";

	if (is_plain(word))
		return word;
	for (const char *quote; (quote = strchr(word, '\'')); word = quote + 1)
		text = cp_text_format(
			arena, "%s%.*s'\\''", text, (int)(quote - word), word);
	return cp_text_format(arena, "%s%s'", text, word);
}

static const char *command_of(struct cp_arena *arena, const struct cp_explained *what)
{
	const char *text = "";

	if (!what->words)
		return what->command;
	for (size_t i = 0; i < what->nwords; i++)
		text = cp_text_format(arena, "%s%s%s", text, i ? " " : "",
			quoted(arena, what->words[i]));
	return text;
}

/* The option that simulates the same machine; "": the host's. */
static const char *machine_option(struct cp_arena *arena, const char *machine)
{
	size_t length = strcspn(machine, ": ");

	if (!length || (length == 4 && strncmp(machine, "host", 4) == 0))
		return "";
	return cp_text_format(arena, "-m %s ",
		quoted(arena, cp_text_format(arena, "%.*s", (int)length, machine)));
}

#define STEPS 3

/* Before the mend (NULL: the file is there), behind it, and the comparison. */
static void confirm(struct cp_arena *arena, const struct cp_explained *what,
	const struct cp_finding *finding, const char *step[STEPS])
{
	const char *by = cp_finding_shown_by(finding),
		   *before = what->is_file ? quoted(arena, what->from) : "before.json";

	step[0] = what->is_file ? NULL
				: cp_text_format(arena, "cachepeek %.*s -d %s -o %s",
					  (int)strcspn(by, " "), by,
					  quoted(arena, what->from), before);
	step[1] = cp_text_format(arena, "cachepeek %s %s-o after.json %s", by,
		machine_option(arena, what->machine), command_of(arena, what));
	step[2] = cp_text_format(arena, "cachepeek diff %s after.json", before);
}

/* ---- text ---- */

static void put_labelled(
	struct cp_out *out, struct cp_arena *arena, const char *label, const char *text)
{
	if (!*text)
		return;
	cp_out_text(out, cp_text_format(arena, "%-*s", COLUMN, label));
	cp_text_wrap(out, text, COLUMN, COLUMN, WIDTH);
}

static void put_place(
	struct cp_out *out, struct cp_arena *arena, const struct cp_finding *finding)
{
	put_labelled(out, arena, "  where", cp_finding_place(arena, finding));
	if (finding->at)
		put_labelled(out, arena, "  data", finding->data);
}

static void put_confirm(struct cp_out *out, struct cp_arena *arena,
	const struct cp_explained *what, const struct cp_finding *finding)
{
	static const char *const labels[STEPS] = {"  now", "  mended", "  compare"};
	const char *step[STEPS];

	confirm(arena, what, finding, step);
	for (size_t i = 0; i < STEPS; i++)
		if (step[i]) /* whole: it is copied */
			cp_out_text(out, cp_text_format(arena, "%-*s%s\n", COLUMN,
						 labels[i], step[i]));
}

static void put_finding(struct cp_out *out, struct cp_arena *arena,
	const struct cp_explained *what, size_t number)
{
	const struct cp_finding *f = &what->found.finding[number];

	cp_out_text(out, "\n");
	cp_text_wrap(out,
		cp_text_format(arena, "%zu. %s%s%s", number + 1, f->rule,
			*f->cause ? ": " : "", f->cause),
		0, 3, WIDTH);
	put_place(out, arena, f);
	put_labelled(out, arena, "  counted", cp_text_format(arena, "%s.", f->evidence));
	put_labelled(out, arena, "  mend", f->advice);
	put_labelled(out, arena, "  expected", f->expected);
	put_confirm(out, arena, what, f);
}

static void put_rest(
	struct cp_out *out, struct cp_arena *arena, const struct cp_explained *what)
{
	const struct cp_findings *found = &what->found;

	if (!found->n) {
		cp_out_text(out, "\n");
		cp_text_wrap(out, found->why_none, 0, 4, WIDTH);
	}
	if (found->below_limit || found->not_looked_at)
		cp_out_text(out, "\n");
	if (found->below_limit)
		put_labelled(out, arena, "not said", found->below_limit);
	if (found->not_looked_at)
		put_labelled(out, arena, "not seen", found->not_looked_at);
	for (size_t i = 0; i < what->nwarnings; i++)
		put_labelled(out, arena, "warning", what->warnings[i]);
}

void cp_explain_write_text(
	struct cp_out *out, struct cp_arena *arena, const struct cp_explained *what)
{
	cp_text_wrap(out,
		cp_text_format(
			arena, "cachepeek %s explain: %s", CP_VERSION, what->command),
		0, 4, WIDTH);
	if (what->ended)
		put_labelled(out, arena, "ended", what->ended);
	for (size_t i = 0; i < what->found.n; i++)
		put_finding(out, arena, what, i);
	put_rest(out, arena, what);
}

/* ---- JSON ---- */

static void put_line(struct cp_out *out, const char *name, const char *text)
{
	if (text)
		cp_json_pair(out, name, text);
	else
		cp_out_format(out, "\"%s\": null", name);
	cp_out_text(out, ",\n");
}

static void put_steps(struct cp_out *out, struct cp_arena *arena,
	const struct cp_explained *what, const struct cp_finding *finding)
{
	const char *step[STEPS], *comma = "";

	confirm(arena, what, finding, step);
	cp_out_text(out, ",\n \"confirm\": [");
	for (size_t i = 0; i < STEPS; i++) {
		if (!step[i])
			continue;
		cp_out_text(out, comma);
		cp_json_quoted(out, step[i]);
		comma = ", ";
	}
	cp_out_text(out, "]");
}

static void put_list(
	struct cp_out *out, const char *name, const char *const *list, size_t n)
{
	cp_out_format(out, "\"%s\": [", name);
	for (size_t i = 0; i < n; i++) {
		cp_out_text(out, i ? ", " : "");
		cp_json_quoted(out, list[i]);
	}
	cp_out_text(out, "]");
}

void cp_explain_write_json(
	struct cp_out *out, struct cp_arena *arena, const struct cp_explained *what)
{
	cp_out_text(out, "{");
	put_line(out, "schema", SCHEMA);
	put_line(out, "cachepeek", CP_VERSION);
	put_line(out, "command", what->command);
	put_list(out, "arguments", what->words, what->nwords);
	cp_out_text(out, ",\n");
	put_line(out, "machine", what->machine);
	put_line(out, "source", what->source);
	put_line(out, "ended", what->ended);
	put_line(out, "from", what->from);
	cp_out_text(out, "\"findings\": [");
	for (size_t i = 0; i < what->found.n; i++) {
		cp_out_text(out, i ? ",\n{" : "\n{");
		cp_finding_write_json(out, &what->found.finding[i]);
		put_steps(out, arena, what, &what->found.finding[i]);
		cp_out_text(out, "}");
	}
	cp_out_text(out, "],\n");
	put_line(out, "not_looked_at", what->found.not_looked_at);
	put_line(out, "below_limit", what->found.below_limit);
	put_list(out, "warnings", what->warnings, what->nwarnings);
	cp_out_text(out, "}\n");
}
