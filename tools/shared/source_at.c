/* SPDX-License-Identifier: MIT */
#include "tools/shared/source_at.h"

#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/files/build_id.h"
#include "base/files/debug_path.h"
#include "base/files/trusted.h"
#include "base/format.h"
#include "output/report/report_parts.h"
#include "tools/shared/units.h"

/* A file stays mapped, as there are few. */
struct opened {
	struct opened *next;
	const char *object;
	struct cp_units *units; /* NULL: it has no lines that could be read */
};

/* libdw's own look for it needs libraries of compression in a static program. */
static bool is_build(Elf *elf, const char *build_id)
{
	bool is = strcmp(build_id, "-") == 0;
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	while (!is && (section = elf_nextscn(elf, section))) {
		Elf_Data *notes =
			gelf_getshdr(section, &header) && header.sh_type == SHT_NOTE
				? elf_rawdata(section, NULL)
				: NULL;
		char found[2 * CP_BUILD_ID_MAX + 1] = "";

		if (notes)
			cp_build_id_text(notes->d_buf, notes->d_size, found);
		is = strcmp(found, build_id) == 0;
	}
	return is;
}

static struct cp_units *units_of(const char *path, const char *build_id)
{
	char why[160];
	int fd = cp_trusted_open(
		AT_FDCWD, path, CP_NAMED, CP_TRUSTED_PROGRAM, why, sizeof(why));
	Dwarf *dwarf = fd >= 0 ? dwarf_begin(fd, DWARF_C_READ) : NULL;
	bool is_read = dwarf && is_build(dwarf_getelf(dwarf), build_id) &&
		       elf_cntl(dwarf_getelf(dwarf), ELF_C_FDREAD) == 0;

	if (fd >= 0)
		close(fd);
	if (is_read)
		return cp_units_make(dwarf, 0);
	dwarf_end(dwarf);
	return NULL;
}

/* object: "BUILDID PATH" */
static struct cp_units *open_object(const char *object)
{
	size_t length = strcspn(object, " ");
	char build_id[160], apart[200];
	struct cp_units *units;

	if (!object[length] || length >= sizeof(build_id))
		return NULL;
	cp_format(build_id, sizeof(build_id), "%.*s", (int)length, object);
	units = units_of(object + length + 1, build_id);
	if (units || length < 3)
		return units;
	cp_format(apart, sizeof(apart), CP_DEBUG_DIRECTORY "/.build-id/%.2s/%s.debug",
		build_id, build_id + 2);
	return units_of(apart, build_id);
}

/* Each file is opened once. */
static const struct cp_units *find_object(const char *object)
{
	static struct opened *opened;
	struct opened *one = opened;

	while (one && strcmp(one->object, object) != 0)
		one = one->next;
	if (one)
		return one->units;
	one = malloc(sizeof(*one));
	if (one)
		*one = (struct opened){opened, strdup(object), open_object(object)};
	if (!one || !one->object) {
		free(one);
		return NULL;
	}
	opened = one;
	return one->units;
}

static const char *source_at(const char *object, uint64_t offset, unsigned *line)
{
	const struct cp_units *units = find_object(object);
	const char *source, *slash;
	Dwarf_Line *row;
	Dwarf_Addr bias;
	Dwarf_Die unit;
	int number = 0;

	if (!units || !cp_unit_at(units, offset, &unit, &bias))
		return NULL;
	row = dwarf_getsrc_die(&unit, offset);
	source = row ? dwarf_linesrc(row, NULL, NULL) : NULL;
	if (!source || dwarf_lineno(row, &number) != 0 || number <= 0)
		return NULL;
	*line = (unsigned)number;
	slash = strrchr(source, '/');
	return slash ? slash + 1 : source;
}

void cp_source_at_start(void)
{
	cp_source_at = source_at;
}
