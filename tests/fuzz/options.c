/* SPDX-License-Identifier: MIT
 *
 * The environment: entries between NULs, read as options, looked up, merged
 * and removed.  The first byte says how many are taken for ours.
 */
#include "base/counters/options.h"

#include "base/format.h"
#include "base/text/nearest.h"
#include "base/text.h"
#include "base/env.h"
#include "tests/fuzz/fuzz.h"

enum { MOST = 200 };

static void complain(void *context, const char *line)
{
	(void)context;
	fuzz_read(line);
}

static size_t split(char *text, size_t size, char *entries[])
{
	size_t count = 0;

	for (size_t at = 0; at < size && count < MOST; at += strlen(text + at) + 1)
		entries[count++] = text + at;
	entries[count] = NULL;
	return count;
}

static void use(const struct cp_options *options)
{
	const char *texts[] = {options->events, options->groups, options->machine,
		options->output, options->dir, options->regions};
	const char *piece, *list;
	size_t length;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		fuzz_read(texts[i]);
		for (list = texts[i];
			list && (piece = cp_next_piece(&list, ',', &length));)
			if (!length)
				abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *entries[MOST + 1], *merged[2 * MOST + 1], *text = fuzz_text(data, size);
	struct cp_options options;
	size_t count = split(text, size, entries), ours;

	if (count) {
		ours = (size_t)(unsigned char)entries[0][0] % count;
		cp_options_read(&options, entries, complain, NULL);
		use(&options);
		cp_env_use(entries);
		fuzz_read(cp_env_get("CACHEPEEK_EVENTS"));
		cp_env_merge(merged, entries, entries + ours);
		if (cp_env_count(merged) > count + (count - ours))
			abort();
		cp_env_remove(merged, "CACHEPEEK_EVENTS");
		cp_env_use(NULL);
	}
	free(text);
	return 0;
}
