/* SPDX-License-Identifier: MIT */
#include "output/html.h"

#include "base/embedded.h"
#include "output/json.h"

/* A page is cut in two where the report goes (output/html/page.html). */
void cp_html_write(struct cp_out *out, const struct cp_report *report)
{
	cp_out_text(out, cp_embedded_find("report.html-head"));
	cp_json_write(out, report);
	cp_out_text(out, cp_embedded_find("report.html-tail"));
}
