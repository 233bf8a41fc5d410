/* SPDX-License-Identifier: MIT */
#include "preload/program/pinned.h"

#include <string.h>

#include "base/counters/compared.h"
#include "base/counters/options.h"
#include "base/env.h"
#include "base/map.h"
#include "base/text.h"
#include "base/engine/simclient.h"
#include "preload/runtime.h"
#include "tools/sim/request.h"

#define PACKED "CACHEPEEK__GIVEN"
#define PAD "CACHEPEEK__PAD"
#define BETWEEN '\x1f' /* the variables in one: ASCII's unit separator */
#define STEP ((size_t)2048)

/* The environment, as the tool gave it and as the program sees it. */
static struct {
	char *const *given; /* by the tool; NULL: nothing is pinned */
	char *const *shown; /* the environment that the program sees */
} pinned;

bool cp_is_reproducible(const char *value)
{
	return value && *value && strcmp(value, "0") != 0;
}

/* ---- what a parent that is pinned has told ---- */

static char **unpack_variables(char **envp, const char *text)
{
	size_t count = cp_env_count(envp), length = strlen(text) + 1, more = 2;
	char **all, **to, *copy;

	for (const char *at = text; *at; at++)
		more += *at == BETWEEN;
	all = cp_map((count + more) * sizeof(*all) + length, -1, 0);
	if (!all)
		return envp;
	copy = memcpy(all + count + more, text, length);
	memcpy(all, envp, count * sizeof(*all));
	cp_env_remove(all, PACKED);
	to = all + cp_env_count(all);
	while (*copy) {
		char *end = strchr(copy, BETWEEN);

		*to++ = copy;
		if (!end)
			break;
		*end = '\0';
		copy = end + 1;
	}
	return all;
}

char **cp_pinned_variables(char **envp)
{
	const char *packed = cp_env_find(envp, PACKED);

	if (cp_is_reexecuted())
		pinned.given = (char *const *)cp_sim_request(CP_SIM_GIVEN, NULL);
	if (pinned.given)
		return (char **)(uintptr_t)pinned.given;
	return packed ? unpack_variables(envp, packed) : envp;
}

/* ---- what this one tells ---- */

/* Variables that mean something to this image alone say nothing to another. */
static bool is_told(const char *entry)
{
	static const char *const own[] = {"VALGRIND_",
		"CACHEPEEK__ARGV0=", "CACHEPEEK__EXE=", "CACHEPEEK__SELF=", PACKED "=",
		PAD "="};

	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		if (cp_starts_with(entry, own[i]))
			return false;
	return true;
}

static size_t packed_size(void)
{
	size_t size = sizeof(PACKED "=" PAD "=");

	for (char *const *entry = pinned.given; *entry; entry++)
		size += strlen(*entry) + 1;
	return (size + STEP - 1) / STEP * STEP;
}

/* stpcpy, which is not among our own functions of libc. */
static char *append_text(char *to, const char *text)
{
	size_t length = strlen(text);

	memcpy(to, text, length);
	return to + length;
}

/* As long as the room for it: programs that copy their environment count its bytes. */
static void pack_variables(char *to, size_t size)
{
	char *end = to + size - 1;

	to = append_text(to, PACKED "=");
	for (char *const *entry = pinned.given; *entry; entry++) {
		if (!is_told(*entry))
			continue;
		to = append_text(to, *entry);
		*to++ = BETWEEN;
	}
	to = append_text(to, PAD "=");
	memset(to, 'x', (size_t)(end - to));
	*end = '\0';
}

/* In the place of what fills up the stack, so that the array stays as it is. */
static void replace_pad(char **envp, char *packed)
{
	for (; *envp; envp++)
		if (cp_starts_with(*envp, PAD "="))
			*envp = packed;
}

char **cp_pinned_environment(char **envp)
{
	size_t count = cp_env_count(envp) + 1;
	char **all, *packed;

	if (!pinned.given)
		return envp;
	/* The first memory that is asked for, and so always at one place. */
	packed = cp_map(packed_size(), -1, 0);
	all = cp_map(
		(count + cp_env_count((char **)(uintptr_t)pinned.given)) * sizeof(*all),
		-1, 0);
	if (!packed || !all)
		return (char **)(uintptr_t)pinned.given;
	cp_env_merge(all, envp, pinned.given);
	cp_env_remove(all, PAD);
	pack_variables(packed, packed_size());
	replace_pad(envp, packed);
	pinned.shown = envp;
	return all;
}

const char *cp_pinned_first(const char *argv0, char room[CP_PINNED_PATH + 1])
{
	size_t length = strlen(argv0);

	if (!pinned.given || *argv0 != '/' || length > CP_PINNED_PATH)
		return argv0;
	memset(room, '/', CP_PINNED_PATH - length);
	memcpy(room + CP_PINNED_PATH - length, argv0, length + 1);
	return room;
}

bool cp_pinned_follows(char *const envp[])
{
	return pinned.given && cp_env_find(envp, PACKED);
}

/* ---- what the record says of it ---- */

static void note_unpinned(const char *what)
{
	cp_record_put_meta(&cp_runtime.record, "unpinned", what, strlen(what));
}

static bool is_hosts(const char *name, size_t length)
{
	return (length == 4 && strncmp(name, "host", length) == 0) ||
	       (length == 5 && strncmp(name, "plain", length) == 0);
}

/* Is the host one of the machines that the command compares? */
static bool is_hosts_machine(void)
{
	const char *compared = cp_env_get(CP_COMPARED), *piece;
	size_t length;

	while (compared && (piece = cp_next_piece(&compared, ',', &length)))
		if (is_hosts(piece, length))
			return true;
	if (cp_env_get(CP_COMPARED))
		return false;
	return !cp_options.machine ||
	       is_hosts(cp_options.machine, strlen(cp_options.machine));
}

void cp_pinned_note(void)
{
	static char entries[4096]; /* each with its NUL */
	size_t length = 0;

	if (!pinned.given)
		return;
	for (char *const *entry = pinned.shown; entry && *entry; entry++) {
		size_t more = strlen(*entry) + 1;

		if (cp_starts_with(*entry, PACKED "=") ||
			cp_starts_with(*entry, "LD_PRELOAD=") ||
			more > sizeof(entries) - length)
			continue;
		memcpy(entries + length, *entry, more);
		length += more;
	}
	cp_record_put_meta(&cp_runtime.record, "pinned", entries, length);
	if (is_hosts_machine())
		note_unpinned("the host's caches");
	if (cp_options.cpu == CP_CPU_HOST)
		note_unpinned("the host's processor");
}

void cp_pinned_end(void)
{
	static const char *const names[] = {
#define X(name, what) what,
		CP_UNPINNED(X)
#undef X
	};
	unsigned long seen = pinned.given ? cp_sim_request(CP_SIM_UNPINNED, NULL) : 0;

	for (unsigned i = 0; i < CP_NUNPINNED; i++)
		if (seen >> i & 1)
			note_unpinned(names[i]);
}
