/* SPDX-License-Identifier: MIT
 *
 * Lines of source behind places in files, by libdw, for names of regions
 * (output/report/report_names.c): from the file's own debugging information, or that of
 * /usr/lib/debug/.build-id.
 */
#ifndef CACHEPEEK_TOOLS_SHARED_SOURCE_AT_H
#define CACHEPEEK_TOOLS_SHARED_SOURCE_AT_H

/* Sets cp_source_at.  NULL in a reporter that was linked without libdw. */
__attribute__((weak)) void cp_source_at_start(void);

#endif
