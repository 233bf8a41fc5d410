/* SPDX-License-Identifier: MIT */
#include "base/text/table.h"

#include <string.h>

#include "base/format.h"
#include "base/text.h"
#include "base/text/utf8.h"

#define GAP 2        /* between columns; 1 where they would not fit */
#define MIN_FIRST 12 /* columns that the first column keeps at least */
#define MARK_WIDTH 4

static size_t columns_of(const char *text)
{
	return text ? cp_utf8_columns(text, strlen(text)) : 0;
}

struct cp_table *cp_table_new(struct cp_arena *arena, size_t ncolumns, size_t nrows)
{
	struct cp_table *table = cp_arena_alloc(arena, sizeof(*table));

	table->arena = arena;
	table->ncolumns = ncolumns;
	table->nrows = nrows;
	table->left = 1;
	table->cells = cp_arena_alloc(arena, ncolumns * nrows * sizeof(*table->cells));
	table->headings = cp_arena_alloc(arena, ncolumns * sizeof(*table->headings));
	table->marks = cp_arena_alloc(arena, nrows * sizeof(*table->marks));
	return table;
}

void cp_table_set(struct cp_table *table, size_t row, size_t column, const char *text)
{
	table->cells[row * table->ncolumns + column] = text;
}

void cp_table_heading(
	struct cp_table *table, size_t column, const char *heading, const char *unit)
{
	struct cp_slice rest = cp_slice_of(heading), word;
	const char *words[CP_TABLE_HEADING_LINES - 1];
	size_t count = 0;

	while (count < CP_TABLE_HEADING_LINES - 1 && cp_slice_word(&rest, &word))
		words[count++] =
			cp_arena_copy(table->arena, word.at, cp_slice_length(word));
	table->headings[column][0] = unit;
	for (size_t i = 0; i < count; i++)
		table->headings[column][1 + i] = words[count - 1 - i];
}

size_t cp_table_column_width(const struct cp_table *table, size_t column)
{
	size_t width = 0, cell;

	for (size_t i = 0; i < CP_TABLE_HEADING_LINES; i++) {
		cell = columns_of(table->headings[column][i]);
		width = cell > width ? cell : width;
	}
	for (size_t row = 0; row < table->nrows; row++) {
		cell = columns_of(table->cells[row * table->ncolumns + column]);
		width = cell > width ? cell : width;
	}
	return width;
}

static void put_blanks(struct cp_out *out, size_t count)
{
	while (count-- > 0)
		cp_out_text(out, " ");
}

static const char *skip_columns(const char *text, size_t columns)
{
	for (; columns > 0 && *text; columns--) {
		size_t bytes = cp_utf8_length(text, strlen(text));

		text += bytes ? bytes : 1;
	}
	return text;
}

/* Digits, and what stands between them. */
static bool is_in_number(const char *text, const char *at)
{
	return at > text && at[0] >= '0' && at[0] <= '9' &&
	       ((at[-1] >= '0' && at[-1] <= '9') ||
		       (at - 1 > text && (at[-1] == ',' || at[-1] == '.') &&
			       at[-2] >= '0' && at[-2] <= '9'));
}

static const char *number_start(const char *text, const char *at)
{
	while (is_in_number(text, at))
		at -= at[-1] == ',' || at[-1] == '.' ? 2 : 1;
	return at;
}

/* A part of a number would be another one, and a unit alone says nothing: they stay whole
 * if half of the room in front is enough for that, and else go. */
static const char *whole_number(const char *text, const char *end, size_t room)
{
	const char *blank = *end == ' ' ? end : end - 1, *start;
	bool unit = blank > text && *blank == ' ' && blank[-1] >= '0' && blank[-1] <= '9';

	start = unit ? number_start(text, blank - 1) : number_start(text, end);
	if ((size_t)(end - start) <= room / 2)
		return start;
	end += strspn(end, "0123456789,.");
	if (unit || *end == ' ')
		end += strcspn(end + 1, " ") + 1;
	return end + strspn(end, " ");
}

const char *cp_text_cut(struct cp_arena *arena, const char *text, size_t width)
{
	size_t columns = columns_of(text), tail = (width - 1) / 2, head, length;
	const char *end = skip_columns(text, columns > tail ? columns - tail : 0), *whole;
	char *cut;

	if (columns <= width)
		return text;
	whole = whole_number(text, end, width - 1 - tail);
	tail += whole < end ? (size_t)(end - whole) : 0;
	head = (size_t)(number_start(text, skip_columns(text, width - 1 - tail)) - text);
	length = head + strlen("…") + strlen(whole) + 1;
	cut = cp_arena_alloc(arena, length);
	memcpy(cut, text, head);
	cp_format(cut + head, length - head, "…%s", whole);
	return cut;
}

/* At most width columns of text. */
static void put_cell(const struct cp_table *table, struct cp_out *out, const char *text,
	size_t width, bool left, bool last)
{
	const char *cut = text ? cp_text_cut(table->arena, text, width) : "";
	size_t columns = columns_of(cut), blank = width > columns ? width - columns : 0;

	if (!left)
		put_blanks(out, blank);
	cp_out_text(out, cut);
	if (left && !last)
		put_blanks(out, blank);
}

/* How wide the columns are, and how far apart. */
struct layout {
	size_t *widths, gap;
};

static void put_line(const struct cp_table *table, struct cp_out *out,
	const struct layout *layout, const char *const *cells, size_t stride)
{
	size_t last = table->ncolumns;

	while (last > 0 && !columns_of(cells[(last - 1) * stride]))
		last--;
	for (size_t c = 0; c < last; c++) {
		if (c)
			put_blanks(out, layout->gap);
		put_cell(table, out, cells[c * stride], layout->widths[c],
			c < table->left, c + 1 == last);
	}
}

/* Each line has its own colour: pagers forget it at the end of one. */
static void put_headings(const struct cp_table *table, struct cp_out *out,
	const struct layout *layout, bool colour)
{
	for (size_t i = CP_TABLE_HEADING_LINES; i > 0; i--) {
		bool any = false;

		for (size_t c = 0; c < table->ncolumns; c++)
			any |= columns_of(table->headings[c][i - 1]) != 0;
		if (!any)
			continue;
		cp_out_text(out, colour ? "\033[1m" : "");
		put_line(table, out, layout, &table->headings[0][i - 1],
			CP_TABLE_HEADING_LINES);
		cp_out_text(out, colour ? "\033[0m\n" : "\n");
	}
}

static size_t total_width(const struct cp_table *table, const struct layout *layout)
{
	size_t total = (table->ncolumns - 1) * layout->gap, mark = 0;

	for (size_t c = 0; c < table->ncolumns; c++)
		total += layout->widths[c];
	for (size_t row = 0; row < table->nrows; row++)
		mark = table->marks[row] ? MARK_WIDTH : mark;
	return total + mark;
}

size_t cp_table_width(const struct cp_table *table)
{
	size_t total = (table->ncolumns - 1) * GAP;

	for (size_t c = 0; c < table->ncolumns; c++)
		total += cp_table_column_width(table, c);
	return total;
}

/* Where the table does not fit, the columns move together, then the first one
 * is cut. */
static struct layout fit_columns(const struct cp_table *table, size_t width)
{
	struct layout layout = {
		cp_arena_alloc(table->arena, table->ncolumns * sizeof(*layout.widths)),
		GAP};
	size_t total, excess;

	for (size_t c = 0; c < table->ncolumns; c++)
		layout.widths[c] = cp_table_column_width(table, c);
	if (total_width(table, &layout) > width)
		layout.gap = 1;
	total = total_width(table, &layout);
	if (total <= width || layout.widths[0] <= MIN_FIRST)
		return layout;
	excess = total - width;
	layout.widths[0] = layout.widths[0] - MIN_FIRST > excess
				   ? layout.widths[0] - excess
				   : MIN_FIRST;
	return layout;
}

void cp_table_print(
	const struct cp_table *table, struct cp_out *out, size_t width, bool colour)
{
	struct layout layout = fit_columns(table, width);

	put_headings(table, out, &layout, colour);
	for (size_t row = 0; row < table->nrows; row++) {
		put_line(table, out, &layout, &table->cells[row * table->ncolumns], 1);
		if (table->marks[row])
			cp_out_format(out, colour ? " \033[1;31m%s\033[0m" : " %s",
				table->marks[row]);
		cp_out_text(out, "\n");
	}
}

const char *cp_text_vformat(struct cp_arena *arena, const char *format, va_list args)
{
	char text[512], *longer;
	size_t length = cp_vformat(text, sizeof(text), format, args);

	if (length < sizeof(text))
		return cp_arena_copy(arena, text, length);
	longer = cp_arena_alloc(arena, length + 1);
	cp_vformat(longer, length + 1, format, args);
	return longer;
}

const char *cp_text_format(struct cp_arena *arena, const char *format, ...)
{
	const char *text;
	va_list args;

	va_start(args, format);
	text = cp_text_vformat(arena, format, args);
	va_end(args);
	return text;
}

const char *cp_text_words(struct cp_arena *arena, const char *const *words, size_t n)
{
	size_t length = 1, at = 0;
	char *line;

	for (size_t i = 0; i < n; i++)
		length += strlen(words[i]) + 1;
	line = cp_arena_alloc(arena, length);
	for (size_t i = 0; i < n; i++)
		at += cp_format(line + at, length - at, "%s%s", i ? " " : "", words[i]);
	return cp_text_safe(arena, cp_slice_of(line));
}

const char *cp_text_listed(struct cp_arena *arena, const char *list, const char *item)
{
	return *list ? cp_text_format(arena, "%s, %s", list, item) : item;
}

const char *cp_text_integer(struct cp_arena *arena, uint64_t value)
{
	char digits[24], text[32];
	size_t length = cp_format(digits, sizeof(digits), "%lu", (unsigned long)value),
	       used = 0;

	for (size_t i = 0; i < length; i++) {
		if (i && (length - i) % 3 == 0)
			text[used++] = ',';
		text[used++] = digits[i];
	}
	return cp_arena_copy(arena, text, used);
}

const char *cp_text_decimal(struct cp_arena *arena, double value)
{
	double size = value < 0 ? -value : value;

	if (size >= 999.95 && size < 1e18)
		return cp_text_format(arena, "%s%s", value < 0 ? "-" : "",
			cp_text_integer(arena, (uint64_t)(size + 0.5)));
	if (size >= 1e18)
		return cp_text_format(arena, "%.3g", value);
	if (size >= 9.995)
		return cp_text_format(arena, "%.1f", value);
	if (size != 0 && size < 0.005)
		return value < 0 ? ">-0.01" : "<0.01";
	return cp_text_format(arena, "%.2f", value);
}

const char *cp_text_short(struct cp_arena *arena, double value)
{
	static const char *const prefixes[] = {"", " k", " M", " G", " T", " P", " E"};
	size_t i = 0;

	for (; value >= 999.5 && i < 6; i++)
		value /= 1000;
	if (!i)
		return cp_text_format(arena, "%.0f", value);
	return cp_text_format(arena,
		value >= 99.95   ? "%.0f%s"
		: value >= 9.995 ? "%.1f%s"
				 : "%.2f%s",
		value, prefixes[i]);
}

const char *cp_text_seconds(struct cp_arena *arena, double value)
{
	static const char *const units[] = {"s", "ms", "µs", "ns"};
	size_t i = 0;

	if (value == 0)
		return "0 s";
	for (; value < 0.9995 && i < 3; i++)
		value *= 1000;
	return cp_text_format(arena,
		value >= 99.95   ? "%.0f %s"
		: value >= 9.995 ? "%.1f %s"
				 : "%.2f %s",
		value, units[i]);
}

static size_t spell_control(char *to, unsigned char c)
{
	if (c == '\n' || c == '\t' || c == '\r') {
		to[0] = '\\';
		to[1] = c == '\n' ? 'n' : c == '\t' ? 't' : 'r';
		return 2;
	}
	return cp_format(to, 5, "\\x%02x", c);
}

const char *cp_text_safe(struct cp_arena *arena, struct cp_slice text)
{
	char *safe = cp_arena_alloc(arena, cp_slice_length(text) * 4 + 5), *to = safe;

	while (text.at < text.end) {
		size_t bytes = cp_utf8_length(text.at, cp_slice_length(text));

		if (!bytes || cp_control_length(text.at, text.end)) {
			to += spell_control(to, (unsigned char)*text.at++);
			continue;
		}
		memcpy(to, text.at, bytes);
		to += bytes;
		text.at += bytes;
	}
	*to = '\0';
	return safe;
}

void cp_text_wrap(
	struct cp_out *out, const char *text, size_t at, size_t indent, size_t width)
{
	struct cp_slice rest = cp_slice_of(text), word;
	bool first = true;

	while (cp_slice_word(&rest, &word)) {
		size_t columns = cp_utf8_columns(word.at, cp_slice_length(word));

		if (!first && at + 1 + columns > width) {
			cp_out_text(out, "\n");
			put_blanks(out, indent);
			at = indent;
		} else if (!first) {
			cp_out_text(out, " ");
			at++;
		}
		cp_out_bytes(out, word.at, cp_slice_length(word));
		at += columns;
		first = false;
	}
	cp_out_text(out, "\n");
}

void cp_answer_add(struct cp_answer *answer, const char *label, const char *text)
{
	if (answer->count < CP_ANSWER_MAX_LINES)
		answer->line[answer->count++] = (struct cp_answer_line){label, text};
}
