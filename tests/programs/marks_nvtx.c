/* SPDX-License-Identifier: MIT
 * Marks itself for NVTX as its header does.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <wchar.h>

#include "markers_abi.h"

/* The functions where there is no tool: what they do, and return. */
static int level_nothing(void)
{
	return -2;
}

static nvtx_function *core[16], *core2[16];
static nvtx_function **core_slots[17], **core2_slots[17];

static int get_table(int module, nvtx_function ****table, unsigned *size)
{
	if (module != 1 && module != 5)
		return 0;
	*table = module == 1 ? core_slots : core2_slots;
	*size = 16;
	return 1;
}

static const struct nvtx_callbacks callbacks = {sizeof(callbacks), get_table};

static const void *get_export_table(uint32_t id)
{
	return id == 1 ? &callbacks : NULL;
}

static int attach(void)
{
	const char *path = getenv("NVTX_INJECTION64_PATH");
	void *library = path ? dlopen(path, RTLD_LAZY) : NULL;
	int (*initialize)(const void *(*)(uint32_t));

	for (int i = 1; i < 16; i++) {
		core_slots[i] = &core[i];
		core2_slots[i] = &core2[i];
		core[i] = core2[i] = (nvtx_function *)level_nothing;
	}
	if (!library)
		return 0;
	*(void **)&initialize = dlsym(library, "InitializeInjectionNvtx2");
	return initialize && initialize(get_export_table);
}

#define CALL(table, index, type, ...) ((type(*)(__VA_ARGS__))table[index])

static void *end_range(void *id)
{
	CALL(core, 7, void, uint64_t)(*(uint64_t *)id);
	return NULL;
}

int main(void)
{
	struct nvtx_attributes attributes = {.version = 3, .size = sizeof(attributes)};
	const void *domain, *registered;
	int attached = attach(), level, popped;
	uint64_t first, second;
	pthread_t thread;

	level = CALL(core, 9, int, const char *)("push");
	CALL(core, 10, int, const wchar_t *)
	(L"w\x00ef"
	 L"de \x20ac");
	CALL(core, 11, int, void)();
	popped = CALL(core, 11, int, void)();
	printf("%d %d\n", level, popped);
	if (!attached)
		return 0;
	domain = CALL(core2, 12, const void *, const char *)("domain");
	registered = CALL(core2, 10, const void *, const void *, const char *)(
		domain, "registered");
	attributes.message_type = 3;
	attributes.message = registered;
	/* Two stacks that cross: each pop is its own domain's. */
	CALL(core2, 4, int, const void *, const void *)(domain, &attributes);
	CALL(core, 9, int, const char *)("default");
	CALL(core2, 5, int, const void *)(domain);
	CALL(core, 11, int, void)();
	/* Ranges that overlap, one ended by another thread. */
	attributes.message_type = 1;
	attributes.message = "range 1";
	first = CALL(core, 4, uint64_t, const void *)(&attributes);
	second = CALL(core, 5, uint64_t, const char *)("range 2");
	CALL(core, 7, void, uint64_t)(first);
	pthread_create(&thread, NULL, end_range, &second);
	pthread_join(thread, NULL);
	CALL(core, 7, void, uint64_t)(second); /* once more: of nothing */
	printf("%d %d\n", domain != NULL, first != second);
	return 0;
}
