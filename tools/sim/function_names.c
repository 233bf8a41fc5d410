/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Which functions are regions, and where they are.  A mapping's are looked up when
 * the first code of it is translated.
 */
#include "profile/elf_symbols.h"
#include "functions.h"
#include "scanned.h"

void VG_(demangle)(Bool cxx, Bool z, const HChar *mangled, /*OUT*/ const HChar **plain);

struct function {
	Addr address;
	UInt name;
};

static const HChar *patterns;
static struct scanned *scanned;

/* Open addressing; address 0: free. */
static struct function *table;
static UInt room, used;

static const HChar **names;
static UInt nnames, names_room;

/* ---- names ---- */

UInt function_number(const HChar *name)
{
	for (UInt i = 0; i < nnames; i++)
		if (VG_(strcmp)(names[i], name) == 0)
			return i;
	if (nnames == names_room) {
		names_room = names_room ? 2 * names_room : 64;
		names = VG_(realloc)(
			"cachepeek.names", names, names_room * sizeof(*names));
	}
	names[nnames] = VG_(strdup)("cachepeek.name", name);
	return nnames++;
}

const HChar *function_name(UInt number)
{
	return number < nnames ? names[number] : NULL;
}

/* ---- patterns ---- */

static Bool matches(
	const HChar *pattern, const HChar *end, const HChar *s, const HChar *s_end)
{
	const HChar *star = NULL, *retry = NULL;

	while (s < s_end) {
		if (pattern < end && *pattern == '*') {
			star = ++pattern;
			retry = s;
		} else if (pattern < end && (*pattern == '?' || *pattern == *s)) {
			pattern++;
			s++;
		} else if (star) {
			pattern = star;
			s = ++retry;
		} else {
			return False;
		}
	}
	while (pattern < end && *pattern == '*')
		pattern++;
	return pattern == end;
}

static const HChar *end_of(const HChar *s, HChar stop)
{
	while (*s && *s != stop)
		s++;
	return s;
}

/* "int outer::f<int>(int)": of a template's function the type that it returns stands
 * in front. */
static const HChar *skip_type(const HChar *plain)
{
	const HChar *name = plain;
	Int depth = 0;

	for (const HChar *at = plain; *at && (*at != '(' || depth); at++) {
		depth += *at == '<' ? 1 : *at == '>' ? -1 : 0;
		if (*at == ' ' && !depth)
			name = at + 1;
	}
	return name;
}

/* The whole name, or what stands before what compilers add (f.constprop.0) or before
 * the parameters of C++. */
static Bool piece_matches(
	const HChar *piece, const HChar *end, const HChar *name, const HChar *plain)
{
	return matches(piece, end, name, end_of(name, '\0')) ||
	       matches(piece, end, name, end_of(name, '.')) ||
	       (plain != name && (matches(piece, end, plain, end_of(plain, '\0')) ||
					 matches(piece, end, plain, end_of(plain, '(')) ||
					 matches(piece, end, skip_type(plain),
						 end_of(plain, '('))));
}

static Bool is_wanted(const HChar *name)
{
	const HChar *plain = name, *at = patterns;
	Bool wanted = False;

	if (name[0] == '_' && name[1] == 'Z')
		VG_(demangle)(True, False, name, &plain);
	while (*at) {
		const HChar *end = end_of(at, ',');
		Bool except = *at == '!';

		at += except;
		if (VG_(strncmp)(at, "func:", 5) == 0 &&
			piece_matches(at + 5, end, name, plain)) {
			if (except)
				return False;
			wanted = True;
		}
		at = *end ? end + 1 : end;
	}
	return wanted;
}

/* ---- functions ---- */

static UInt slot_of(Addr a)
{
	UInt i = (UInt)(a * 0x9e3779b97f4a7c15ull >> 32) & (room - 1);

	while (table[i].address && table[i].address != a)
		i = (i + 1) & (room - 1);
	return i;
}

static void resize(UInt size, Addr lo, Addr hi)
{
	struct function *old = table;
	UInt n = room;

	table = VG_(calloc)("cachepeek.functions", size, sizeof(*table));
	room = size;
	used = 0;
	for (UInt i = 0; i < n; i++) {
		if (!old[i].address || (old[i].address >= lo && old[i].address < hi))
			continue;
		table[slot_of(old[i].address)] = old[i];
		used++;
	}
	VG_(free)(old);
}

/* Of several names the one with the fewest underscores in front, then the shortest. */
static Bool is_better(const HChar *a, const HChar *b)
{
	UInt x = 0, y = 0;

	while (a[x] == '_')
		x++;
	while (b[y] == '_')
		y++;
	return x != y ? x < y : VG_(strlen)(a) < VG_(strlen)(b);
}

static void add(Addr a, const HChar *name)
{
	UInt i;

	if (used >= room / 2)
		resize(room ? 2 * room : 256, 0, 0);
	i = slot_of(a);
	if (table[i].address && !is_better(name, names[table[i].name]))
		return;
	used += !table[i].address;
	table[i].address = a;
	table[i].name = function_number(name);
}

static void visit(void *bias, const Elf64_Sym *symbol, const HChar *name)
{
	if (elf_is_function(symbol, name) && is_wanted(name))
		add(*(const Addr *)bias + symbol->st_value, name);
}

/* "func:FILE+0xOFFSET", as the file's headers count: of a file without symbols. */
static void add_by_address(const HChar *path, Addr bias)
{
	const HChar *slash = VG_(strrchr)(path, '/'), *base = slash ? slash + 1 : path;
	UInt length = VG_(strlen)(base);
	HChar name[300];

	for (const HChar *at = patterns; *at;) {
		const HChar *end = end_of(at, ',');
		UInt size = (UInt)(end - at);

		if (VG_(strncmp)(at, "func:", 5) == 0 && size < sizeof(name) &&
			VG_(strncmp)(at + 5, base, length) == 0 &&
			VG_(strncmp)(at + 5 + length, "+0x", 3) == 0) {
			VG_(strncpy)(name, at + 5, size - 5);
			name[size - 5] = '\0';
			add(bias + (Addr)VG_(strtoll16)(name + length + 1, NULL), name);
		}
		at = *end ? end + 1 : end;
	}
}

static void scan(const NSegment *segment)
{
	const HChar *path = VG_(am_get_filename)(segment);
	Addr bias;

	if (!path || !elf_bias(path, segment->start, (ULong)segment->offset, &bias))
		return;
	elf_symbols_each(path, visit, &bias);
	add_by_address(path, bias);
}

static void look_at(Addr a)
{
	const NSegment *segment = scanned_new(&scanned, a);

	if (segment)
		scan(segment);
}

Int function_at(Addr a)
{
	const struct function *f;

	look_at(a);
	if (!room)
		return -1;
	f = &table[slot_of(a)];
	return f->address ? (Int)f->name : -1;
}

void functions_unmapped(Addr a, SizeT len)
{
	if (scanned_forget(&scanned, a, len) && room)
		resize(room, a, a + len);
}

void functions_choose(const HChar *list)
{
	patterns = VG_(strdup)("cachepeek.patterns", list);
}
