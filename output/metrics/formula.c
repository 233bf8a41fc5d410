/* SPDX-License-Identifier: MIT */
#include "output/metrics/formula.h"

#include <string.h>

#include "base/format.h"

#define MAX_DEPTH 64
#define MAX_NODES 256 /* which bounds the recursion over a long sum, too */

enum op {
	NUMBER,
	NAME,
	ADD,
	SUBTRACT,
	MULTIPLY,
	DIVIDE,
	NEGATE,
	MIN,
	MAX,
	ABS,
	CLAMP,  /* right: BOUNDS */
	BOUNDS, /* only below CLAMP: low, high */
	ESTIMATE,
};

struct cp_formula {
	enum op op;
	const struct cp_formula *left, *right;
	double number;
	const char *name;
	struct cp_slice text; /* as it was written */
};

struct parser {
	struct cp_arena *arena;
	const char *at, *end;
	int depth, nodes;
	char *error;
	size_t error_size;
};

static const struct cp_formula *parse_sum(struct parser *parser);

/* The first error stands: what follows is a consequence. */
static const struct cp_formula *fail_at(struct parser *parser, const char *what)
{
	if (!*parser->error)
		cp_format(parser->error, parser->error_size, "%s at \"%.*s\"", what,
			(int)(parser->end - parser->at), parser->at);
	return NULL;
}

static char peek_char(struct parser *parser)
{
	while (parser->at < parser->end && (*parser->at == ' ' || *parser->at == '\t'))
		parser->at++;
	return parser->at < parser->end ? *parser->at : '\0';
}

static bool accept_char(struct parser *parser, char c)
{
	if (peek_char(parser) != c)
		return false;
	parser->at++;
	return true;
}

static struct cp_formula *new_node(struct parser *parser, enum op op, const char *from,
	const struct cp_formula *left, const struct cp_formula *right)
{
	struct cp_formula *new = cp_arena_alloc(parser->arena, sizeof(*new));

	parser->nodes++;
	new->op = op;
	new->left = left;
	new->right = right;
	new->text = (struct cp_slice){from, parser->at};
	return new;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_name(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) ||
	       c == '_' || c == ':' || c == '.';
}

static double parse_digits(struct parser *parser, double value, int *count)
{
	for (; parser->at < parser->end && is_digit(*parser->at); parser->at++) {
		value = value * 10 + (*parser->at - '0');
		++*count;
	}
	return value;
}

static int parse_exponent(struct parser *parser)
{
	bool negative;
	int digits = 0;
	double value;

	if (parser->at >= parser->end || (*parser->at != 'e' && *parser->at != 'E'))
		return 0;
	parser->at++;
	negative = parser->at < parser->end && *parser->at == '-';
	if (parser->at < parser->end && (*parser->at == '-' || *parser->at == '+'))
		parser->at++;
	value = parse_digits(parser, 0, &digits);
	if (!digits || value > 300) {
		fail_at(parser, "a number has no usable exponent");
		return 0; /* as an int it may have no value at all */
	}
	return negative ? -(int)value : (int)value;
}

static const struct cp_formula *parse_number(struct parser *parser)
{
	const char *from = parser->at;
	int digits = 0, decimals = 0, exponent;
	struct cp_formula *number;
	double value = parse_digits(parser, 0, &digits);

	if (parser->at < parser->end && *parser->at == '.') {
		parser->at++;
		value = parse_digits(parser, value, &decimals);
	}
	exponent = parse_exponent(parser) - decimals;
	if (*parser->error)
		return NULL;
	for (; exponent > 0; exponent--)
		value *= 10;
	for (double scale = 1; exponent < 0; exponent++) {
		scale *= 10;
		if (exponent == -1)
			value /= scale;
	}
	number = new_node(parser, NUMBER, from, NULL, NULL);
	number->number = value;
	return number;
}

struct function {
	const char *name;
	enum op op;
	int arguments;
};

static const struct cp_formula *parse_argument(struct parser *parser)
{
	if (!accept_char(parser, ','))
		return fail_at(parser,
			"min and max take two values, clamp three: a comma is missing");
	return parse_sum(parser);
}

static const struct cp_formula *parse_call(
	struct parser *parser, const struct function *function, const char *from)
{
	const struct cp_formula *left, *right = NULL, *high;

	parser->at++; /* the parenthesis */
	left = parse_sum(parser);
	if (left && function->arguments > 1)
		right = parse_argument(parser);
	if (!left || (function->arguments > 1 && !right))
		return NULL;
	if (function->arguments > 2) {
		high = parse_argument(parser);
		right = high ? new_node(parser, BOUNDS, from, right, high) : NULL;
		if (!right)
			return NULL;
	}
	if (!accept_char(parser, ')'))
		return fail_at(parser, "a closing parenthesis is missing");
	return new_node(parser, function->op, from, left, right);
}

static const struct cp_formula *parse_name(struct parser *parser)
{
	static const struct function functions[] = {{"min", MIN, 2}, {"max", MAX, 2},
		{"abs", ABS, 1}, {"clamp", CLAMP, 3}, {"estimate", ESTIMATE, 1}};
	struct cp_slice word = {parser->at, parser->at};
	struct cp_formula *name;

	while (word.end < parser->end && is_name(*word.end))
		word.end++;
	parser->at = word.end;
	for (size_t i = 0; peek_char(parser) == '(' && i < 5; i++)
		if (cp_slice_is(word, functions[i].name))
			return parse_call(parser, &functions[i], word.at);
	if (peek_char(parser) == '(') {
		parser->at = word.at;
		return fail_at(
			parser, "only min, max, abs, clamp and estimate are functions");
	}
	parser->at = word.end;
	name = new_node(parser, NAME, word.at, NULL, NULL);
	name->name = cp_arena_copy(parser->arena, word.at, cp_slice_length(word));
	return name;
}

static const struct cp_formula *parse_quoted(struct parser *parser)
{
	const char *from = parser->at, *quote;
	struct cp_formula *name;

	quote = memchr(from + 1, '\'', (size_t)(parser->end - from - 1));
	if (!quote || quote == from + 1)
		return fail_at(parser, "a quoted name does not end");
	parser->at = quote + 1;
	name = new_node(parser, NAME, from, NULL, NULL);
	name->name = cp_arena_copy(parser->arena, from + 1, (size_t)(quote - from - 1));
	return name;
}

static const struct cp_formula *parse_parentheses(struct parser *parser)
{
	const struct cp_formula *inner;

	parser->at++;
	inner = parse_sum(parser);
	if (inner && !accept_char(parser, ')'))
		return fail_at(parser, "a closing parenthesis is missing");
	return inner;
}

static const struct cp_formula *parse_primary(struct parser *parser)
{
	char c = peek_char(parser);

	if (c == '(')
		return parse_parentheses(parser);
	if (c == '\'')
		return parse_quoted(parser);
	if (is_digit(c) ||
		(c == '.' && parser->at + 1 < parser->end && is_digit(parser->at[1])))
		return parse_number(parser);
	if (is_name(c))
		return parse_name(parser);
	return fail_at(parser, c ? "expected a number, a name or a parenthesis"
				 : "the formula ends where a value should stand");
}

static const struct cp_formula *parse_unary(struct parser *parser)
{
	const char *from;
	const struct cp_formula *value;

	if (parser->depth >= MAX_DEPTH || parser->nodes >= MAX_NODES)
		return fail_at(parser, "the formula is too long or nested too deeply");
	parser->depth++;
	if (peek_char(parser) == '-') {
		from = parser->at++;
		value = parse_unary(parser);
		if (value)
			value = new_node(parser, NEGATE, from, value, NULL);
	} else {
		value = parse_primary(parser);
	}
	parser->depth--;
	return value;
}

static const struct cp_formula *parse_product(struct parser *parser)
{
	const char *from = (peek_char(parser), parser->at);
	const struct cp_formula *left = parse_unary(parser), *right;
	char c;

	while (left && ((c = peek_char(parser)) == '*' || c == '/')) {
		parser->at++;
		right = parse_unary(parser);
		if (!right)
			return NULL;
		left = new_node(parser, c == '*' ? MULTIPLY : DIVIDE, from, left, right);
	}
	return left;
}

static const struct cp_formula *parse_sum(struct parser *parser)
{
	const char *from = (peek_char(parser), parser->at);
	const struct cp_formula *left = parse_product(parser), *right;
	char c;

	while (left && ((c = peek_char(parser)) == '+' || c == '-')) {
		parser->at++;
		right = parse_product(parser);
		if (!right)
			return NULL;
		left = new_node(parser, c == '+' ? ADD : SUBTRACT, from, left, right);
	}
	return left;
}

const struct cp_formula *cp_formula_parse(
	struct cp_arena *arena, struct cp_slice text, char *error, size_t error_size)
{
	struct parser parser = {.arena = arena,
		.at = text.at,
		.end = text.end,
		.error = error,
		.error_size = error_size};
	const struct cp_formula *formula;

	*error = '\0';
	formula = parse_sum(&parser);
	if (formula && peek_char(&parser))
		return fail_at(&parser, "expected an operator");
	return formula;
}

bool cp_formula_names(const struct cp_formula *formula,
	bool (*visit)(void *context, const char *name), void *context)
{
	if (!formula)
		return true;
	if (formula->op == NAME)
		return visit(context, formula->name);
	return cp_formula_names(formula->left, visit, context) &&
	       cp_formula_names(formula->right, visit, context);
}

static double apply_operator(enum op op, double a, double b)
{
	switch (op) {
	case ADD:
		return a + b;
	case SUBTRACT:
		return a - b;
	case MULTIPLY:
		return a * b;
	case DIVIDE:
		return a / b;
	case NEGATE:
		return -a;
	case MIN:
		return a < b ? a : b;
	case MAX:
		return a > b ? a : b;
	case ABS:
		return a < 0 ? -a : a;
	default:
		return a;
	}
}

static struct cp_value unavailable_because(
	struct cp_arena *arena, const char *what, size_t length, const char *why)
{
	char reason[512];
	size_t size = cp_format(reason, sizeof(reason), "%.*s%s", (int)length, what, why);

	return cp_unavailable(cp_arena_copy(
		arena, reason, size < sizeof(reason) ? size : sizeof(reason) - 1));
}

static struct cp_value evaluate_name(struct cp_arena *arena,
	const struct cp_formula *formula, cp_formula_lookup *lookup, void *context)
{
	struct cp_value value = lookup(context, formula->name);
	char why[400];

	if (value.status != CP_UNAVAILABLE)
		return value;
	cp_format(why, sizeof(why), ": %s", value.reason ? value.reason : "not counted");
	return unavailable_because(arena, formula->name, strlen(formula->name), why);
}

/* The text of the formula, and what its value was. */
static struct cp_value clamped_to(struct cp_arena *arena, const struct cp_formula *clamp,
	struct cp_value value, double to)
{
	const struct cp_formula *what = clamp->left;
	char flag[300], was[40], is[40];
	size_t size;

	cp_format(was, sizeof(was), "%.4f", value.value);
	cp_format(is, sizeof(is), "%.4f", to);
	size = cp_format(flag, sizeof(flag), "%.*s was %s, which cannot be: taken as %s",
		(int)(cp_slice_length(what->text) < 180 ? cp_slice_length(what->text)
							: 180),
		what->text.at, was, is);
	value.flag =
		cp_arena_copy(arena, flag, size < sizeof(flag) ? size : sizeof(flag) - 1);
	value.status = CP_ESTIMATED;
	value.value = to;
	return value;
}

static struct cp_value clamp_value(struct cp_arena *arena,
	const struct cp_formula *formula, struct cp_value value,
	cp_formula_lookup *lookup, void *context)
{
	struct cp_value low = cp_formula_evaluate(
				arena, formula->right->left, lookup, context),
			high = cp_formula_evaluate(
				arena, formula->right->right, lookup, context);

	if (low.status == CP_UNAVAILABLE)
		return low;
	if (high.status == CP_UNAVAILABLE)
		return high;
	if (value.value < low.value)
		return clamped_to(arena, formula, value, low.value);
	if (value.value > high.value)
		return clamped_to(arena, formula, value, high.value);
	if (low.status > value.status)
		value.status = low.status;
	if (high.status > value.status)
		value.status = high.status;
	return value;
}

struct cp_value cp_formula_evaluate(struct cp_arena *arena,
	const struct cp_formula *formula, cp_formula_lookup *lookup, void *context)
{
	struct cp_value left, right = {.status = CP_EXACT};

	if (formula->op == NUMBER)
		return (struct cp_value){.value = formula->number};
	if (formula->op == NAME)
		return evaluate_name(arena, formula, lookup, context);
	left = cp_formula_evaluate(arena, formula->left, lookup, context);
	if (left.status == CP_UNAVAILABLE)
		return left;
	if (formula->op == CLAMP)
		return clamp_value(arena, formula, left, lookup, context);
	if (formula->right)
		right = cp_formula_evaluate(arena, formula->right, lookup, context);
	if (right.status == CP_UNAVAILABLE)
		return right;
	if (formula->op == DIVIDE && formula->right && right.value == 0)
		return unavailable_because(arena, formula->right->text.at,
			cp_slice_length(formula->right->text), " is 0");
	if (right.status > left.status)
		left.status = right.status;
	if (formula->op == ESTIMATE && left.status < CP_ESTIMATED)
		left.status = CP_ESTIMATED;
	if (!left.flag)
		left.flag = right.flag;
	left.value = apply_operator(formula->op, left.value, right.value);
	if (!__builtin_isfinite(left.value))
		return unavailable_because(arena, formula->text.at,
			cp_slice_length(formula->text), " is out of range");
	return left;
}

static struct cp_value no_names(void *context, const char *name)
{
	(void)context;
	(void)name;
	return cp_unavailable("a number has no inputs");
}

bool cp_formula_number(struct cp_arena *arena, struct cp_slice text, double *number)
{
	char why[200];
	const struct cp_formula *formula =
		cp_formula_parse(arena, text, why, sizeof(why));
	struct cp_value value =
		formula ? cp_formula_evaluate(arena, formula, no_names, NULL)
			: cp_unavailable(why);

	*number = value.value;
	return value.status != CP_UNAVAILABLE && value.value > 0;
}

const char *cp_status_name(enum cp_status status)
{
	static const char *const names[] = {
		"exact", "scaled", "simulated", "estimated", "unavailable"};

	return names[status];
}
