/* SPDX-License-Identifier: MIT
 *
 * A formula: parsed, its names listed, evaluated with odd numbers.
 */
#include "output/metrics/formula.h"

#include "base/arena.h"
#include "tests/fuzz/fuzz.h"

static struct cp_value look_up(void *context, const char *name)
{
	static const double odd[] = {
		0, 1, -1, 0.5, 1e308, 1e-308, 18446744073709551615.0};
	struct cp_value value = {.status = CP_EXACT};

	(void)context;
	value.value = odd[strlen(name) % 7];
	if (*name == 'u')
		value = (struct cp_value){.status = CP_UNAVAILABLE, .reason = "none"};
	return value;
}

static bool visit(void *context, const char *name)
{
	(void)context;
	fuzz_read(name);
	return *name != 'x';
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size), error[256] = "";
	struct cp_slice slice = {text, text + size};
	struct cp_arena arena = {.give_up = abort};
	const struct cp_formula *formula =
		cp_formula_parse(&arena, slice, error, sizeof(error));

	fuzz_read(error);
	if (formula) {
		cp_formula_names(formula, visit, NULL);
		fuzz_read(cp_formula_evaluate(&arena, formula, look_up, NULL).reason);
	}
	cp_arena_free(&arena);
	free(text);
	return 0;
}
