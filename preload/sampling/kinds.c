/* SPDX-License-Identifier: MIT
 *
 * The processor's own samples of memory, as output/measurements/memory.samplers has
 * them: the first kind that this machine has and the kernel opens.
 */
#include <errno.h>
#include <string.h>

#include "base/embedded.h"
#include "base/fd.h"
#include "base/format.h"
#include "base/text.h"
#include "base/counters/encode_sysfs.h"
#include "base/engine/explain.h"
#include "base/engine/kernel.h"
#include "preload/sampling/sampling_parts.h"

#define FILE_NAME "memory.samplers"
#define WORD_SIZE 128

enum { MEASUREMENT, VENDOR, UNIT, PERIOD, STEP, PRECISE, EVENT, COLUMNS };

/* A line of the file. */
struct kind {
	char column[COLUMNS][WORD_SIZE];
	char first[WORD_SIZE], count[WORD_SIZE], need[WORD_SIZE], filter[WORD_SIZE];
	bool aux;
};

/* ---- the file ---- */

static const char *next_word(const char *at, char word[WORD_SIZE])
{
	size_t length;

	while (*at == ' ')
		at++;
	length = strcspn(at, " \n");
	cp_format(word, WORD_SIZE, "%.*s", (int)length, at);
	return at + length;
}

static void set_option(struct kind *kind, const char *word)
{
	const struct {
		const char *name;
		char *to;
	} options[] = {{"first=", kind->first}, {"count=", kind->count},
		{"need=", kind->need}, {"filter=", kind->filter}};

	for (unsigned i = 0; i < 4; i++)
		if (cp_starts_with(word, options[i].name))
			cp_format(options[i].to, WORD_SIZE, "%s",
				word + strlen(options[i].name));
	kind->aux |= strcmp(word, "aux") == 0;
}

/* Reads a kind from the line at *text, which moves to the next one; false: the line
 * has none. */
static bool read_line(const char **text, struct kind *kind)
{
	const char *at = *text, *end = strchr(at, '\n');
	char word[WORD_SIZE];
	unsigned n = 0;

	memset(kind, 0, sizeof(*kind));
	*text = end ? end + 1 : at + strlen(at);
	if (*at == '#')
		return false;
	for (at = next_word(at, word); word[0]; at = next_word(at, word)) {
		if (n < COLUMNS)
			memcpy(kind->column[n++], word, sizeof(word));
		else
			set_option(kind, word);
	}
	return n == COLUMNS;
}

/* ---- the machine ---- */

/* User mode only.  0 or -EINVAL. */
static int encode_event(const char *event, const struct cp_sysfs_pmu *pmu,
	struct perf_event_attr *attr, struct cp_why *why)
{
	const char *modes, *reason = "";
	int result;

	memset(attr, 0, sizeof(*attr));
	result = cp_sysfs_encode(event, pmu, attr, &modes, &reason);
	if (result < 0)
		cp_format(why->text, sizeof(why->text), "%s: %s", event, reason);
	attr->size = sizeof(*attr);
	attr->exclude_kernel = attr->exclude_hv = 1;
	return result;
}

static bool has_file(const struct cp_sysfs_pmu *pmu, const char *file)
{
	char path[400], text[64];

	cp_format(path, sizeof(path), "%s/%s/%s", CP_SYSFS_DEVICES, pmu->name, file);
	return cp_read_file(path, text, sizeof(text));
}

/* PMUs that cannot leave the kernel out may have a setting for it; where they have
 * neither, all is sampled, if the kernel lets us. */
static int set_filter(const struct kind *kind, const struct cp_sysfs_pmu *pmu,
	struct perf_event_attr *attr, struct cp_why *why)
{
	char file[WORD_SIZE + 16], event[2 * WORD_SIZE];

	if (!kind->filter[0])
		return 0;
	cp_format(file, sizeof(file), "format/%s", kind->filter);
	if (!has_file(pmu, file)) {
		attr->exclude_kernel = attr->exclude_hv = 0;
		return 0;
	}
	cp_format(event, sizeof(event), "%.*s,%s=1/",
		(int)(strlen(kind->column[EVENT]) - 1), kind->column[EVENT],
		kind->filter);
	return encode_event(event, pmu, attr, why);
}

static int probe_event(const struct cp_sampling_event *event, struct cp_why *why)
{
	struct perf_event_attr attr = event->attr;
	int first = -1, fd;

	attr.sample_type = CP_RING_SAMPLE_TYPE;
	if (event->first.size)
		first = cp_kernel_open(&event->first, 0, -1);
	fd = event->first.size && first < 0 ? first : cp_kernel_open(&attr, 0, first);
	if (first >= 0)
		cp_fd_close(first);
	if (fd < 0) {
		cp_perf_explain(-fd, &attr, why);
		return fd;
	}
	cp_fd_close(fd);
	return 0;
}

static uint64_t number_in(const char *word)
{
	uint64_t value;

	return cp_parse_u64(word, &value) < 0 ? 0 : value;
}

/* 0, or -errno with why; -ENOENT without: there is no such PMU. */
static int try_kind(const struct kind *kind, struct cp_sampling_event *event)
{
	struct cp_why *why = &event->why;
	struct cp_sysfs_pmu pmu;
	int result;

	if (!cp_sysfs_event_pmus(kind->column[EVENT], &pmu, 1) ||
		(kind->need[0] && !has_file(&pmu, kind->need)))
		return -ENOENT;
	if (kind->aux) {
		cp_format(why->text, sizeof(why->text),
			"the samples of %s come in a buffer of its own kind, "
			"which is not read yet: `--engine sim` has every miss",
			pmu.name);
		return -EOPNOTSUPP;
	}
	result = encode_event(kind->column[EVENT], &pmu, &event->attr, why);
	if (result == 0)
		result = set_filter(kind, &pmu, &event->attr, why);
	if (result == 0 && kind->first[0])
		result = encode_event(kind->first, &pmu, &event->first, why);
	if (result == 0 && kind->count[0])
		result = encode_event(kind->count, &pmu, &event->count, why);
	event->step = number_in(kind->column[STEP]);
	event->attr.precise_ip = number_in(kind->column[PRECISE]) & 3;
	event->attr.sample_period = number_in(kind->column[PERIOD]) * event->step;
	return result < 0 ? result : probe_event(event, why);
}

static void take_kind(const struct kind *kind, struct cp_sampling_event *event)
{
	cp_format(event->name, sizeof(event->name), "%s", kind->column[EVENT]);
	cp_format(event->vendor, sizeof(event->vendor), "%s", kind->column[VENDOR]);
	event->unit = strcmp(kind->column[UNIT], "operations") == 0 ? CP_UNIT_OPERATIONS
								    : CP_UNIT_MISSES;
	event->why.text[0] = '\0';
}

void cp_sampling_find_memory(struct cp_sampling_event *event, const char *measurement)
{
	const char *text = cp_embedded_find(FILE_NAME);
	struct cp_why last = {""};
	struct kind kind;

	while (text && *text) {
		if (!read_line(&text, &kind) ||
			strcmp(kind.column[MEASUREMENT], measurement) != 0)
			continue;
		memset(event, 0, sizeof(*event));
		if (try_kind(&kind, event) == 0) {
			take_kind(&kind, event);
			return;
		}
		if (event->why.text[0])
			last = event->why;
	}
	memset(event, 0, sizeof(*event));
	event->why = last;
	if (!last.text[0])
		cp_format(event->why.text, sizeof(event->why.text),
			"this machine has no PMU that samples memory for %s "
			"(a virtual machine, mostly): `--engine sim` has every miss",
			measurement);
}
