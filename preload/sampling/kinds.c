/* SPDX-License-Identifier: MIT */
#include "base/format.h"
#include "preload/sampling/parts.h"

void cp_sampling_find_memory(struct cp_sampling_event *event, const char *measurement)
{
	(void)measurement;
	cp_format(event->why.text, sizeof(event->why.text),
		"this machine has no such samples");
}
