/* SPDX-License-Identifier: MIT
 *
 * The build ID among notes: the one that libdw finds in this program, behind other notes,
 * and none in notes that are damaged, cut short at any byte, or of somebody else.
 */
#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/files/build_id.h"
#include "tests/tap/tap.h"

/* At any address: notes begin at an odd one. */
static unsigned char bytes[257], *const notes = bytes + 1;
static size_t used;

static void add(uint32_t type, const char *name, uint32_t name_size, const void *value,
	uint32_t size)
{
	const uint32_t head[] = {name_size, size, type};

	memset(notes + used, 0xee, sizeof(bytes) - 1 - used);
	memcpy(notes + used, head, sizeof(head));
	memcpy(notes + used + sizeof(head), name, name_size);
	used += sizeof(head) + ((name_size + 3) & ~3u);
	memcpy(notes + used, value, size);
	used += (size + 3) & ~3u;
}

static const char *text_of(size_t size)
{
	static char text[2 * CP_BUILD_ID_MAX + 1];

	cp_build_id_text(notes, size, text);
	return text;
}

static void made_up(void)
{
	unsigned early = 0;

	add(NT_GNU_PROPERTY_TYPE_0, "GNU", 4, "12345", 5);
	add(NT_GNU_BUILD_ID, "Go", 3, "another's", 9);
	add(NT_GNU_BUILD_ID, "GNX", 4, "nearly", 6);
	add(NT_GNU_BUILD_ID, "GNU", 4, "", 0);
	is_string(text_of(used), "", "notes of others, and an empty one, are none");
	add(NT_GNU_BUILD_ID, "GNU", 4, "\x01\xab\xff\x00\x7e", 5);
	for (size_t size = 0; size < used - 3; size++)
		early += text_of(size)[0] != '\0';
	is_u64(early, 0, "what is cut short is none");
	is_string(text_of(used - 3), "01abff007e",
		"the padding behind the last one may lack");
	is_string(text_of(used), "01abff007e", "the ID behind four other notes");
}

static void too_large(void)
{
	unsigned char id[CP_BUILD_ID_MAX + 1];
	const uint32_t huge[] = {0xfffffffe, 0xfffffffe, NT_GNU_BUILD_ID};
	unsigned i;

	for (i = 0; i < sizeof(id); i++)
		id[i] = (unsigned char)i;
	used = 0;
	add(NT_GNU_BUILD_ID, "GNU", 4, id, sizeof(id));
	is_string(text_of(used), "", "one byte more than there is room for is none");
	used = 0;
	add(NT_GNU_BUILD_ID, "GNU", 4, id, sizeof(id) - 1);
	is_u64(strlen(text_of(used)), 2 * CP_BUILD_ID_MAX,
		"as many as there is room for are one");
	memcpy(notes, huge, sizeof(huge));
	is_string(text_of(used), "", "sizes that are no sizes are none");
}

static void of_this_program(void)
{
	int fd = open("/proc/self/exe", O_RDONLY);
	Elf *elf;
	const void *expected = NULL;
	ssize_t length = 0;
	char text[2 * CP_BUILD_ID_MAX + 1] = "", *at = text;
	Elf_Scn *section = NULL;
	unsigned same = 0;

	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	length = dwelf_elf_gnu_build_id(elf, &expected);
	for (ssize_t i = 0; i < length; i++)
		at += sprintf(at, "%02x", ((const unsigned char *)expected)[i]);
	while ((section = elf_nextscn(elf, section)) != NULL) {
		Elf_Data *data = elf_rawdata(section, NULL);
		char found[2 * CP_BUILD_ID_MAX + 1];

		if (elf64_getshdr(section)->sh_type != SHT_NOTE)
			continue;
		cp_build_id_text(data->d_buf, data->d_size, found);
		same += strcmp(found, text) == 0;
	}
	ok(length > 0 && same == 1, "libdw finds the same in this program (%s)", text);
	elf_end(elf);
	close(fd);
}

int main(void)
{
	plan(8);
	made_up();
	too_large();
	of_this_program();
	return 0;
}
