/* SPDX-License-Identifier: MIT
 *
 * The HTML report: one page that needs no network and no other file.  The page
 * (output/html/) is put together when the library is built; what is written is
 * the page around the JSON report, which its script reads.
 */
#ifndef CACHEPEEK_OUTPUT_HTML_H
#define CACHEPEEK_OUTPUT_HTML_H

#include "base/out.h"
#include "output/report.h"

void cp_html_write(struct cp_out *out, const struct cp_report *report);

#endif
