/* SPDX-License-Identifier: MIT
 * The binary interfaces of ITT and NVTX, as their headers publish them.
 */
#ifndef MARKERS_ABI_H
#define MARKERS_ABI_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

struct itt_id {
	uint64_t d1, d2, d3;
};
struct itt_domain {
	volatile int flags;
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

typedef void nvtx_function(void);
struct nvtx_callbacks {
	size_t size;
	int (*table)(int module, nvtx_function ****table, unsigned *size);
};
struct nvtx_attributes {
	uint16_t version, size;
	uint32_t category;
	int32_t color_type;
	uint32_t color;
	int32_t payload_type, reserved;
	uint64_t payload;
	int32_t message_type;
	const void *message;
};

#endif
