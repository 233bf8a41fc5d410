/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Which functions are regions, and where they are.  A mapping's are looked up when
 * the first code of it is translated.
 */
#include "base/text/name_pattern.h"
#include "profile/elf_symbols.h"
#include "watch/function_names.h"
#include "scanned.h"
#include "table.h"
#include "valgrind/core.h"

struct function {
	Addr address;
	UInt name;
};

#define MAX_MAKERS 16

/* The functions that are regions, and what was looked through for them. */
static struct {
	const HChar *patterns;
	ULong found; /* cp_piece_bit() */
	struct scanned *scanned;
	struct table functions;
	const HChar **names;
	UInt nnames, names_room;
	Addr makers[MAX_MAKERS]; /* of contexts, in one libc or several */
	UInt nmakers;
} chosen;

/* ---- names ---- */

UInt function_number(const HChar *name)
{
	for (UInt i = 0; i < chosen.nnames; i++)
		if (VG_(strcmp)(chosen.names[i], name) == 0)
			return i;
	if (chosen.nnames == chosen.names_room) {
		chosen.names_room = chosen.names_room ? 2 * chosen.names_room : 64;
		chosen.names = VG_(realloc)("cachepeek.names", chosen.names,
			chosen.names_room * sizeof(*chosen.names));
	}
	chosen.names[chosen.nnames] = VG_(strdup)("cachepeek.name", name);
	return chosen.nnames++;
}

const HChar *function_name(UInt number)
{
	return number < chosen.nnames ? chosen.names[number] : NULL;
}

/* ---- patterns ---- */

static const HChar *demangle_name(const HChar *name)
{
	const HChar *plain = name;

	if (name[0] == '_' && name[1] == 'Z')
		VG_(demangle)(True, False, name, &plain);
	return plain;
}

static Bool is_wanted(const HChar *name)
{
	const HChar *plain = demangle_name(name);

	if (!cp_function_is_chosen(chosen.patterns, name, plain))
		return False;
	chosen.found |= cp_pieces_of(chosen.patterns, name, plain);
	return True;
}

/* VG_(snprintf) knows no precision of a string. */
static void copy_piece(HChar *to, UInt size, struct cp_span piece)
{
	UInt length = (UInt)(piece.end - piece.at);

	if (length >= size)
		length = size - 1;
	VG_(memcpy)(to, piece.at, length);
	to[length] = '\0';
}

UInt functions_check(UInt n, HChar *to, UInt size)
{
	const HChar *list = chosen.patterns;
	struct cp_span piece;
	int except;

	for (UInt i = 0; list && (piece = cp_next_function(&list, &except)).at; i++) {
		if (except || n-- > 0)
			continue;
		copy_piece(to, size, piece);
		return chosen.found & cp_piece_bit(i) ? 1 : 2;
	}
	return 0;
}

/* ---- functions ---- */

static void add_function(Addr a, const HChar *name)
{
	struct function *f = table_find(&chosen.functions, sizeof(*f), a);

	if (f && !cp_name_is_better(name, chosen.names[f->name]))
		return;
	f = table_add(&chosen.functions, sizeof(*f), a);
	f->name = function_number(name);
}

/* With its name of C++, and what is said about the names of its regions, each on a line
 * of its own. */
static void add_named(Addr a, const HChar *name)
{
	const HChar *plain = demangle_name(name);
	struct cp_span naming = cp_naming_of(chosen.patterns, name, plain);
	HChar all[3000], behind[500];

	if (naming.at == naming.end ||
		VG_(strlen)(name) + VG_(strlen)(plain) > sizeof(all) - sizeof(behind)) {
		add_function(a, name);
		return;
	}
	copy_piece(behind, sizeof(behind), naming);
	VG_(sprintf)(all, "%s\n%s\n%s", name, plain, behind);
	add_function(a, all);
}

static void visit_symbol(void *bias, const Elf64_Sym *symbol, const HChar *name)
{
	if (VG_(strcmp)(name, "makecontext") == 0 && symbol->st_value &&
		chosen.nmakers < MAX_MAKERS)
		chosen.makers[chosen.nmakers++] = *(const Addr *)bias + symbol->st_value;
	if (elf_is_function(symbol, name) && is_wanted(name))
		add_named(*(const Addr *)bias + symbol->st_value, name);
}

/* "func:FILE+0xOFFSET", as the file's headers count: of a file without symbols. */
static void add_by_address(const HChar *path, Addr bias)
{
	const HChar *slash = VG_(strrchr)(path, '/'), *base = slash ? slash + 1 : path;
	const HChar *list = chosen.patterns;
	struct cp_span piece;
	unsigned long offset;
	HChar name[300];
	int except;

	for (UInt i = 0; (piece = cp_next_function(&list, &except)).at; i++) {
		UInt size = (UInt)(piece.end - piece.at);

		if (except || size >= sizeof(name) ||
			!cp_is_offset_in(piece, base, &offset))
			continue;
		chosen.found |= cp_piece_bit(i);
		copy_piece(name, sizeof(name), piece);
		add_named(bias + offset, name);
	}
}

static void scan_file(const NSegment *segment)
{
	const HChar *path = VG_(am_get_filename)(segment);
	Addr bias;

	if (!path || !elf_bias(path, segment->start, (ULong)segment->offset, &bias))
		return;
	elf_symbols_each(path, visit_symbol, &bias);
	add_by_address(path, bias);
}

static void look_at(Addr a)
{
	const NSegment *segment = scanned_new(&chosen.scanned, a);

	if (segment)
		scan_file(segment);
}

Int function_at(Addr a)
{
	const struct function *f;

	look_at(a);
	f = table_find(&chosen.functions, sizeof(*f), a);
	return f ? (Int)f->name : -1;
}

Bool makes_context_at(Addr a)
{
	for (UInt i = 0; i < chosen.nmakers; i++)
		if (chosen.makers[i] == a)
			return True;
	return False;
}

void functions_unmapped(Addr a, SizeT len)
{
	if (scanned_forget(&chosen.scanned, a, len))
		table_drop(&chosen.functions, sizeof(struct function), a, a + len);
}

void functions_choose(const HChar *list)
{
	chosen.patterns = VG_(strdup)("cachepeek.patterns", list);
}
