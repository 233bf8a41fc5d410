/* SPDX-License-Identifier: MIT
 *
 * Names of C++ and of Rust's older scheme, which is built upon it.  Rust's newer
 * scheme (_R...) stays as it is.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "output/table.h"
#include "tools/demangle.h"
#include "tools/profile/symbols.h"

/* Rust spells what C++ cannot: $LT$ is <, .. is ::, and so on. */
static const struct {
	const char *rust, *text;
} spellings[] = {{"$LT$", "<"}, {"$GT$", ">"}, {"$RF$", "&"}, {"$BP$", "*"},
	{"$LP$", "("}, {"$RP$", ")"}, {"$C$", ","}, {"$u20$", " "}, {"$u27$", "'"},
	{"$u5b$", "["}, {"$u5d$", "]"}, {"$u7b$", "{"}, {"$u7d$", "}"}, {"$u3b$", ";"},
	{"$u2b$", "+"}, {"$u22$", "\""}, {"$SP$", "@"}, {"..", "::"}};
#define NSPELLINGS (sizeof(spellings) / sizeof(spellings[0]))

/* A Rust name ends in ::h and 16 hexadecimal digits. */
static bool is_rust(const char *name)
{
	size_t length = strlen(name);

	return length > 19 && strncmp(name + length - 19, "::h", 3) == 0 &&
	       strspn(name + length - 16, "0123456789abcdef") == 16;
}

/* At most as long as before. */
static void spell_rust(char *name)
{
	const char *in = name;
	char *out = name;

	name[strlen(name) - 19] = '\0';
	while (*in) {
		size_t i = 0;

		while (i < NSPELLINGS &&
			strncmp(in, spellings[i].rust, strlen(spellings[i].rust)) != 0)
			i++;
		if (i == NSPELLINGS) {
			*out++ = *in++;
			continue;
		}
		memcpy(out, spellings[i].text, strlen(spellings[i].text));
		out += strlen(spellings[i].text);
		in += strlen(spellings[i].rust);
	}
	*out = '\0';
}

const char *cp_source_name(struct cp_arena *arena, const char *name)
{
	char *plain = cp_demangled(name);
	const char *text;

	if (plain && is_rust(plain))
		spell_rust(plain);
	text = cp_text_safe(arena, cp_slice_of(plain ? plain : name));
	free(plain);
	return text;
}
