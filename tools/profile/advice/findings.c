/* SPDX-License-Identifier: MIT
 *
 * Writes what the rules found, as text and as JSON, in whatever report.
 */
#include <string.h>

#include "output/json.h"
#include "base/text.h"
#include "base/text/table.h"
#include "tools/profile/advice/advice.h"

#define WIDTH 80

/* ---- text ---- */

const char *cp_place_line(struct cp_arena *arena, const struct cp_place_in_code *at,
	const struct cp_place_in_code *caller)
{
	const char *own =
		cp_text_format(arena, "%s:%u", cp_base_name(at->file), at->line);

	return caller ? cp_text_format(arena, "%s:%u, inlined %s",
				cp_base_name(caller->file), caller->line, own)
		      : own;
}

static const char *place_of(struct cp_arena *arena, const struct cp_finding *f)
{
	if (!f->at)
		return f->data;
	if (!*f->at->function)
		return cp_text_format(arena, "%s+0x%lx", f->at->module->name,
			(unsigned long)f->at->address);
	return cp_text_format(arena, "%s::%s%s", f->at->module->name, f->at->function,
		*f->at->file ? cp_text_format(arena, " (%s)",
				       cp_place_line(arena, f->at, f->caller))
			     : "");
}

const char *cp_finding_place(struct cp_arena *arena, const struct cp_finding *f)
{
	const char *place = place_of(arena, f);

	if (!f->script)
		return place;
	return cp_text_format(arena, "%s, for %s (%s:%u)", place, f->script->function,
		cp_base_name(f->script->file), f->script->line);
}

static void put_indented(struct cp_out *out, const char *text)
{
	cp_out_text(out, "    ");
	cp_text_wrap(out, text, 4, 4, WIDTH);
}

static void put_rule(
	struct cp_out *out, struct cp_arena *arena, const struct cp_finding *finding)
{
	cp_text_wrap(out,
		cp_text_format(
			arena, "%s: %s", finding->rule, cp_finding_place(arena, finding)),
		0, 4, WIDTH);
	put_indented(out, cp_text_format(arena, "%s.", finding->evidence));
}

static void put_not_looked_at(
	struct cp_out *out, struct cp_arena *arena, const struct cp_findings *found)
{
	if (found->not_looked_at)
		cp_text_wrap(out,
			cp_text_format(arena, "Not looked at: %s.", found->not_looked_at),
			0, 4, WIDTH);
}

static void put_none(struct cp_out *out, const struct cp_findings *found)
{
	if (!found->n && found->why_none)
		cp_text_wrap(out, found->why_none, 0, 4, WIDTH);
}

void cp_findings_write_short(
	struct cp_out *out, struct cp_arena *arena, const struct cp_findings *found)
{
	cp_out_text(out, "\nFindings\n");
	put_none(out, found);
	for (size_t i = 0; i < found->n; i++) {
		put_rule(out, arena, &found->finding[i]);
		put_indented(out, found->finding[i].advice);
	}
	put_not_looked_at(out, arena, found);
}

void cp_findings_write_text(
	struct cp_out *out, struct cp_arena *arena, const struct cp_findings *found)
{
	if (found->n || found->why_none)
		cp_out_text(out, "\nFindings (libcachepeek(7), ADVICE)\n");
	put_none(out, found);
	for (size_t i = 0; i < found->n; i++) {
		const struct cp_finding *f = &found->finding[i];

		put_rule(out, arena, f);
		put_indented(out, cp_text_format(arena, "Threshold: %s.", f->threshold));
		put_indented(out, f->advice);
	}
	if (found->below_limit)
		cp_text_wrap(out,
			cp_text_format(arena, "Not said: %s.", found->below_limit), 0, 4,
			WIDTH);
	put_not_looked_at(out, arena, found);
}

/* ---- JSON ---- */

static void put_script(struct cp_out *out, const struct cp_place_in_code *script)
{
	if (!script)
		return;
	cp_out_text(out, "\"python\": {");
	cp_json_pair(out, "file", script->file);
	cp_out_format(out, ", \"line\": %u, ", script->line);
	cp_json_pair(out, "function", script->function);
	cp_out_text(out, "}, ");
}

static void put_caller(struct cp_out *out, const struct cp_place_in_code *caller)
{
	if (!caller)
		return;
	cp_out_text(out, "\"caller\": {");
	cp_json_pair(out, "file", caller->file);
	cp_out_format(out, ", \"line\": %u}, ", caller->line);
}

static void put_known(struct cp_out *out, const char *name, double value, int digits)
{
	if (value < 0)
		cp_out_format(out, ", \"%s\": null", name);
	else
		cp_out_format(out, ", \"%s\": %.*f", name, digits, value);
}

static void put_cost(struct cp_out *out, const struct cp_finding_cost *cost)
{
	if (cost->count < 0) {
		cp_out_text(out, ", \"cost\": null, ");
		return;
	}
	cp_out_format(out, ", \"cost\": {\"count\": %.0f, ", cost->count);
	cp_json_pair(out, "of", cost->of);
	put_known(out, "cycles", cost->cycles, 0);
	put_known(out, "cycles_per_instruction", cost->per_instruction, 4);
	put_known(out, "share", cost->share, 4);
	cp_out_text(out, "}, ");
}

void cp_finding_write_json(struct cp_out *out, const struct cp_finding *f)
{
	cp_json_pair(out, "rule", f->rule);
	cp_json_next(out, "cause", f->cause);
	cp_json_next(out, "module", f->at ? f->at->module->path : "");
	cp_json_next(out, "function", f->at ? f->at->function : "");
	cp_json_next(out, "file", f->at ? f->at->file : "");
	cp_out_format(out, ", \"line\": %u, ", f->at ? f->at->line : 0);
	put_caller(out, f->caller);
	put_script(out, f->script);
	cp_json_pair(out, "data", f->data);
	put_cost(out, &f->cost);
	cp_json_pair(out, "evidence", f->evidence);
	cp_json_next(out, "threshold", f->threshold);
	cp_json_next(out, "advice", f->advice);
	cp_json_next(out, "expected", f->expected);
}

static void put_or_null(struct cp_out *out, const char *name, const char *text)
{
	if (text)
		cp_json_pair(out, name, text);
	else
		cp_out_format(out, "\"%s\": null", name);
}

void cp_findings_write_json(struct cp_out *out, const struct cp_findings *found)
{
	cp_out_text(out, "\"findings\": [");
	for (size_t i = 0; i < found->n; i++) {
		cp_out_text(out, i ? ",\n{" : "\n{");
		cp_finding_write_json(out, &found->finding[i]);
		cp_out_text(out, "}");
	}
	cp_out_text(out, "],\n");
	put_or_null(out, "not_looked_at", found->not_looked_at);
	cp_out_text(out, ",\n");
	put_or_null(out, "below_limit", found->below_limit);
}
