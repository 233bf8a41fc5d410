/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Where functions begin, and which code only leads to some: symbols and sections of a
 * mapped file, read when its first code is translated.
 */
#include "paths/paths.h"
#include "profile/elf_symbols.h"
#include "scanned.h"
#include "table.h"

struct stubs {
	struct stubs *next;
	Addr start, end;
};

/* The program's code, as far as it was looked at. */
static struct {
	struct scanned *scanned;
	struct stubs *stubs;
	struct table begins; /* of functions */
} code;

static void add_function(void *bias, const Elf64_Sym *symbol, const HChar *name)
{
	if (elf_is_function(symbol, name))
		table_add(&code.begins, sizeof(Addr),
			*(const Addr *)bias + symbol->st_value);
}

static void add_stubs(void *bias, const Elf64_Shdr *section, const HChar *name)
{
	struct stubs *s;

	if (VG_(strcmp)(name, ".plt") != 0 && VG_(strncmp)(name, ".plt.", 5) != 0)
		return;
	s = VG_(malloc)("cachepeek.stubs", sizeof(*s));
	s->start = *(const Addr *)bias + section->sh_addr;
	s->end = s->start + section->sh_size;
	s->next = code.stubs;
	code.stubs = s;
}

static void look_at(Addr a)
{
	const NSegment *segment = scanned_new(&code.scanned, a);
	const HChar *path = segment ? VG_(am_get_filename)(segment) : NULL;
	Addr bias;

	if (!path || !elf_bias(path, segment->start, (ULong)segment->offset, &bias))
		return;
	elf_symbols_each(path, add_function, &bias);
	elf_sections_each(path, add_stubs, &bias);
}

Bool code_begins_at(Addr a)
{
	look_at(a);
	return table_find(&code.begins, sizeof(Addr), a) != NULL;
}

Bool code_is_stub(Addr a)
{
	look_at(a);
	for (const struct stubs *s = code.stubs; s; s = s->next)
		if (a >= s->start && a < s->end)
			return True;
	return False;
}

void code_unmapped(Addr a, SizeT len)
{
	if (!scanned_forget(&code.scanned, a, len))
		return;
	table_drop(&code.begins, sizeof(Addr), a, a + len);
	for (struct stubs **at = &code.stubs; *at;) {
		struct stubs *s = *at;

		if (s->start >= a + len || s->end <= a) {
			at = &s->next;
			continue;
		}
		*at = s->next;
		VG_(free)(s);
	}
}
