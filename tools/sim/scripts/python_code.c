/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Names and lines of code objects.  Lines are in a table of the object
 * (Objects/locations.md of CPython): an entry begins with a byte that has the highest
 * bit, the kind of the entry in the next four, and in the last three how many units of
 * bytecode it is for, less one; what follows says by how much the line grows.
 */
#include "scripts/python.h"
#include "scripts/python_memory.h"

/* ---- lines ---- */

enum { UNIT = 2 }; /* bytes of bytecode */
enum { ONE_LINE = 10, WITHOUT_COLUMNS = 13, LONG = 14, WITHOUT_LINE = 15 };

struct table {
	Addr next, end;
};

static Bool next_byte(struct table *t, UInt *to)
{
	UChar byte;

	if (t->next >= t->end || !python_byte(t->next, &byte))
		return False;
	t->next++;
	*to = byte;
	return True;
}

/* Six bits each, the lowest first; the seventh: there are more. */
static Bool read_number(struct table *t, UInt *to)
{
	UInt byte = 64, shift = 0;

	for (*to = 0; byte & 64; shift += 6) {
		if (shift > 30 || !next_byte(t, &byte))
			return False;
		*to |= (byte & 63) << shift;
	}
	return True;
}

/* The lowest bit is the sign. */
static Bool read_signed(struct table *t, Int *to)
{
	UInt number;

	if (!read_number(t, &number))
		return False;
	*to = number & 1 ? -(Int)(number >> 1) : (Int)(number >> 1);
	return True;
}

static Bool read_growth(struct table *t, UInt kind, Int *growth)
{
	*growth = 0;
	if (kind == WITHOUT_COLUMNS || kind == LONG)
		return read_signed(t, growth);
	if (kind >= ONE_LINE && kind < WITHOUT_COLUMNS)
		*growth = (Int)(kind - ONE_LINE);
	return True;
}

static Bool skip_entry(struct table *t)
{
	UChar byte;

	while (t->next < t->end) {
		if (!python_byte(t->next, &byte))
			return False;
		if (byte & 0x80)
			return True;
		t->next++;
	}
	return False;
}

static UInt look_up_line(struct table *t, Int line, ULong unit)
{
	UInt first, kind;
	Int growth;

	for (ULong at = 0; next_byte(t, &first);) {
		kind = first >> 3 & 15;
		if (!read_growth(t, kind, &growth))
			return 0;
		line += growth;
		at += (first & 7) + 1;
		if (unit < at)
			return kind == WITHOUT_LINE || line < 0 ? 0 : (UInt)line;
		if (!skip_entry(t))
			return 0;
	}
	return 0;
}

UInt python_line(const struct python_at *at)
{
	Addr begin = at->code + python_layout.bytecode, size, units;
	struct table table;
	Int first;

	if (!python_int(at->code + python_layout.first_line, &first) ||
		!python_word(at->code + PYTHON_SIZE, &units) ||
		!python_word(at->line_table + PYTHON_SIZE, &size))
		return 0;
	if (at->instruction + UNIT == begin) /* it is yet to begin */
		return first > 0 ? (UInt)first : 0;
	if (at->instruction - begin >= units * UNIT)
		return 0;
	table.next = at->line_table + PYTHON_BYTES;
	table.end = table.next + size;
	return look_up_line(&table, first, (at->instruction - begin) / UNIT);
}

/* ---- strings ---- */

/* PyASCIIObject.state */
enum { KIND_SHIFT = 2, KIND_MASK = 7, COMPACT = 1 << 5, ASCII = 1 << 6 };

static UInt encode(UInt c, HChar *to)
{
	if (c < 0x80) {
		to[0] = (HChar)c;
		return 1;
	}
	if (c < 0x800) {
		to[0] = (HChar)(0xc0 | c >> 6);
		to[1] = (HChar)(0x80 | (c & 63));
		return 2;
	}
	if (c < 0x10000) {
		to[0] = (HChar)(0xe0 | c >> 12);
		to[1] = (HChar)(0x80 | (c >> 6 & 63));
		to[2] = (HChar)(0x80 | (c & 63));
		return 3;
	}
	to[0] = (HChar)(0xf0 | (c >> 18 & 7));
	to[1] = (HChar)(0x80 | (c >> 12 & 63));
	to[2] = (HChar)(0x80 | (c >> 6 & 63));
	to[3] = (HChar)(0x80 | (c & 63));
	return 4;
}

static Bool read_character(Addr a, UInt kind, UInt *to)
{
	UChar byte;

	*to = 0;
	for (UInt i = 0; i < kind; i++) {
		if (!python_byte(a + i, &byte))
			return False;
		*to |= (UInt)byte << 8 * i;
	}
	return True;
}

static Bool read_string(Addr string, HChar *to, UInt room)
{
	Addr length, text;
	Int state;
	UInt kind, used = 0, c;

	if (!python_word(string + PYTHON_SIZE, &length) ||
		!python_int(string + PYTHON_BYTES, &state) || !(state & COMPACT))
		return False;
	kind = (UInt)state >> KIND_SHIFT & KIND_MASK;
	text = string + (state & ASCII ? python_layout.ascii : python_layout.compact);
	if (kind != 1 && kind != 2 && kind != 4)
		return False;
	for (Addr i = 0; i < length && used + 5 <= room; i++) {
		if (!read_character(text + i * kind, kind, &c))
			return False;
		used += encode(c, to + used);
	}
	to[used] = '\0';
	return True;
}

Bool python_function(const struct python_at *at, HChar *to, UInt room)
{
	Addr name;

	return python_word(at->code + python_layout.qualified_name, &name) &&
	       read_string(name, to, room);
}

Bool python_file(const struct python_at *at, HChar *to, UInt room)
{
	return read_string(at->file, to, room);
}

/* Modules that are frozen, or made by decorators, have names in angle brackets, and so
 * have programs that are no file. */
Bool python_is_library(Addr file)
{
	static const HChar *const programs[] = {"<string>", "<stdin>"};
	HChar name[1024];

	if (!read_string(file, name, sizeof(name)))
		return False;
	for (UInt i = 0; i < sizeof(programs) / sizeof(programs[0]); i++)
		if (VG_(strcmp)(name, programs[i]) == 0)
			return False;
	return name[0] == '<' || VG_(strstr)(name, "/lib/python3") ||
	       VG_(strstr)(name, "/site-packages/");
}
