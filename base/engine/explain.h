/* SPDX-License-Identifier: MIT */
#ifndef CACHEPEEK_BASE_ENGINE_EXPLAIN_H
#define CACHEPEEK_BASE_ENGINE_EXPLAIN_H

#include "base/engine/engine.h"

/*
 * Turns the errno of perf_event_open (positive) for this event into one line
 * with cause and cure: the paranoid setting, a seccomp filter, a machine
 * without PMU, a full table of descriptors …  Reads /proc; no allocation.
 */
void cp_perf_explain(int error, const struct perf_event_attr *attr, struct cp_why *why);

#endif
