/* SPDX-License-Identifier: MIT
 *
 * ITT: what the program's part and its collector share, and the domains and strings
 * that are ours where there is no other collector.
 */
#ifndef CACHEPEEK_PRELOAD_MARKERS_ITT_H
#define CACHEPEEK_PRELOAD_MARKERS_ITT_H

#include <pthread.h>
#include <stdint.h>

/* ---- the ABI, of 64-bit systems ---- */

struct itt_id {
	uint64_t d1, d2, d3;
};

struct itt_domain {
	volatile int flags; /* 0: the program does not even call */
	const char *name;
	void *wide;
	int extra1;
	void *extra2;
	struct itt_domain *next;
};

struct itt_string {
	const char *text;
	void *wide;
	int extra1;
	void *extra2;
	struct itt_string *next;
};

struct itt_function {
	const char *name;
	void **pointer;
	void *init, *null;
	int group;
};

struct itt_global {
	unsigned char magic[8];
	unsigned long major, minor, build;
	volatile long api_initialized, mutex_initialized, atomic_counter;
	pthread_mutex_t mutex;
	void *library, *error_handler;
	const char **path;
	struct itt_function *functions;
	struct itt_global *next;
	void *threads;
	struct itt_domain *domains;
	struct itt_string *strings;
};

/* ---- domains and strings ---- */

/* The program's parts: their lists have what was made before we came. */
void cp_itt_know(struct itt_global *global);
void cp_itt_forget(const struct itt_global *global);

/* The one of this name, made if there is none.  Those that are there are found in a
 * signal handler as well, that has interrupted somebody with the lock; a new one is then
 * NULL, as without a collector. */
struct itt_domain *cp_itt_domain(const char *name);
struct itt_string *cp_itt_string(const char *text);

#endif
