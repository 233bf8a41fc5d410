/* SPDX-License-Identifier: MIT */
#include "preload/follow.h"

#include <limits.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/syscall.h"
#include "base/format.h"
#include "base/map.h"
#include "base/text.h"
#include "base/env.h"
#include "preload/program/pinned.h"
#include "preload/program/readable.h"
#include "base/counters/simtool.h"
#include "preload/runtime.h"
#include "base/counters/options.h"
#include "preload/decide.h"
#include "preload/self.h"

#define MAX_SETTINGS 32
#define PRELOAD "LD_PRELOAD"

static struct {
	char *settings[MAX_SETTINGS + 1]; /* CACHEPEEK_NAME=value */
	char *const *run;
	char library[PATH_MAX]; /* as it stands in LD_PRELOAD; "": it does not */
	const int *ours;        /* 1 in our memory, 0 in a fork child's */
} given;

/* ---- what this image was given ---- */

/* The piece of an LD_PRELOAD that is us; NULL if there is none. */
static const char *own_piece(const char *list, size_t *length)
{
	while (list && *list) {
		const char *end = list + strcspn(list, ": "), *slash = end;

		while (slash > list && slash[-1] != '/')
			slash--;
		if (cp_starts_with(slash, "libcachepeek.so")) {
			*length = (size_t)(end - list);
			return list;
		}
		list = *end ? end + 1 : end;
	}
	return NULL;
}

static void keep_settings(char *const envp[])
{
	size_t count = 0;

	for (; *envp && count < MAX_SETTINGS; envp++)
		if (cp_starts_with(*envp, "CACHEPEEK_") &&
			!cp_starts_with(*envp, "CACHEPEEK__"))
			given.settings[count++] = *envp;
	given.settings[count] = NULL;
}

/* Memory that a fork child finds empty, and a vfork child as we left it. */
static void tell_forks_apart(void)
{
	int *page = cp_map(4096, -1, 0);

	if (!page || cp_syscall(SYS_madvise, page, 4096, MADV_WIPEONFORK) < 0)
		return;
	*page = 1;
	given.ours = page;
}

char *const *cp_follow_start(void)
{
	char **envp = cp_env_all();
	size_t length = 0;
	const char *piece = own_piece(cp_env_find(envp, PRELOAD), &length);

	if (piece && length < sizeof(given.library))
		memcpy(given.library, piece, length);
	keep_settings(envp);
	tell_forks_apart();
	return given.settings;
}

void cp_follow_run(char *const run_entries[])
{
	given.run = run_entries;
}

void cp_follow_after_fork(void)
{
	if (given.ours)
		*(int *)(uintptr_t)given.ours = 1;
}

/* ---- does the next program bring us along? ---- */

static bool brings_us_along(char *const envp[])
{
	size_t length;

	return !given.library[0] ||
	       (own_piece(cp_env_find(envp, PRELOAD), &length) &&
		       (cp_env_find(envp, *given.run) || cp_pinned_follows(envp)));
}

static bool is_forced(char *const envp[])
{
	return cp_counting() && cp_options.children == CP_CHILDREN_FORCE &&
	       cp_can_read_texts(envp) && !brings_us_along(envp);
}

static size_t preload_size(char *const envp[])
{
	const char *present = cp_env_find(envp, PRELOAD);

	return sizeof(PRELOAD "=:") + (present ? strlen(present) : 0) +
	       strlen(given.library);
}

size_t cp_follow_room(char *const envp[])
{
	if (!is_forced(envp))
		return 1;
	return cp_env_count(envp) + cp_env_count(given.settings) +
	       cp_env_count(given.run) + 2 + preload_size(envp) / sizeof(char *) + 1;
}

/* LD_PRELOAD stands behind the pointers, in the same room. */
static char *preload_entry(char *to, char *const envp[])
{
	const char *present = cp_env_find(envp, PRELOAD);
	size_t length;

	if (own_piece(present, &length))
		cp_format(to, preload_size(envp), PRELOAD "=%s", present);
	else
		cp_format(to, preload_size(envp), PRELOAD "=%s%s%s",
			present ? present : "", present && *present ? ":" : "",
			given.library);
	return to;
}

char *const *cp_follow_environment(char **room, char *const envp[])
{
	char *preload[2] = {NULL, NULL};
	size_t pointers;

	if (!is_forced(envp))
		return envp;
	pointers = cp_env_count(envp) + cp_env_count(given.settings) +
		   cp_env_count(given.run) + 2;
	preload[0] = preload_entry((char *)(room + pointers), envp);
	cp_env_merge(room, envp, given.settings);
	cp_env_merge(room, room, given.run);
	cp_env_merge(room, room, preload);
	return room;
}

/* ---- notes ---- */

bool cp_follow_is_copy(void)
{
	return given.ours && !*given.ours;
}

/* A fork child that we were not told of has a copy of our memory, but writes
 * into the same record: that is none of its business. */
static bool is_ours(void)
{
	return getpid() == cp_runtime.pid || (given.ours && *given.ours);
}

/* As regions/record.h has it. */
static const char *chances_of_exec(const char *path, char *const envp[])
{
	if (!brings_us_along(envp) && cp_options.children != CP_CHILDREN_FORCE)
		return "changed";
	return cp_is_reexecuted() && path && cp_sim_refuses(path) ? "refused" : "kept";
}

void *cp_follow_note(pid_t pid, const char *path, char *const envp[])
{
	char text[512]; /* stacks may be small */
	void *note = NULL;
	size_t length;
	int state;

	if (!cp_counting() || cp_confined() ||
		cp_options.children == CP_CHILDREN_IGNORE || !is_ours() ||
		!cp_can_read_texts(envp) || (path && !cp_can_read_text(path)) ||
		!cp_enter_slowly(&state))
		return NULL;
	cp_decide_hand_over();
	length = cp_format(text, sizeof(text), "%d %s %s", (int)pid,
		chances_of_exec(path, envp), path ? path : "");
	note = cp_record_put_meta(&cp_runtime.record, "program", text,
		length < sizeof(text) ? length : sizeof(text) - 1);
	cp_leave_slowly(state);
	return note;
}

void cp_follow_undo(void *note)
{
	if (note)
		cp_item_publish(note, CP_ITEM_PAD);
}
