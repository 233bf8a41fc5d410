/* SPDX-License-Identifier: MIT
 *
 * Patterns of names, with * and ?, and how those of functions are written.
 *
 * The library and the simulated PMU, which has no libc, both use it.
 */
#ifndef CACHEPEEK_BASE_TEXT_NAME_PATTERN_H
#define CACHEPEEK_BASE_TEXT_NAME_PATTERN_H

struct cp_span {
	const char *at, *end;
};

/* On a mismatch the last * takes one byte more, and the rest is tried again. */
static inline int cp_pattern_matches(struct cp_span pattern, struct cp_span name)
{
	const char *star = 0, *retry = 0;

	while (name.at < name.end) {
		if (pattern.at < pattern.end && *pattern.at == '*') {
			star = ++pattern.at;
			retry = name.at;
		} else if (pattern.at < pattern.end &&
			   (*pattern.at == '?' || *pattern.at == *name.at)) {
			pattern.at++;
			name.at++;
		} else if (star) {
			pattern.at = star;
			name.at = ++retry;
		} else {
			return 0;
		}
	}
	while (pattern.at < pattern.end && *pattern.at == '*')
		pattern.at++;
	return pattern.at == pattern.end;
}

static inline const char *cp_span_end(const char *s, char stop)
{
	while (*s && *s != stop)
		s++;
	return s;
}

static inline struct cp_span cp_span_until(const char *s, char stop)
{
	return (struct cp_span){s, cp_span_end(s, stop)};
}

/* "int outer::f<int>(int)": of a template's function the type that it returns stands
 * in front. */
static inline const char *cp_skip_type(const char *plain)
{
	const char *name = plain;
	int depth = 0;

	for (const char *at = plain; *at && (*at != '(' || depth); at++) {
		depth += *at == '<' ? 1 : *at == '>' ? -1 : 0;
		if (*at == ' ' && !depth)
			name = at + 1;
	}
	return name;
}

/* The whole name, or what stands before what compilers add (f.constprop.0); plain is the
 * same of C++, which matches by what stands before the parameters, too. */
static inline int cp_pattern_is_of(
	struct cp_span piece, const char *name, const char *plain)
{
	return cp_pattern_matches(piece, cp_span_until(name, '\0')) ||
	       cp_pattern_matches(piece, cp_span_until(name, '.')) ||
	       (plain != name &&
		       (cp_pattern_matches(piece, cp_span_until(plain, '\0')) ||
			       cp_pattern_matches(piece, cp_span_until(plain, '(')) ||
			       cp_pattern_matches(
				       piece, (struct cp_span){cp_skip_type(plain),
						      cp_span_end(plain, '(')})));
}

/* "PATTERN={...}": where it says how its regions are called; end: it does not. */
static inline const char *cp_naming_in(const char *at, const char *end)
{
	for (; end - at > 1; at++)
		if (at[0] == '=' && at[1] == '{')
			return at;
	return end;
}

/* "func:" is the user's; "rule:" stands for what a "case:" of the user's needs
 * (preload/cases/cases.h). */
static inline int cp_is_function_piece(const char *at, const char *end)
{
	static const char prefixes[2][6] = {"func:", "rule:"};

	for (int i = 0, n; i < 2; i++) {
		for (n = 0; n < 5 && at + n < end && at[n] == prefixes[i][n];)
			n++;
		if (n == 5 && end - at > 5)
			return 1;
	}
	return 0;
}

/* The next piece of a list that is about functions ("func:PATTERN", "!func:PATTERN"),
 * *list moved behind it; at NULL: no more. */
static inline struct cp_span cp_next_function(const char **list, int *except)
{
	while (**list) {
		const char *at = *list, *end = cp_span_end(at, ',');

		*list = *end ? end + 1 : end;
		*except = *at == '!';
		at += *except;
		if (cp_is_function_piece(at, end))
			return (struct cp_span){at + 5, cp_naming_in(at + 5, end)};
	}
	return (struct cp_span){0, 0};
}

/* Is it a rule that the user did not write?  See above. */
static inline int cp_is_rule(struct cp_span piece)
{
	return piece.at[-5] == 'r';
}

/* The part behind the pattern, from the '=' on: it says how its regions are named. */
static inline struct cp_span cp_naming_behind(struct cp_span piece)
{
	return (struct cp_span){
		piece.end, *piece.end == '=' ? cp_span_end(piece.end, ',') : piece.end};
}

/* Is it chosen, and by none of the exceptions left out? */
static inline int cp_function_is_chosen(
	const char *list, const char *name, const char *plain)
{
	int chosen = 0, except;

	for (struct cp_span piece; (piece = cp_next_function(&list, &except)).at;) {
		if (!cp_pattern_is_of(piece, name, plain))
			continue;
		if (except)
			return 0;
		chosen = 1;
	}
	return chosen;
}

/* How the regions of a function are called: by the first piece that chooses it and says
 * so; else empty. */
static inline struct cp_span cp_naming_of(
	const char *list, const char *name, const char *plain)
{
	struct cp_span piece;
	int except;

	while ((piece = cp_next_function(&list, &except)).at)
		if (!except && *piece.end == '=' && cp_pattern_is_of(piece, name, plain))
			return cp_naming_behind(piece);
	return (struct cp_span){0, 0};
}

/* Which pieces of a list have been found is kept in bits; the 64th and those behind it
 * have one together. */
static inline unsigned long long cp_piece_bit(unsigned i)
{
	return 1ull << (i < 63 ? i : 63);
}

/* The bits of the pieces that choose it, exceptions apart. */
static inline unsigned long long cp_pieces_of(
	const char *list, const char *name, const char *plain)
{
	unsigned long long bits = 0;
	struct cp_span piece;
	int except;

	for (unsigned i = 0; (piece = cp_next_function(&list, &except)).at; i++)
		if (!except && cp_pattern_is_of(piece, name, plain))
			bits |= cp_piece_bit(i);
	return bits;
}

/* "BASE+0xOFFSET": a place in a file, as the file's headers count. */
static inline int cp_is_offset_in(
	struct cp_span piece, const char *base, unsigned long *offset)
{
	while (*base && piece.at < piece.end && *piece.at == *base) {
		piece.at++;
		base++;
	}
	if (*base || piece.end - piece.at < 4 || piece.at[0] != '+' ||
		piece.at[1] != '0' || piece.at[2] != 'x')
		return 0;
	*offset = 0;
	for (piece.at += 3; piece.at < piece.end; piece.at++) {
		char c = *piece.at;
		int digit = c >= '0' && c <= '9'   ? c - '0'
			    : c >= 'a' && c <= 'f' ? c - 'a' + 10
			    : c >= 'A' && c <= 'F' ? c - 'A' + 10
						   : -1;

		if (digit < 0)
			return 0;
		*offset = *offset << 4 | (unsigned long)digit;
	}
	return 1;
}

/* The best of several names of one function: the fewest underscores in front, then
 * the shortest. */
static inline int cp_name_is_better(const char *a, const char *b)
{
	const char *x = a, *y = b;

	while (*x == '_')
		x++;
	while (*y == '_')
		y++;
	if (x - a != y - b)
		return x - a < y - b;
	return cp_span_end(a, '\0') - a < cp_span_end(b, '\0') - b;
}

#endif
