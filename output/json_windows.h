/* SPDX-License-Identifier: MIT
 *
 * The working sets of a report, as JSON.
 */
#ifndef CACHEPEEK_OUTPUT_JSON_WINDOWS_H
#define CACHEPEEK_OUTPUT_JSON_WINDOWS_H

#include "output/report/windows.h"

struct cp_out;
void cp_json_windows(struct cp_out *out, const struct cp_report *report,
	const struct cp_windows *windows);

#endif
