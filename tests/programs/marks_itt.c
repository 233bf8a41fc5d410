/* SPDX-License-Identifier: MIT
 * Marks itself for ITT as its static part does: a constructor, before ours could
 * have changed the environment, looks for the collector.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "markers_abi.h"

static void nothing(void)
{
}

#define POINTER(name, type, ...)                                                         \
	static type (*name)(__VA_ARGS__) = (type(*)(__VA_ARGS__))nothing
POINTER(domain_create, struct itt_domain *, const char *);
POINTER(string_create, struct itt_string *, const char *);
POINTER(task_begin, void, struct itt_domain *, struct itt_id, struct itt_id,
	struct itt_string *);
POINTER(task_end, void, struct itt_domain *);
POINTER(begin_overlapped, void, struct itt_domain *, struct itt_id, struct itt_id,
	struct itt_string *);
POINTER(end_overlapped, void, struct itt_domain *, struct itt_id);
POINTER(region_begin, void, struct itt_domain *, struct itt_id, struct itt_id,
	struct itt_string *);
POINTER(region_end, void, struct itt_domain *, struct itt_id);
POINTER(frame_begin, void, struct itt_domain *, struct itt_id *);
POINTER(frame_end, void, struct itt_domain *, struct itt_id *);
POINTER(event_create, int, const char *, int);
POINTER(event_start, int, int);
POINTER(event_end, int, int);
POINTER(itt_pause, void, void);
POINTER(itt_resume, void, void);
POINTER(sync_create, void, void *, const char *, const char *, int);

#define FUNCTION(name, variable)                                                         \
	{                                                                                \
		name, (void **)&variable, (void *)nothing, (void *)nothing, 1            \
	}
static struct itt_function functions[] = {FUNCTION("__itt_domain_create", domain_create),
	FUNCTION("__itt_string_handle_create", string_create),
	FUNCTION("__itt_task_begin", task_begin), FUNCTION("__itt_task_end", task_end),
	FUNCTION("__itt_task_begin_overlapped", begin_overlapped),
	FUNCTION("__itt_task_end_overlapped", end_overlapped),
	FUNCTION("__itt_region_begin", region_begin),
	FUNCTION("__itt_region_end", region_end),
	FUNCTION("__itt_frame_begin_v3", frame_begin),
	FUNCTION("__itt_frame_end_v3", frame_end),
	FUNCTION("__itt_event_create", event_create),
	FUNCTION("__itt_event_start", event_start),
	FUNCTION("__itt_event_end", event_end), FUNCTION("__itt_pause", itt_pause),
	FUNCTION("__itt_resume", itt_resume), FUNCTION("__itt_sync_create", sync_create),
	{NULL, NULL, NULL, NULL, 0}};
static struct itt_domain early = {.flags = 1, .name = "early"};
static struct itt_string early_string = {.text = "early string"};
static struct itt_global global = {
	.functions = functions, .domains = &early, .strings = &early_string};
static void *collector;

__attribute__((constructor)) static void attach(void)
{
	const char *path = getenv("INTEL_LIBITTNOTIFY64");
	void (*init)(struct itt_global *, int);

	collector = path ? dlopen(path, RTLD_LAZY) : NULL;
	if (!collector)
		return;
	*(void **)&init = dlsym(collector, "__itt_api_init");
	if (init)
		init(&global, -1);
}

static struct itt_domain *one;
static struct itt_string *name;
static const struct itt_id none, id1 = {1, 0, 0}, id2 = {2, 0, 0};

static void *other_thread(void *unused)
{
	end_overlapped(one, id1);
	region_end(one, id2);
	return unused;
}

int main(void)
{
	pthread_t thread;
	int event;

	if (!collector) {
		puts("no collector");
		return 0;
	}
	one = domain_create("one");
	name = string_create("task");
	for (int i = 0; i < 3; i++) {
		task_begin(one, none, none, name);
		task_begin(one, none, none, name);
		task_end(one);
		task_end(one);
	}
	begin_overlapped(one, id1, none, string_create("overlapped"));
	region_begin(one, id2, none, string_create("region"));
	pthread_create(&thread, NULL, other_thread, NULL);
	pthread_join(thread, NULL);
	frame_begin(one, NULL);
	frame_end(one, NULL);
	event = event_create("event with more", 5);
	event_start(event);
	itt_pause();
	itt_resume();
	event_end(event);
	task_end(one); /* of nothing */
	sync_create(NULL, "", "", 0);
	printf("%d %d %d\n", one && one->flags, domain_create("one") == one,
		domain_create("early") == &early &&
			string_create("early string") == &early_string);
	return 0;
}
