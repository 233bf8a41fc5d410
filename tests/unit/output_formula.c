/* SPDX-License-Identifier: MIT
 *
 * Formulas: values, precedence, and what makes a result unavailable.
 */
#include <string.h>

#include "output/metrics/formula.h"
#include "tests/tap/tap.h"

static struct cp_arena arena = {.give_up = tap_no_memory};

static struct cp_value look_up(void *context, const char *name)
{
	(void)context;
	if (strcmp(name, "six") == 0)
		return (struct cp_value){.value = 6, .status = CP_EXACT};
	if (strcmp(name, "scaled") == 0)
		return (struct cp_value){.value = 10, .status = CP_SCALED};
	if (strcmp(name, "model") == 0)
		return (struct cp_value){.value = 3, .status = CP_SIMULATED};
	if (strcmp(name, "guess") == 0)
		return (struct cp_value){.value = 4, .status = CP_ESTIMATED};
	if (strcmp(name, "perf::PAGE-FAULTS") == 0)
		return (struct cp_value){.value = 8, .status = CP_EXACT};
	if (strcmp(name, "zero") == 0)
		return (struct cp_value){.value = 0, .status = CP_EXACT};
	return cp_unavailable("not counted");
}

static struct cp_value evaluate(const char *text)
{
	char error[200];
	const struct cp_formula *formula =
		cp_formula_parse(&arena, cp_slice_of(text), error, sizeof(error));

	if (!formula) {
		diag("%s: %s", text, error);
		return cp_unavailable("does not parse");
	}
	return cp_formula_evaluate(&arena, formula, look_up, NULL);
}

static void test_values(void)
{
	static const struct {
		const char *text;
		double value;
	} cases[] = {{"1 + 2 * 3", 7}, {"(1 + 2) * 3", 9}, {"10 - 4 - 3", 3},
		{"24 / 4 / 2", 3}, {"-six + 1", -5}, {"--2", 2}, {"2 * -3", -6},
		{"min(six, 4)", 4}, {"max(six, 4) + 1", 7}, {"abs(4 - six)", 2},
		{"1000 * six / 1e6", 0.006}, {"1.5e3", 1500}, {".25", 0.25},
		{"2.5e-3", 0.0025}, {"'perf::PAGE-FAULTS' / 2", 4}, {" six\t", 6},
		{"1 - min(2 * 3, six) / six", 0}, {"clamp(six, 0, 7)", 6},
		{"clamp(-six, 1 - 3, 7)", -2}, {"clamp(six, 0, 2 + 3) * 2", 10},
		{"estimate(six / 2)", 3}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct cp_value value = evaluate(cases[i].text);

		is_double_near(value.status == CP_UNAVAILABLE ? -99 : value.value,
			cases[i].value, 1e-12, "%s", cases[i].text);
	}
}

static void test_clamped(void)
{
	struct cp_value value = evaluate("2 * clamp(six / 4, 0, 1)");

	is_string(cp_status_name(value.status), "estimated", "clamped: estimated");
	is_string(value.flag, "six / 4 was 1.5000, which cannot be: taken as 1.0000",
		"and flagged");
	is_string(evaluate("1 + clamp(six - 7, 0, 9)").flag,
		"six - 7 was -1.0000, which cannot be: taken as 0.0000",
		"from below, too, and on the right of an operator");
	ok(!evaluate("clamp(six, 6, 6)").flag, "not at the bounds themselves");
}

static void test_status(void)
{
	is_string(cp_status_name(evaluate("six * 2").status), "exact",
		"of exact inputs: exact");
	is_string(cp_status_name(evaluate("six + scaled").status), "scaled",
		"one scaled: scaled");
	is_string(cp_status_name(evaluate("model / scaled").status), "simulated",
		"simulated is worse than scaled");
	is_string(cp_status_name(evaluate("min(six, guess) - model").status), "estimated",
		"estimated is worse than simulated");
	is_string(cp_status_name(evaluate("estimate(six)").status), "estimated",
		"what rests on an assumption is estimated");
	is_string(cp_status_name(evaluate("clamp(six, 0, scaled)").status), "scaled",
		"bounds count as inputs");
	is_string(cp_status_name(evaluate("clamp(six, 0, absent)").status), "unavailable",
		"also where they are missing");
	is_string(cp_status_name(evaluate("0 * absent").status), "unavailable",
		"nothing makes up for a missing input");
}

static void test_unavailable(void)
{
	is_string(evaluate("six / (1 + absent)").reason, "absent: not counted",
		"a missing input is named, with its reason");
	is_string(evaluate("six / zero").reason, "zero is 0",
		"a division by zero names the divisor");
	is_string(evaluate("six / (zero * 2)").reason, "zero * 2 is 0", "or shows it");
	is_string(evaluate("six / (model - 3)").reason, "model - 3 is 0",
		"whatever is in it");
	ok(strstr(evaluate("1e300 * 1e300").reason, "out of range") != NULL,
		"there are no infinities");
	is_string(cp_status_name(evaluate("zero / zero").status), "unavailable",
		"and no NaN from 0 / 0");
}

static void test_errors(void)
{
	static const char *const bad[] = {"", "1 +", "(1", "1)", "six six", "foo(1)",
		"min(1)", "max(1, 2", "1e", "1e999", "'open", "''", "a $ b", "* 2",
		"abs(1, 2)"};
	char deep[400], longest[3000] = "1", error[200];

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ok(!cp_formula_parse(&arena, cp_slice_of(bad[i]), error, sizeof(error)) &&
				*error,
			"\"%s\" is refused: %s", bad[i], error);
	memset(deep, '(', sizeof(deep) - 1);
	deep[sizeof(deep) - 1] = '\0';
	ok(!cp_formula_parse(&arena, cp_slice_of(deep), error, sizeof(error)),
		"nesting is limited: %.40s", error);
	for (int i = 0; i < 1000; i++)
		strcat(longest, "+1");
	ok(!cp_formula_parse(&arena, cp_slice_of(longest), error, sizeof(error)),
		"and so is length: %.60s", error);
}

static bool remember(void *context, const char *name)
{
	strcat(context, name);
	strcat(context, " ");
	return true;
}

static void test_names(void)
{
	char names[100] = "", error[100];
	const struct cp_formula *formula = cp_formula_parse(
		&arena, cp_slice_of("min(a, 2) * b / (LINE - a)"), error, sizeof(error));

	ok(formula && cp_formula_names(formula, remember, names),
		"the names of a formula");
	is_string(names, "a b LINE a ", "in order");
}

int main(void)
{
	plan_lazy();
	test_values();
	test_status();
	test_clamped();
	test_unavailable();
	test_errors();
	test_names();
	cp_arena_free(&arena);
	return 0;
}
