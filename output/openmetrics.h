/* SPDX-License-Identifier: MIT
 *
 * The report as OpenMetrics text, for node_exporter's textfile collector: the
 * regions of the whole run.  It is in the common part of OpenMetrics and of the
 * older text format of Prometheus.
 */
#ifndef CACHEPEEK_OUTPUT_OPENMETRICS_H
#define CACHEPEEK_OUTPUT_OPENMETRICS_H

#include "base/out.h"
#include "output/report/report.h"

/*
 * Gauges, because a run starts afresh: cachepeek_events{event}, their
 * cachepeek_events_error and cachepeek_events_coverage_ratio where a counter was
 * shared, cachepeek_metric{metric,unit}, cachepeek_region_calls,
 * cachepeek_region_seconds, and cachepeek_info.  Each has the labels exe,
 * region (a path), status.  What could not be counted has no sample but
 * cachepeek_unavailable{kind,name,reason} 1.
 */
void cp_openmetrics_write(struct cp_out *out, const struct cp_report *report);

#endif
