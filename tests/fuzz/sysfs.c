/* SPDX-License-Identifier: MIT
 *
 * Events of PMUs that sysfs describes: the first line is the event, the second
 * what each format file has, the third each file of an event.
 */
#include "base/text.h"
#include "base/counters/encode_sysfs.h"
#include "tests/fuzz/fuzz.h"

static const char *of_format, *of_alias;

static bool read_file(const char *path, char *to, size_t size)
{
	const char *text = strstr(path, "/format/") ? of_format : of_alias;

	if (!text || strlen(text) >= size)
		return false;
	strcpy(to, text);
	return true;
}

static unsigned pmus_like(const char *pattern, struct cp_sysfs_pmu pmus[], unsigned max)
{
	fuzz_read(pattern);
	if (!*pattern || !max)
		return 0;
	pmus[0] = (struct cp_sysfs_pmu){.name = "uncore_imc_0", .type = 24};
	return 1;
}

/* In place of the machine's. */
#define cp_read_file(path, to, size) read_file(path, to, size)
#define cp_sysfs_pmus(pattern, pmus, max) pmus_like(pattern, pmus, max)
#include "base/counters/encode_sysfs.c"

static char *cut(char *text)
{
	char *end = text ? strchr(text, '\n') : NULL;

	if (!end)
		return NULL;
	*end = '\0';
	return end + 1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size), *second = cut(text);
	struct perf_event_attr attr = {0};
	struct cp_sysfs_pmu pmu;
	const char *modes = NULL, *reason = NULL;

	of_format = second;
	of_alias = cut(second);
	if (cp_sysfs_event_pmus(text, &pmu, 1)) {
		if (cp_sysfs_encode(text, &pmu, &attr, &modes, &reason) == 0)
			fuzz_read(modes);
		else
			fuzz_read(reason);
	}
	free(text);
	return 0;
}
