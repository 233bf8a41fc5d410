/* SPDX-License-Identifier: MIT
 *
 * The comparison as CSV: one row per machine and value, with its provenance.
 */
#include <string.h>

#include "output/report/ended.h"
#include "output/csv.h"
#include "tools/compare/compare.h"

static const char headings[] = "machine,run,kind,name,value,unit,status,reason,error\n";

static void write_cell(struct cp_out *out, const char *text)
{
	cp_out_text(out, ",");
	if (text)
		cp_csv_text(out, text, strlen(text));
}

/* metric NULL: a count. */
static void write_row(struct cp_comparison *c, struct cp_out *out, unsigned i,
	const char *name, const struct cp_metric *metric)
{
	struct cp_value value = metric ? cp_compare_metric(c, i, metric)
				       : cp_compare_quantity(c, i, name);
	const char *machine = c->of[i].machine.name;
	double error;

	cp_csv_text(out, machine, strlen(machine));
	cp_out_format(out, ",%u,%s", c->of[i].run, metric ? "metric" : "count");
	write_cell(out, name);
	if (value.status == CP_UNAVAILABLE)
		cp_out_text(out, ",");
	else if (metric)
		cp_out_format(out, ",%.10g", value.value);
	else
		cp_out_format(out, ",%llu", (unsigned long long)value.value);
	write_cell(out, metric ? metric->unit : NULL);
	write_cell(out, cp_status_name(value.status));
	write_cell(out, value.status == CP_UNAVAILABLE ? value.reason : NULL);
	error = cp_compare_error(c, i, name, metric);
	cp_out_text(out, ",");
	if (error >= 0)
		cp_out_format(out, "%.10g", error);
	cp_out_text(out, "\n");
}

void cp_compare_csv(struct cp_comparison *c, struct cp_out *out)
{
	const char *cut = cp_status_cut(&c->arena, c->status);

	cp_out_text(out, headings);
	if (cut) {
		cp_out_text(out, ",,ended,ended,,,");
		write_cell(out, cut);
		cp_out_text(out, ",\n");
	}
	for (unsigned i = 0; i < c->nmachines; i++) {
		for (size_t n = 0; n < c->request.nnames; n++)
			write_row(c, out, i, c->request.names[n], NULL);
		for (size_t m = 0; m < c->nmetrics; m++)
			write_row(c, out, i, c->metrics[m]->name, c->metrics[m]);
	}
}
