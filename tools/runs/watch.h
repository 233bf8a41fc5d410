/* SPDX-License-Identifier: MIT
 *
 * Watches the program while it runs: keeps OpenMetrics files up to date, and tells a
 * person at a terminal how far a simulated run is.
 */
#ifndef CACHEPEEK_TOOLS_RUNS_WATCH_H
#define CACHEPEEK_TOOLS_RUNS_WATCH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct cp_watch {
	const char *directory; /* of the run's records */
	const char *what;      /* in front of the progress: "run 2 of 5: "; or "" */
	char *metrics;         /* the OpenMetrics files among the outputs; NULL: none */
	int64_t start_ms, next_metrics_ms, next_progress_ms;
	int interval_ms, fd;            /* where the progress goes */
	bool terminal, in_place, shown; /* of the progress */
};

/* From the variables that the program will have. */
void cp_watch_start(struct cp_watch *watch, const char *directory, const char *what);

/* Progress goes there and not to standard error, which the program has. */
void cp_watch_show_on(struct cp_watch *watch, int fd);

/* Returns when the process has ended, or at once if there is nothing to do. */
void cp_watch_process(struct cp_watch *watch, pid_t pid);

/* Takes the progress off the screen. */
void cp_watch_end(struct cp_watch *watch);

#endif
