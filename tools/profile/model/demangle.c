/* SPDX-License-Identifier: MIT */
#include "tools/shared/demangle.h"

#include <stdlib.h>

#include "base/text/table.h"
#include "tools/profile/model/symbols.h"

const char *cp_source_name(struct cp_arena *arena, const char *name)
{
	char *plain = cp_demangled(name);
	const char *text = cp_text_safe(arena, cp_slice_of(plain ? plain : name));

	free(plain);
	return text;
}
