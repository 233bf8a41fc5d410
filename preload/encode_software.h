/* SPDX-License-Identifier: MIT
 *
 * Shared by encode.c and encode_software.c only.
 */
#ifndef CACHEPEEK_PRELOAD_ENCODE_SOFTWARE_H
#define CACHEPEEK_PRELOAD_ENCODE_SOFTWARE_H

#include <linux/perf_event.h>
#include <stdbool.h>

/* ":u", ":k", ":uk" and nothing (user mode): which modes are left out. */
bool cp_encode_modes(const char *modifiers, struct perf_event_attr *attr);

bool cp_encode_software(const char *event, struct perf_event_attr *attr);

#endif
