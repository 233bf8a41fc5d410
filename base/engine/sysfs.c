/* SPDX-License-Identifier: MIT */
#include "base/engine/sysfs.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/files/directory.h"
#include "base/fd.h"
#include "base/format.h"
#include "base/text.h"
#include "base/engine/arch/arch.h"

typedef bool visitor(const char *directory, const char *name, void *context);

struct walk {
	const char *path;
	visitor *visit;
	void *context;
};

static bool walk_on(void *context, int fd, const char *name)
{
	const struct walk *walk = context;

	(void)fd;
	return walk->visit(walk->path, name, walk->context);
}

/* Calls visit for the names in a directory until it returns true. */
static bool any_entry(const char *path, visitor *visit, void *context)
{
	struct walk walk = {path, visit, context};
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	bool found;

	if (fd < 0)
		return false;
	found = cp_directory_any(fd, walk_on, &walk) > 0;
	cp_fd_close(fd);
	return found;
}

/* Core PMUs are called "cpu", or have a file "cpus" (others have "cpumask"). */
static bool is_core(const char *directory, const char *name, void *path)
{
	char cpus[256];

	cp_format(path, 256, "%s/%s", directory, name);
	cp_format(cpus, sizeof(cpus), "%s/%s/cpus", directory, name);
	return strcmp(name, "cpu") == 0 || access(cpus, F_OK) == 0;
}

bool cp_sysfs_core_pmu(char *path, size_t size)
{
	char found[256];

	if (!any_entry(CP_SYSFS_DEVICES, is_core, found))
		return false;
	cp_format(path, size, "%s", found);
	return true;
}

/* ---- PMUs by name ---- */

/* "[a-z]" at *pattern, which is moved to its end. */
static bool in_set(const char **pattern, char c)
{
	const char *at = *pattern + 1;
	bool found = false;

	for (; *at && *at != ']'; at++) {
		if (at[1] == '-' && at[2] && at[2] != ']') {
			found |= c >= at[0] && c <= at[2];
			at += 2;
		} else {
			found |= c == *at;
		}
	}
	*pattern = *at ? at : at - 1;
	return found;
}

/* Moves *pattern behind what stands for one character, if c is that. */
static bool matches_one(const char **pattern, char c)
{
	const char *at = *pattern;

	if (!c || !*at)
		return false;
	if (*at == '[' ? !in_set(&at, c) : *at != '?' && *at != c)
		return false;
	*pattern = at + 1;
	return true;
}

/* Only the last * may have to take more: what is before it has matched, and would
 * again.  So many of them cost no more than one. */
static bool matches_pattern(const char *pattern, const char *name)
{
	const char *behind = NULL, *taken = NULL; /* of the last * */

	while (*pattern || *name) {
		if (*pattern == '*') {
			behind = ++pattern;
			taken = name;
		} else if (matches_one(&pattern, *name)) {
			name++;
		} else if (behind && *taken) {
			pattern = behind;
			name = ++taken;
		} else {
			return false;
		}
	}
	return true;
}

struct search {
	const char *pattern; /* NULL: cores */
	struct cp_sysfs_pmu *pmus;
	unsigned max, count;
};

static bool read_pmu(const char *directory, const char *name, struct cp_sysfs_pmu *pmu)
{
	char path[256], text[32];
	uint64_t type;

	cp_format(path, sizeof(path), "%s/%s/type", directory, name);
	if (strlen(name) >= sizeof(pmu->name) ||
		!cp_read_file(path, text, sizeof(text)) ||
		cp_parse_u64(text, &type) < 0 || type > UINT32_MAX)
		return false;
	cp_format(pmu->name, sizeof(pmu->name), "%s", name);
	pmu->type = (uint32_t)type;
	cp_format(path, sizeof(path), "%s/%s/cpumask", directory, name);
	pmu->socket = access(path, F_OK) == 0;
	return true;
}

/* Sorted in, since directories have no order. */
static bool collect_pmu(const char *directory, const char *name, void *context)
{
	struct search *search = context;
	struct cp_sysfs_pmu pmu;
	char path[256];
	unsigned at;

	if (search->pattern ? !matches_pattern(search->pattern, name)
			    : !is_core(directory, name, path))
		return false;
	if (!read_pmu(directory, name, &pmu))
		return false;
	at = search->count < search->max ? search->count : search->max;
	search->count++;
	for (; at > 0 && strcmp(search->pmus[at - 1].name, name) > 0; at--)
		if (at < search->max)
			search->pmus[at] = search->pmus[at - 1];
	if (at < search->max)
		search->pmus[at] = pmu;
	return false;
}

unsigned cp_sysfs_pmus(const char *pattern, struct cp_sysfs_pmu pmus[], unsigned max)
{
	struct search search = {pattern, pmus, max, 0};

	any_entry(CP_SYSFS_DEVICES, collect_pmu, &search);
	return search.count;
}

unsigned cp_sysfs_core_pmus(struct cp_sysfs_pmu pmus[], unsigned max)
{
	return cp_sysfs_pmus(NULL, pmus, max);
}

/* ---- of sockets ---- */

struct typed {
	uint32_t type;
	struct cp_sysfs_pmu *pmu;
};

static bool has_type(const char *directory, const char *name, void *context)
{
	const struct typed *wanted = context;

	return read_pmu(directory, name, wanted->pmu) &&
	       wanted->pmu->type == wanted->type;
}

bool cp_sysfs_socket_pmu(uint32_t type, struct cp_sysfs_pmu *pmu)
{
	struct typed wanted = {type, pmu};

	return any_entry(CP_SYSFS_DEVICES, has_type, &wanted) && pmu->socket;
}

/* A list such as "0,8-9". */
unsigned cp_sysfs_cpus(const struct cp_sysfs_pmu *pmu, int cpus[], unsigned max)
{
	char path[256], text[256];
	const char *at = text;
	uint64_t first, last;
	unsigned count = 0;

	cp_format(path, sizeof(path), "%s/%s/cpumask", CP_SYSFS_DEVICES, pmu->name);
	if (!cp_read_file(path, text, sizeof(text)))
		return 0;
	do {
		if (cp_parse_u64_prefix(at, &at, &first) < 0)
			break;
		last = first;
		if (*at == '-' && cp_parse_u64_prefix(at + 1, &at, &last) < 0)
			break;
		for (; first <= last && first < INT32_MAX && count <= max; first++)
			if (count++ < max)
				cpus[count - 1] = (int)first;
	} while (*at++ == ',');
	return count;
}

/* ---- events ---- */

/* "event=0x0011" and nothing else. */
static bool has_code(const char *directory, const char *name, void *wanted)
{
	char path[320], text[64];
	const char *end;
	uint64_t code;

	cp_format(path, sizeof(path), "%s/%s", directory, name);
	if (!cp_read_file(path, text, sizeof(text)) || !cp_starts_with(text, "event="))
		return false;
	return cp_parse_u64_prefix(text + 6, &end, &code) == 0 &&
	       code == *(const uint64_t *)wanted && (*end == '\n' || !*end);
}

enum cp_listed cp_sysfs_lists(uint64_t config)
{
	char path[288];
	uint64_t known = CP_ARCH_LISTED_EVENT;

	if (!CP_ARCH_LISTS(config) || !cp_sysfs_core_pmu(path, sizeof(path) - 32))
		return CP_LIST_SILENT;
	memcpy(path + strlen(path), "/events", sizeof("/events"));
	if (any_entry(path, has_code, &config))
		return CP_LISTED;
	/* A list without the event that every CPU has is not one. */
	return any_entry(path, has_code, &known) ? CP_NOT_LISTED : CP_LIST_SILENT;
}
