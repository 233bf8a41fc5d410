/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Thread-local variables: the blocks that each thread has of them, and what modules
 * have in theirs.
 */
#include "profile/elf_symbols.h"
#include "profile/profile.h"

struct variable {
	ULong offset, size;
};

/* The thread-local variables of a module; without any, they are not known. */
struct layout {
	struct layout *next;
	Addr image;
	struct variable *variables;
	UInt n, room;
};

struct block {
	Addr start, end;
	ThreadId tid;
	struct layout *layout;
};

/* All modules and blocks that the library has told of. */
static struct {
	struct layout *layouts;
	struct block *blocks;
	UInt nblocks, room;
} tls;

static void add_variable(void *to, const Elf64_Sym *symbol, const HChar *name)
{
	struct layout *l = to;

	(void)name;
	if (ELF64_ST_TYPE(symbol->st_info) != STT_TLS || !symbol->st_size ||
		symbol->st_shndx == SHN_UNDEF)
		return;
	if (l->n == l->room) {
		l->room = l->room ? 2 * l->room : 16;
		l->variables = VG_(realloc)(
			"cachepeek.tls", l->variables, l->room * sizeof(*l->variables));
	}
	l->variables[l->n].offset = symbol->st_value;
	l->variables[l->n++].size = symbol->st_size;
}

static struct layout *layout_of(Addr image)
{
	const NSegment *segment = VG_(am_find_nsegment)(image);
	const HChar *path = segment ? VG_(am_get_filename)(segment) : NULL;
	struct layout *l;

	for (l = tls.layouts; l; l = l->next)
		if (l->image == image)
			return l;
	l = VG_(calloc)("cachepeek.tls", 1, sizeof(*l));
	l->image = image;
	l->next = tls.layouts;
	tls.layouts = l;
	if (path)
		elf_symbols_each(path, add_variable, l);
	return l;
}

void profile_tls_add(ThreadId tid, Addr start, SizeT size, Addr image)
{
	if (!tool_options.sites || !size)
		return;
	if (tls.nblocks == tls.room) {
		tls.room = tls.room ? 2 * tls.room : 64;
		tls.blocks = VG_(realloc)(
			"cachepeek.tls", tls.blocks, tls.room * sizeof(*tls.blocks));
	}
	tls.blocks[tls.nblocks++] =
		(struct block){start, start + size, tid, layout_of(image)};
	profile_data_new_block(start);
	profile_data_new_block(start + size - 1);
}

static const struct variable *find_in_layout(const struct layout *l, ULong offset)
{
	for (UInt i = 0; i < l->n; i++)
		if (offset - l->variables[i].offset < l->variables[i].size)
			return &l->variables[i];
	return NULL;
}

Bool profile_tls_at(Addr a, Addr *image, ULong *offset, Addr *start, ULong *size)
{
	for (UInt i = 0; i < tls.nblocks; i++) {
		const struct block *b = &tls.blocks[i];
		const struct variable *v;

		if (a < b->start || a >= b->end)
			continue;
		v = find_in_layout(b->layout, a - b->start);
		if (!v)
			return False;
		*image = b->layout->image;
		*offset = v->offset;
		*start = b->start + v->offset;
		*size = v->size;
		return True;
	}
	return False;
}

void profile_tls_thread_end(ThreadId tid)
{
	for (UInt i = tls.nblocks; i-- > 0;)
		if (tls.blocks[i].tid == tid)
			tls.blocks[i] = tls.blocks[--tls.nblocks];
}

/* Forgets the blocks that are unmapped, and those of modules that are. */
void profile_tls_unmapped(Addr a, SizeT len)
{
	for (UInt i = tls.nblocks; i-- > 0;) {
		const struct block *b = &tls.blocks[i];

		if ((b->start < a + len && b->end > a) ||
			(b->layout->image >= a && b->layout->image < a + len))
			tls.blocks[i] = tls.blocks[--tls.nblocks];
	}
	for (struct layout **at = &tls.layouts; *at;) {
		struct layout *l = *at;

		if (l->image < a || l->image >= a + len) {
			at = &l->next;
			continue;
		}
		*at = l->next;
		VG_(free)(l->variables);
		VG_(free)(l);
	}
}
