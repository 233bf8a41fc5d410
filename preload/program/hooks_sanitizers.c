/* SPDX-License-Identifier: MIT
 *
 * Overrides: __asan_default_options, unless the program has one.
 *
 * AddressSanitizer's library ends the program if it is not the first in the list of
 * those that are loaded, which a preloaded one is.  That is a guard against functions
 * that nobody intercepts; ours call the next one, so each is intercepted all the same.
 */
#include "base/export.h"
#include "preload/program/sanitizers.h"

#include <stddef.h>

#include "base/format.h"

EXPORT const char *__asan_default_options(void)
{
	return "verify_asan_link_order=0";
}

/* Functions of their runtimes, found by the linker when the program is loaded: a
 * dlsym(3) that fails calls malloc, and theirs is not ready yet. */
#define RUNTIME(function)                                                                \
	extern void function(void) __attribute__((weak, visibility("default")))
RUNTIME(__asan_init);
RUNTIME(__tsan_init);
RUNTIME(__msan_init);
RUNTIME(__lsan_do_leak_check);

#define SHADOW "keeps shadow memory where the simulated PMU lies"

static const struct {
	const char *name;
	void (*runtime)(void);
	const char *why;
} sanitizers[] = {
	{"AddressSanitizer", __asan_init, SHADOW},
	{"ThreadSanitizer", __tsan_init, SHADOW},
	{"MemorySanitizer", __msan_init, SHADOW},
	{"LeakSanitizer", __lsan_do_leak_check,
		"stops all threads, and waits for ever on the simulated PMU"},
};

void cp_sanitizers_start(void)
{
	if (__tsan_init)
		__tsan_init();
}

bool cp_is_sanitized(struct cp_why *why)
{
	for (size_t i = 0; i < sizeof(sanitizers) / sizeof(sanitizers[0]); i++) {
		if (!sanitizers[i].runtime)
			continue;
		cp_format(why->text, sizeof(why->text),
			"the program is built with %s, which %s: "
			"build it without to simulate it",
			sanitizers[i].name, sanitizers[i].why);
		return true;
	}
	return false;
}
