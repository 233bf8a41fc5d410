/* SPDX-License-Identifier: MIT
 *
 * The build ID among the notes of an ELF file: the one reader of what linkers write as
 * .note.gnu.build-id.  No libc, as one of its callers has none.
 *
 * Source of the layout: the gABI, "Note Section"; names and descriptors are padded to
 * four bytes, in files of 32 and of 64 bits alike.
 */
#ifndef CACHEPEEK_BASE_FILES_BUILD_ID_H
#define CACHEPEEK_BASE_FILES_BUILD_ID_H

#include <elf.h>
#include <stddef.h>
#include <stdint.h>

#define CP_BUILD_ID_MAX                                                                  \
	32 /* bytes; linkers write 8, 16 or 20 unless they are told what */

/* The ID's bytes, inside of notes, and their number in *length; NULL if none of the notes
 * is a build ID of 1 to CP_BUILD_ID_MAX bytes.  notes: size bytes of a section or segment
 * of notes, at any address, which may be damaged or cut short. */
static inline const unsigned char *cp_build_id(
	const void *notes, size_t size, uint32_t *length)
{
	const unsigned char *note = (const unsigned char *)notes;
	const size_t head = sizeof(Elf64_Nhdr);

	while (size >= head) {
		Elf64_Nhdr is;
		const unsigned char *name = note + head;
		size_t from, padded;

		__builtin_memcpy(&is, note, head);
		from = head + (((size_t)is.n_namesz + 3) & ~(size_t)3);
		padded = from + (((size_t)is.n_descsz + 3) & ~(size_t)3);
		if (from > size || is.n_descsz > size - from)
			return NULL;
		if (is.n_type == NT_GNU_BUILD_ID && is.n_namesz == 4 && name[0] == 'G' &&
			name[1] == 'N' && name[2] == 'U' && name[3] == '\0' &&
			is.n_descsz > 0 && is.n_descsz <= CP_BUILD_ID_MAX) {
			*length = is.n_descsz;
			return note + from;
		}
		if (padded >= size)
			return NULL;
		note += padded;
		size -= padded;
	}
	return NULL;
}

/* The same in digits of base 16, as debuggers name files by it, or "". */
static inline void cp_build_id_text(
	const void *notes, size_t size, char text[2 * CP_BUILD_ID_MAX + 1])
{
	uint32_t length = 0;
	const unsigned char *id = cp_build_id(notes, size, &length);

	for (uint32_t i = 0; i < length; i++) {
		text[2 * (size_t)i] = "0123456789abcdef"[id[i] >> 4];
		text[2 * (size_t)i + 1] = "0123456789abcdef"[id[i] & 15];
	}
	text[2 * (size_t)length] = '\0';
}

#endif
