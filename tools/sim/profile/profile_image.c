/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The variables of mapped files: where each begins and ends, from the symbol table
 * of the file or of its separate debug file.  Names are for who reads the profile.
 */
#include "profile/elf_symbols.h"
#include "base/search.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_libcfile.h"
#include "profile/profile.h"

struct variable {
	Addr start;
	ULong size;
};

struct image {
	struct image *next;
	Addr start, end;           /* of all of it */
	Addr written, written_end; /* of what can be written */
	Addr bias;
	struct variable *variables;
	UInt n, room;
	Bool none; /* a mapping of something else */
};

static struct image *images;

/* ---- symbols ---- */

static void add_variable(void *to, const Elf64_Sym *symbol, const HChar *name)
{
	struct image *image = to;

	(void)name;
	if (ELF64_ST_TYPE(symbol->st_info) != STT_OBJECT || !symbol->st_size ||
		symbol->st_shndx == SHN_UNDEF || symbol->st_shndx >= SHN_LORESERVE)
		return;
	if (image->n == image->room) {
		image->room = image->room ? 2 * image->room : 64;
		image->variables = VG_(realloc)("cachepeek.variables", image->variables,
			image->room * sizeof(*image->variables));
	}
	image->variables[image->n].start = image->bias + symbol->st_value;
	image->variables[image->n++].size = symbol->st_size;
}

/* By address; of those that begin together the largest. */
static Int by_start(const void *a, const void *b)
{
	const struct variable *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->size > y->size ? -1 : x->size < y->size;
}

static void order_variables(struct image *image)
{
	UInt n = 0;

	VG_(ssort)(image->variables, image->n, sizeof(*image->variables), by_start);
	for (UInt i = 0; i < image->n; i++) {
		const struct variable *v = &image->variables[i];

		if (n && v->start < image->variables[n - 1].start +
					    image->variables[n - 1].size)
			continue; /* inside the one before */
		image->variables[n++] = *v;
	}
	image->n = n;
}

/* ---- images ---- */

static Bool read_segments(
	struct image *image, Int fd, const Elf64_Ehdr *file, const NSegment *mapping)
{
	Addr low = ~0ul, high = 0, written = ~0ul, written_end = 0;
	Bool found = False;
	Elf64_Phdr s;

	for (UInt i = 0; i < file->e_phnum; i++) {
		ULong page = VKI_PAGE_SIZE - 1, offset = (ULong)mapping->offset;

		if (!elf_read(fd, &s, sizeof(s), file->e_phoff + i * sizeof(s)))
			return False;
		if (s.p_type != PT_LOAD)
			continue;
		if (!found && offset >= (s.p_offset & ~page) &&
			offset < s.p_offset + s.p_filesz &&
			(mapping->hasW || !(s.p_flags & PF_W))) {
			found = True;
			image->bias = mapping->start - (s.p_vaddr + offset - s.p_offset);
		}
		low = s.p_vaddr < low ? s.p_vaddr : low;
		high = s.p_vaddr + s.p_memsz > high ? s.p_vaddr + s.p_memsz : high;
		if (!(s.p_flags & PF_W))
			continue;
		written = s.p_vaddr < written ? s.p_vaddr : written;
		written_end = s.p_vaddr + s.p_memsz;
	}
	if (!found)
		return False;
	image->start = (image->bias + low) & ~(VKI_PAGE_SIZE - 1);
	image->end = VG_PGROUNDUP(image->bias + high);
	image->written = image->bias + written;
	image->written_end = VG_PGROUNDUP(image->bias + written_end);
	return True;
}

static void read_image(struct image *image, const NSegment *mapping, const HChar *path)
{
	Elf64_Ehdr file;
	Int fd = elf_open(path, &file);

	if (fd < 0)
		return;
	if (read_segments(image, fd, &file, mapping)) {
		elf_symbols_each(path, add_variable, image);
		order_variables(image);
		image->none = False;
	}
	VG_(close)(fd);
}

static void add_image(const NSegment *mapping)
{
	struct image *image = VG_(calloc)("cachepeek.image", 1, sizeof(*image));
	const HChar *path = VG_(am_get_filename)(mapping);

	image->start = mapping->start;
	image->end = mapping->end + 1;
	image->none = True;
	if (path)
		read_image(image, mapping, path);
	image->next = images;
	images = image;
}

/* .bss lies behind the file's last mapping, in memory without a file. */
static const NSegment *file_mapping(Addr a)
{
	const NSegment *s = VG_(am_find_nsegment)(a);

	if (s && s->kind == SkAnonC && s->start)
		s = VG_(am_find_nsegment)(s->start - 1);
	return s && s->kind == SkFileC ? s : NULL;
}

static struct image *find_image(Addr a)
{
	for (struct image *image = images; image; image = image->next)
		if (a >= image->start && a < image->end)
			return image;
	return NULL;
}

struct image *profile_image_at(Addr a)
{
	struct image *image = find_image(a);
	const NSegment *mapping;

	if (image)
		return image->none ? NULL : image;
	mapping = file_mapping(a);
	if (!mapping || find_image(mapping->start))
		return NULL;
	add_image(mapping);
	image = find_image(a);
	return image && !image->none ? image : NULL;
}

/* Before the variable with this index, but all can be written or none of it. */
static void find_gap(
	const struct image *image, UInt next, Addr a, Addr *start, ULong *size)
{
	const struct variable *v = &image->variables[next];
	Addr low = next ? v[-1].start + v[-1].size : image->start,
	     high = next < image->n ? v->start : image->end;

	if (a >= image->written && low < image->written)
		low = image->written;
	if (a < image->written && high > image->written)
		high = image->written;
	if (a >= image->written_end && low < image->written_end)
		low = image->written_end;
	if (a < image->written_end && high > image->written_end)
		high = image->written_end;
	*start = low;
	*size = high - low;
}

Bool profile_image_variable(const struct image *image, Addr a, Addr *start, ULong *size)
{
	UInt low = (UInt)CP_IN_FRONT(image->n, i, image->variables[i].start <= a);

	if (!low ||
		a - image->variables[low - 1].start >= image->variables[low - 1].size) {
		find_gap(image, low, a, start, size);
		return False;
	}
	*start = image->variables[low - 1].start;
	*size = image->variables[low - 1].size;
	return True;
}

Bool profile_image_writable(const struct image *image, Addr a)
{
	return a >= image->written && a < image->written_end;
}

Addr profile_image_start(const struct image *image)
{
	return image->start;
}

Addr profile_image_bias(const struct image *image)
{
	return image->bias;
}

Bool profile_image_unmapped(Addr a, SizeT len)
{
	Bool any = False;

	for (struct image **at = &images; *at;) {
		struct image *image = *at;

		if (image->start >= a + len || image->end <= a) {
			at = &image->next;
			continue;
		}
		*at = image->next;
		VG_(free)(image->variables);
		VG_(free)(image);
		any = True;
	}
	return any;
}
