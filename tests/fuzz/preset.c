/* SPDX-License-Identifier: MIT
 *
 * The data files of presets: the bytes are the events of a PMU, and what
 * follows a form feed the meanings.
 */
#include "output/metrics/preset.h"

#include <sanitizer/asan_interface.h>

#include "base/arena.h"
#include "base/embedded.h"
#include "tests/fuzz/fuzz.h"

/* In place of the files that are compiled in. */
enum { MOST = 1 << 14 };
static char events[MOST], meanings[MOST];
const struct cp_embedded cp_embedded_files[] = {
	{"fuzz.events", events}, {"meanings.events", meanings}, {NULL, NULL}};

const struct cp_embedded *cp_processor_files(void)
{
	return cp_embedded_files;
}

/* Bytes behind the text are not to be read. */
static void fill(char to[], const char *text)
{
	size_t length = strlen(text);

	length = length < MOST - 1 ? length : MOST - 1;
	ASAN_UNPOISON_MEMORY_REGION(to, MOST);
	memcpy(to, text, length);
	to[length] = '\0';
	ASAN_POISON_MEMORY_REGION(to + length + 1, MOST - length - 1);
}

static bool visit(void *context, const struct cp_preset *preset)
{
	(void)context;
	fuzz_read(preset->name);
	fuzz_read(preset->meaning);
	fuzz_read(preset->note);
	for (size_t i = 0; i < preset->nalternatives; i++)
		for (size_t j = 0; j < preset->alternatives[i].nterms; j++)
			fuzz_read(preset->alternatives[i].terms[j].event);
	return preset->name[0] != 'q';
}

static void use(struct cp_arena *arena)
{
	const char *const *names = cp_preset_names(arena);
	struct cp_preset preset;
	uint32_t counters;

	for (size_t i = 0; names && names[i] && i < 8; i++) {
		cp_preset_known(names[i]);
		fuzz_read(cp_preset_meaning(arena, names[i]));
		if (cp_preset_lookup(arena, "skx", names[i], &preset) == 0)
			visit(NULL, &preset);
	}
	cp_preset_each(arena, "skx", visit, NULL);
	cp_preset_each(arena, "sim", visit, NULL);
	cp_preset_line("skx");
	cp_preset_counters("skx", "skx::A:B", &counters);
	cp_preset_is_socket("skx");
	fuzz_read(cp_preset_include_name((unsigned)strlen(events)));
	fuzz_read(cp_preset_pmu_of_device(arena, "cpu_core", 0x97));
	fuzz_read(cp_preset_pmus(arena)[0]);
	cp_preset_beside(arena, "skx");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size), *second = strchr(text, '\f');
	struct cp_arena arena = {.give_up = abort};

	fill(meanings, second ? second + 1 : text);
	if (second)
		*second = '\0';
	fill(events, text);
	use(&arena);
	cp_arena_free(&arena);
	free(text);
	return 0;
}
