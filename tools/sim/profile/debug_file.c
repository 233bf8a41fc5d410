/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/debug_file.h"

#include <limits.h>

#include "base/files/build_id.h"
#include "base/files/debug_path.h"
#include "pub_tool_libcfile.h"
#include "profile/profile.h"
#include "valgrind/core.h"

#define LEAST_ID 2 /* bytes: the first names a directory */

struct build_id {
	UChar bytes[CP_BUILD_ID_MAX];
	UInt size;
};

/* The facts that a section of the file states about it. */
struct said {
	Int fd;
	struct build_id id;
	HChar link[256]; /* the debug file's name */
	UInt checksum;   /* of its bytes */
};

static const HChar *variable(const HChar *name)
{
	return VG_(getenv)(name);
}

/* A note's header, "GNU" and then the ID. */
static void read_id(struct said *said, const Elf64_Shdr *section)
{
	const UInt head = sizeof(Elf64_Nhdr) + 4;
	ULong size = section->sh_size - head;

	if (section->sh_size <= head || size > sizeof(said->id.bytes) ||
		!elf_read(
			said->fd, said->id.bytes, (UInt)size, section->sh_offset + head))
		return;
	said->id.size = (UInt)size;
}

static void read_link(struct said *said, const Elf64_Shdr *section)
{
	UInt size = section->sh_size < sizeof(said->link) ? (UInt)section->sh_size
							  : (UInt)sizeof(said->link);

	if (section->sh_size < 8 ||
		!elf_read(said->fd, said->link, size, section->sh_offset) ||
		!elf_read(said->fd, &said->checksum, 4,
			section->sh_offset + section->sh_size - 4))
		size = 0;
	said->link[size < sizeof(said->link) ? size : size - 1] =
		'\0'; /* the checksum is behind it */
}

/* Names of sections are cut. */
static void look_at(void *context, const Elf64_Shdr *section, const HChar *name)
{
	if (section->sh_type == SHT_NOTE &&
		VG_(strncmp)(name, ".note.gnu.build", 15) == 0)
		read_id(context, section);
	if (VG_(strncmp)(name, ".gnu_debuglink", 14) == 0)
		read_link(context, section);
}

static struct said said_by(const HChar *path)
{
	struct said said = {.fd = -1};
	Elf64_Ehdr file;

	said.fd = elf_open(path, &file);
	if (said.fd < 0)
		return said;
	elf_sections_each(path, look_at, &said);
	VG_(close)(said.fd);
	return said;
}

/* CRC-32, as objcopy writes it into a debug link. */
static Bool has_checksum(Int fd, UInt checksum)
{
	static const UInt of_half[16] = {0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac,
		0x76dc4190, 0x6b6b51f4, 0x4db26158, 0x5005713c, 0xedb88320, 0xf00f9344,
		0xd6d6a3e8, 0xcb61b38c, 0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c};
	UChar bytes[4096];
	Long size = VG_(fsize)(fd);
	UInt sum = 0xffffffff;

	for (Long at = 0; at < size; at += (Long)sizeof(bytes)) {
		UInt n = size - at < (Long)sizeof(bytes) ? (UInt)(size - at)
							 : (UInt)sizeof(bytes);

		if (!elf_read(fd, bytes, n, (ULong)at))
			return False;
		for (UInt i = 0; i < n; i++) {
			sum ^= bytes[i];
			sum = of_half[sum & 15] ^ sum >> 4;
			sum = of_half[sum & 15] ^ sum >> 4;
		}
	}
	return ~sum == checksum;
}

/* By the build ID, or the debug link's checksum where there is none. */
static Int open_same(const HChar *path, const struct said *said, Elf64_Ehdr *file)
{
	Int fd = elf_open(path, file);
	const struct build_id *id = &said->id;
	Bool same;

	if (fd < 0)
		return -1;
	if (id->size < LEAST_ID) {
		same = has_checksum(fd, said->checksum);
	} else {
		struct said its = said_by(path);

		same = its.id.size == id->size &&
		       VG_(memcmp)(its.id.bytes, id->bytes, id->size) == 0;
	}
	if (same)
		return fd;
	VG_(close)(fd);
	return -1;
}

static Int open_by_id(const struct said *said, Elf64_Ehdr *file)
{
	const struct build_id *id = &said->id;
	HChar path[PATH_MAX], cache[PATH_MAX];
	Int fd;

	cp_debug_path_of_system(path, sizeof(path), id->bytes, id->size);
	fd = open_same(path, said, file);
	if (fd >= 0 || !cp_debug_cache(cache, sizeof(cache), variable))
		return fd;
	cp_debug_path_of_cache(path, sizeof(path), cache, id->bytes, id->size);
	return open_same(path, said, file);
}

static Int open_by_name(const HChar *of, const struct said *said, Elf64_Ehdr *file)
{
	static const struct {
		const HChar *above, *below;
	} places[] = {{"", "/"}, {"", "/.debug/"}, {CP_DEBUG_DIRECTORY, "/"}};
	const HChar *slash = VG_(strrchr)(of, '/');
	HChar path[2 * PATH_MAX], directory[PATH_MAX];
	Int fd = -1;

	if (!slash || !*said->link || (SizeT)(slash - of) >= sizeof(directory))
		return -1;
	VG_(memcpy)(directory, of, (SizeT)(slash - of));
	directory[slash - of] = '\0';
	for (UInt i = 0; fd < 0 && i < sizeof(places) / sizeof(*places); i++) {
		VG_(snprintf)
		(path, sizeof(path), "%s%s%s%s", places[i].above, directory,
			places[i].below, said->link);
		fd = open_same(path, said, file);
	}
	return fd;
}

Int debug_file_open(const HChar *of, Elf64_Ehdr *file)
{
	struct said said = said_by(of);
	Int fd = said.id.size < LEAST_ID ? -1 : open_by_id(&said, file);

	return fd >= 0 ? fd : open_by_name(of, &said, file);
}
