/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The mappings that code of the profile was executed from, with the build ID of
 * the file as it is now: it may be replaced before anybody reads the profile.
 */
#include <elf.h>

#include "pub_tool_libcfile.h"
#include "base/files/build_id.h"
#include "profile/profile.h"
#include "valgrind/core.h"

struct module {
	struct module *next;
	Addr start, end;
	UInt id;
};

/* The modules that the file has got so far; a fork's child tells it again. */
static struct {
	struct module *modules; /* those that are mapped */
	UInt n;
} mapped;

/* ---- build IDs ---- */

static Bool read_at(Int fd, void *to, UInt size, ULong offset)
{
	SysRes result = VG_(pread)(fd, to, (Int)size, (OffT)offset);

	return !sr_isError(result) && sr_Res(result) == size;
}

static UInt find_in_segments(Int fd, const Elf64_Ehdr *file, UChar *to)
{
	UChar notes[1024];
	Elf64_Phdr segment;

	for (UInt i = 0; i < file->e_phnum; i++) {
		const UChar *id;
		UInt size, length;

		if (!read_at(fd, &segment, sizeof(segment),
			    file->e_phoff + i * sizeof(segment)))
			return 0;
		size = segment.p_filesz < sizeof(notes) ? (UInt)segment.p_filesz
							: (UInt)sizeof(notes);
		if (segment.p_type != PT_NOTE ||
			!read_at(fd, notes, size, segment.p_offset))
			continue;
		id = cp_build_id(notes, size, &length);
		if (!id)
			continue;
		VG_(memcpy)(to, id, length);
		return length;
	}
	return 0;
}

/* The size of what is in to then, which has room for CP_BUILD_ID_MAX bytes; 0: not
 * known. */
static UInt read_build_id(const HChar *path, UChar *to)
{
	SysRes opened = VG_(open)(path, VKI_O_RDONLY | VKI_O_NONBLOCK, 0);
	Elf64_Ehdr file;
	UInt found = 0;

	if (sr_isError(opened))
		return 0;
	if (read_at((Int)sr_Res(opened), &file, sizeof(file), 0) &&
		VG_(memcmp)(file.e_ident, ELFMAG, SELFMAG) == 0)
		found = find_in_segments((Int)sr_Res(opened), &file, to);
	VG_(close)((Int)sr_Res(opened));
	return found;
}

/* ---- modules ---- */

static struct cp_profile_module *write_module(const NSegment *segment, UInt id)
{
	const HChar *path =
		segment->kind == SkFileC ? VG_(am_get_filename)(segment) : NULL;
	UInt length = path ? (UInt)VG_(strlen)(path) : 0;
	struct cp_profile_module *out = profile_allocate(sizeof(*out) + length + 1);

	if (!out)
		return NULL;
	out->id = id;
	out->start = segment->start;
	out->end = segment->end + 1;
	out->offset = (ULong)segment->offset;
	if (path) {
		VG_(memcpy)(out->path, path, length + 1);
		out->build_id_size = read_build_id(path, out->build_id);
	}
	profile_publish(out, CP_PROFILE_MODULE);
	return out;
}

static UInt new_module(Addr a)
{
	const NSegment *segment = VG_(am_find_nsegment)(a);
	struct module *m;

	if (!segment || !write_module(segment, mapped.n + 1))
		return 0;
	m = VG_(malloc)("cachepeek.module", sizeof(*m));
	m->id = ++mapped.n;
	m->start = segment->start;
	m->end = segment->end + 1;
	m->next = mapped.modules;
	mapped.modules = m;
	if (segment->kind == SkFileC && VG_(am_get_filename)(segment))
		profile_script_module(VG_(am_get_filename)(segment), segment->start,
			(ULong)segment->offset);
	return m->id;
}

UInt profile_module_at(Addr a)
{
	for (const struct module *m = mapped.modules; m; m = m->next)
		if (a >= m->start && a < m->end)
			return m->id;
	return new_module(a);
}

Bool profile_module_unmapped(Addr a, SizeT len)
{
	struct module **at = &mapped.modules;
	Bool any = False;

	while (*at) {
		struct module *m = *at;

		if (m->start >= a + len || m->end <= a) {
			at = &m->next;
			continue;
		}
		*at = m->next;
		VG_(free)(m);
		any = True;
	}
	return any;
}

void profile_module_fork_child(void)
{
	while (mapped.modules)
		profile_module_unmapped(mapped.modules->start, 1);
	mapped.n = 0;
}
