/* SPDX-License-Identifier: MIT
 *
 * The comparison as JSON (doc/cachepeek-compare-1.schema.json), and as a page with that.
 */
#include <string.h>
#include <sys/wait.h>

#include "output/report/ended.h"
#include "output/html.h"
#include "output/json.h"
#include "output/meanings.h"
#include "tools/compare/compare.h"

/* error: half of its 95 % interval; < 0: it has none. */
static void put_value(
	struct cp_out *out, struct cp_value value, double error, const char *unit)
{
	bool there = value.status != CP_UNAVAILABLE;

	cp_out_text(out, "{\"value\": ");
	if (!there)
		cp_out_text(out, "null");
	else if (unit)
		cp_out_format(out, "%.17g", value.value);
	else
		cp_out_format(out, "%llu", (unsigned long long)value.value);
	if (unit) {
		cp_json_next(out, "unit", unit);
	}
	cp_json_next(out, "status", cp_status_name(value.status));
	if (error >= 0)
		cp_out_format(out, ", \"error\": %.17g", error);
	if (!there) {
		cp_json_next(out, "reason", value.reason ? value.reason : "");
	}
	cp_out_text(out, "}");
}

static void put_counts(struct cp_comparison *c, struct cp_out *out, unsigned i)
{
	cp_out_text(out, "   \"counts\": {");
	for (size_t n = 0; n < c->request.nnames; n++) {
		cp_out_text(out, n ? ",\n    " : "\n    ");
		cp_json_quoted(out, c->request.names[n]);
		cp_out_text(out, ": ");
		put_value(out, cp_compare_quantity(c, i, c->request.names[n]),
			cp_compare_error(c, i, c->request.names[n], NULL), NULL);
	}
	cp_out_text(out, "},\n");
}

static void put_metrics(struct cp_comparison *c, struct cp_out *out, unsigned i)
{
	cp_out_text(out, "   \"metrics\": {");
	for (size_t m = 0; m < c->nmetrics; m++) {
		const struct cp_metric *metric = c->metrics[m];

		cp_out_text(out, m ? ",\n    " : "\n    ");
		cp_json_quoted(out, metric->name);
		cp_out_text(out, ": ");
		put_value(out, cp_compare_metric(c, i, metric),
			cp_compare_error(c, i, NULL, metric), metric->unit);
	}
	cp_out_text(out, "}}");
}

/* Where one was asked for. */
static void put_sample(struct cp_out *out, const struct cp_compared *compared)
{
	char text[CP_SAMPLE_OPTION];

	if (!compared->sample.sets)
		return;
	cp_out_text(out, "   ");
	if (compared->machine.sampled) {
		cp_sample_describe(&compared->sample, text, sizeof(text));
		cp_json_pair(out, "sample", text);
	} else {
		cp_json_pair(out, "not_sampled", compared->unsampled);
	}
	cp_out_text(out, ",\n");
}

static void put_machine(struct cp_comparison *c, struct cp_out *out, unsigned i)
{
	const struct cp_compared *compared = &c->of[i];
	char description[512];

	cp_machine_describe(&compared->machine, description, sizeof(description));
	cp_out_text(out, i ? ",\n  {" : "\n  {");
	cp_json_pair(out, "name", compared->machine.name);
	cp_out_text(out, ",\n   ");
	cp_json_pair(out, "description", description);
	cp_out_format(out, ",\n   \"line\": %u, \"cores\": %u, \"run\": %u,\n",
		compared->machine.level[CP_L1D].line, compared->machine.cores,
		compared->run);
	put_sample(out, compared);
	cp_weights_write_json(out, &compared->weights);
	cp_out_text(out, ",\n");
	put_counts(c, out, i);
	put_metrics(c, out, i);
}

static void put_exit(const struct cp_comparison *c, struct cp_out *out)
{
	bool exited = WIFEXITED(c->status);

	cp_out_format(out, " \"exit\": {\"how\": \"%s\", \"code\": %d},\n",
		exited ? "exit" : "signal",
		exited ? WEXITSTATUS(c->status) : WTERMSIG(c->status));
}

static void member_or_null(struct cp_out *out, const char *name, const char *value)
{
	if (value) {
		cp_json_pair(out, name, value);
	} else {
		cp_json_quoted(out, name);
		cp_out_text(out, ": null");
	}
}

static void put_answers(struct cp_comparison *c, struct cp_out *out)
{
	cp_out_text(out, " \"answers\": [");
	for (size_t g = 0; g < c->request.ngroups; g++) {
		struct cp_compared_best best = {.ranked_by = NULL};

		cp_compare_answer(c, c->request.groups[g], &best);
		cp_out_text(out, g ? ",\n  {" : "\n  {");
		cp_json_pair(out, "group", c->request.groups[g]->name);
		cp_out_text(out, ", ");
		member_or_null(out, "ranked_by", best.ranked_by);
		cp_out_text(out, ", ");
		member_or_null(out, "most", best.most);
		if (c->sample || *cp_compare_rounds(c))
			cp_out_format(out, ", \"undecided\": %s",
				best.undecided ? "true" : "false");
		cp_out_text(out, ", \"lines\": ");
		cp_json_answer(out, &best.answer);
		cp_out_text(out, "}");
	}
	cp_out_text(out, "],\n");
}

static void put_differences(const struct cp_comparison *c, struct cp_out *out)
{
	if (!c->reproducible)
		return;
	cp_out_text(out, " \"differs\": [");
	for (size_t i = 0; i < c->ndiffers; i++) {
		cp_out_text(out, i ? ", " : "");
		cp_json_quoted(out, c->differs[i]);
	}
	cp_out_text(out, "],\n");
}

void cp_compare_json(struct cp_comparison *c, struct cp_out *out)
{
	const char *cut = cp_status_cut(&c->arena, c->status);

	cp_out_text(out, "{\n ");
	cp_json_pair(out, "schema", "cachepeek-compare/1");
	cp_out_text(out, ",\n ");
	cp_json_pair(out, "cachepeek", CP_VERSION);
	cp_out_text(out, ",\n \"command\": [");
	for (char **word = c->program; *word; word++) {
		cp_out_text(out, word == c->program ? "" : ", ");
		cp_json_quoted(out, *word);
	}
	cp_out_text(out, "],\n ");
	member_or_null(out, "ended", cut);
	cp_out_text(out, ",\n ");
	member_or_null(out, "began", cp_utc_text(&c->arena, c->realtime_ns));
	cp_out_text(out, ", ");
	member_or_null(out, "host", *c->host ? c->host : NULL);
	cp_out_text(out, ",\n");
	put_exit(c, out);
	put_differences(c, out);
	put_answers(c, out);
	cp_out_format(out,
		" \"domain\": \"u\", \"counted_from\": \"first instruction\",\n"
		" \"children\": %s, \"runs\": %u,\n \"machines\": [",
		c->alone ? "false" : "true", c->nruns);
	for (unsigned i = 0; i < c->nmachines; i++)
		put_machine(c, out, i);
	cp_out_text(out, "]\n}\n");
}

static void put_part(struct cp_out *out, const char *name, const void *data)
{
	struct cp_comparison *const *c = data;

	if (strcmp(name, "MEANINGS") == 0)
		cp_meanings_write(out, (*c)->request.groups, (*c)->request.ngroups,
			(*c)->request.names, (*c)->request.nnames);
	else
		cp_compare_json(*c, out);
}

void cp_compare_html(struct cp_comparison *c, struct cp_out *out)
{
	cp_page_write(out, "compare.html", put_part, &c);
}
