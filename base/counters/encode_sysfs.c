/* SPDX-License-Identifier: MIT */
#include "base/counters/encode_sysfs.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "base/format.h"
#include "base/text.h"

#define PREFIX "sysfs:"
#define SYNTAX "PMUs of the kernel's are written sysfs:PMU/SETTING=VALUE,…/"

unsigned cp_sysfs_event_pmus(const char *event, struct cp_sysfs_pmu pmus[], unsigned max)
{
	const char *slash = strchr(event, '/');
	char pattern[CP_SYSFS_NAME];
	size_t length;

	if (!cp_starts_with(event, PREFIX) || !slash)
		return 0;
	length = (size_t)(slash - event) - strlen(PREFIX);
	if (length >= sizeof(pattern))
		return 0;
	cp_format(pattern, sizeof(pattern), "%.*s", (int)length, event + strlen(PREFIX));
	return cp_sysfs_pmus(pattern, pmus, max);
}

/* The word of the attribute that a format's text begins with; NULL: none known. */
static __u64 *word_of(struct perf_event_attr *attr, const char **text)
{
	const struct {
		const char *name;
		__u64 *word;
	} words[] = {{"config1", (__u64 *)&attr->config1},
		{"config2", (__u64 *)&attr->config2}, {"config", &attr->config}};

	for (unsigned i = 0; i < 3; i++)
		if (cp_starts_with(*text, words[i].name)) {
			*text += strlen(words[i].name);
			return words[i].word;
		}
	return NULL;
}

/* Puts value's bits where "0-7,32-35" says, the lowest first; false: too many. */
static bool scatter_bits(const char *ranges, uint64_t value, __u64 *word)
{
	uint64_t first, last;

	do {
		if (cp_parse_u64_prefix(ranges, &ranges, &first) < 0)
			return false;
		last = first;
		if (*ranges == '-' && cp_parse_u64_prefix(ranges + 1, &ranges, &last) < 0)
			return false;
		for (; first <= last && first < 64; first++, value >>= 1)
			*word |= (value & 1) << first;
	} while (*ranges++ == ',');
	return value == 0;
}

static bool read_of(const struct cp_sysfs_pmu *pmu, const char *what, const char *name,
	char text[256])
{
	char path[320];

	cp_format(path, sizeof(path), "%s/%s/%s/%s", CP_SYSFS_DEVICES, pmu->name, what,
		name);
	return cp_read_file(path, text, 256);
}

static int set_field(struct perf_event_attr *attr, const struct cp_sysfs_pmu *pmu,
	const char *name, uint64_t value, const char **reason)
{
	char format[256];
	const char *at = name;
	__u64 *word = word_of(attr, &at);

	*reason = "the PMU has no such setting (its directory format in sysfs)";
	if (word && !*at) {
		*word |= value;
		return 0;
	}
	if (strchr(name, '/') || !read_of(pmu, "format", name, format))
		return -EINVAL;
	at = format;
	word = word_of(attr, &at);
	if (!word || *at != ':')
		return -EINVAL;
	*reason = "a value is larger than its field";
	return scatter_bits(at + 1, value, word) ? 0 : -EINVAL;
}

static int set_all(struct perf_event_attr *attr, const struct cp_sysfs_pmu *pmu,
	const char *settings, bool alias, const char **reason);

/* "umask=0x3", "edge", or the name of an event, whose settings hold no other. */
static int set_one(struct perf_event_attr *attr, const struct cp_sysfs_pmu *pmu,
	char *setting, bool alias, const char **reason)
{
	char *equals = strchr(setting, '=');
	char settings[256];
	uint64_t value = 1;

	if (!equals && !alias && !strchr(setting, '/') &&
		read_of(pmu, "events", setting, settings))
		return set_all(attr, pmu, settings, true, reason);
	*reason = "a value is no number";
	if (equals && cp_parse_u64(equals + 1, &value) < 0)
		return -EINVAL;
	if (equals)
		*equals = '\0';
	return set_field(attr, pmu, setting, value, reason);
}

static int set_all(struct perf_event_attr *attr, const struct cp_sysfs_pmu *pmu,
	const char *settings, bool alias, const char **reason)
{
	const char *piece;
	char one[128];
	size_t length;
	int error = 0;

	while (!error && (piece = cp_next_piece(&settings, ',', &length))) {
		*reason = SYNTAX;
		if (length >= sizeof(one))
			return -EINVAL;
		cp_format(one, sizeof(one), "%.*s", (int)length, piece);
		error = set_one(attr, pmu, one, alias, reason);
	}
	return error;
}

int cp_sysfs_encode(const char *event, const struct cp_sysfs_pmu *pmu,
	struct perf_event_attr *attr, const char **modes, const char **reason)
{
	const char *first = strchr(event, '/'),
		   *last = first ? strchr(first + 1, '/') : NULL;
	char settings[256];

	*reason = SYNTAX;
	if (!last || last - first > (long)sizeof(settings))
		return -EINVAL;
	cp_format(settings, sizeof(settings), "%.*s", (int)(last - first - 1), first + 1);
	*modes = last + 1;
	attr->type = pmu->type;
	return set_all(attr, pmu, settings, false, reason);
}
