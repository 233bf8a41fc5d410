/* SPDX-License-Identifier: MIT
 *
 * Text that does not fit a column is cut in the middle, and no number with it.
 */
#include <string.h>

#include "base/escape.h"
#include "base/text/table.h"
#include "tests/tap/tap.h"

static const struct {
	const char *text;
	size_t width;
	const char *cut;
} cases[] = {
	{"short", 5, "short"},
	{"abcdefghij", 9, "abcd…ghij"},
	{"Heap: streams::main, 143360 B  (streams.c:15)", 40,
		"Heap: streams::…143360 B  (streams.c:15)"},
	{"Heap: straddle::main, 4194304 B  (straddle.c:16)", 39,
		"Heap: stradd…4194304 B  (straddle.c:16)"},
	/* No room for it: no part of it, and no unit without it. */
	{"a123456789012345678 B end", 11, "a…end"},
	{"1234567890 names behind", 13, "…behind"},
	{"\u00e4\u00f6\u00fc\u00e4\u00f6\u00fc\u00e4\u00f6\u00fc", 5,
		"\u00e4\u00f6…\u00f6\u00fc"},
};

int main(void)
{
	struct cp_escape out_of_memory;
	struct cp_arena arena = {.out_of_memory = &out_of_memory};

	plan_lazy();
	if (CP_ESCAPE_SET(out_of_memory))
		bail("out of memory");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		is_string(cp_text_cut(&arena, cases[i].text, cases[i].width),
			cases[i].cut, "%s in %zu", cases[i].text, cases[i].width);
	cp_arena_free(&arena);
	return 0;
}
