/* SPDX-License-Identifier: MIT
 *
 * One pass over a line table notes which addresses each sequence of each unit
 * covers; a search runs the program of one unit again.
 */
#include "output/report/lines.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/format.h"
#include "base/files/build_id.h"
#include "base/files/trusted.h"

enum { COPY = 1, ADVANCE_PC, ADVANCE_LINE, SET_FILE, CONST_ADD_PC = 8, FIXED_ADVANCE_PC };
enum { END_SEQUENCE = 1, SET_ADDRESS };
enum {
	FORM_BLOCK = 0x09,
	FORM_DATA2 = 0x05,
	FORM_DATA4 = 0x06,
	FORM_DATA8 = 0x07,
	FORM_STRING = 0x08,
	FORM_DATA1 = 0x0b,
	FORM_STRP = 0x0e,
	FORM_UDATA = 0x0f,
	FORM_DATA16 = 0x1e,
	FORM_LINE_STRP = 0x1f
};
enum { CONTENT_PATH = 1 };

#define MAX_FORMATS 16

/* Bytes that are read in order; failed once something did not fit. */
struct bytes {
	const unsigned char *at, *end;
	bool failed;
};

struct sequence {
	uint64_t low, high;
	struct bytes unit;
};

struct cp_lines {
	struct bytes lines, strings, line_strings;
	struct sequence *sequences;
	size_t nsequences;
};

/* One unit's line program. */
struct program {
	const struct cp_lines *lines;
	unsigned version;
	bool wide; /* 64-bit DWARF */
	unsigned minimum, range, base;
	int line_base;
	unsigned char operands[256];
	struct bytes files; /* from the tables on */
	struct bytes code;
};

struct row {
	uint64_t address, file;
	int64_t line;
};

/* ---- numbers ---- */

static uint64_t read_fixed(struct bytes *bytes, unsigned size)
{
	uint64_t value = 0;

	if ((size_t)(bytes->end - bytes->at) < size) {
		bytes->failed = true;
		bytes->at = bytes->end;
		return 0;
	}
	memcpy(&value, bytes->at, size); /* of this machine's byte order */
	bytes->at += size;
	return value;
}

static uint64_t read_leb(struct bytes *bytes, bool is_signed)
{
	uint64_t value = 0;
	unsigned shift = 0, byte;

	do {
		byte = (unsigned)read_fixed(bytes, 1);
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
	if (is_signed && (byte & 0x40) && shift < 64)
		value |= ~UINT64_C(0) << shift;
	return value;
}

static void skip_bytes(struct bytes *bytes, uint64_t size)
{
	if (size > (uint64_t)(bytes->end - bytes->at))
		bytes->failed = true;
	bytes->at = bytes->failed ? bytes->end : bytes->at + size;
}

static const char *read_text(struct bytes *bytes)
{
	const unsigned char *begin = bytes->at,
			    *end = memchr(begin, 0, (size_t)(bytes->end - begin));

	bytes->failed |= !end;
	bytes->at = end ? end + 1 : bytes->end;
	return end ? (const char *)begin : "";
}

static const char *text_at(const struct bytes *section, uint64_t offset)
{
	struct bytes bytes = *section;

	if (!section->at)
		return NULL;
	skip_bytes(&bytes, offset);
	return bytes.failed ? NULL : read_text(&bytes);
}

/* ---- headers ---- */

/* The next unit of the table, cut off from it; false after the last. */
static bool next_unit(struct bytes *table, struct bytes *unit, bool *wide)
{
	uint64_t length;

	if (table->failed || table->at == table->end)
		return false;
	length = read_fixed(table, 4);
	*wide = length == 0xffffffff;
	if (*wide)
		length = read_fixed(table, 8);
	*unit = *table;
	skip_bytes(table, length);
	unit->end = table->at;
	return !table->failed;
}

static bool read_program(const struct cp_lines *lines, struct bytes unit, bool wide,
	struct program *program)
{
	uint64_t header;

	program->lines = lines;
	program->wide = wide;
	program->version = (unsigned)read_fixed(&unit, 2);
	if (program->version < 2 || program->version > 5)
		return false;
	if (program->version == 5)
		read_fixed(&unit, 2); /* sizes of addresses and of segment selectors */
	header = read_fixed(&unit, wide ? 8 : 4);
	program->code = unit;
	skip_bytes(&program->code, header);
	program->minimum = (unsigned)read_fixed(&unit, 1);
	if (program->version >= 4)
		read_fixed(&unit, 1); /* operations per instruction: VLIW only */
	read_fixed(&unit, 1);         /* default of is_stmt */
	program->line_base = (int)(read_fixed(&unit, 1) ^ 0x80) - 0x80; /* signed */
	program->range = (unsigned)read_fixed(&unit, 1);
	program->base = (unsigned)read_fixed(&unit, 1);
	for (unsigned i = 1; i < program->base; i++)
		program->operands[i] = (unsigned char)read_fixed(&unit, 1);
	program->files = unit;
	return !unit.failed && !program->code.failed && program->range && program->base;
}

/* ---- names of files ---- */

static const char *form_text(
	const struct program *program, struct bytes *bytes, uint64_t form)
{
	unsigned size = program->wide ? 8 : 4;

	switch (form) {
	case FORM_STRING:
		return read_text(bytes);
	case FORM_STRP:
		return text_at(&program->lines->strings, read_fixed(bytes, size));
	case FORM_LINE_STRP:
		return text_at(&program->lines->line_strings, read_fixed(bytes, size));
	case FORM_UDATA:
		read_leb(bytes, false);
		return NULL;
	case FORM_BLOCK:
		skip_bytes(bytes, read_leb(bytes, false));
		return NULL;
	case FORM_DATA16:
		skip_bytes(bytes, 16);
		return NULL;
	case FORM_DATA1:
	case FORM_DATA2:
	case FORM_DATA4:
	case FORM_DATA8:
		skip_bytes(bytes, form == FORM_DATA1   ? 1
				  : form == FORM_DATA2 ? 2
				  : form == FORM_DATA4 ? 4
						       : 8);
		return NULL;
	default:
		bytes->failed = true;
		return NULL;
	}
}

/* Reads one table of DWARF 5; the path of entry `wanted`, if there is one. */
static const char *read_entries(
	const struct program *program, struct bytes *bytes, uint64_t wanted)
{
	uint64_t contents[MAX_FORMATS] = {0}, forms[MAX_FORMATS] = {0}, count;
	unsigned nformats = (unsigned)read_fixed(bytes, 1);
	const char *path = NULL;

	bytes->failed |= nformats > MAX_FORMATS;
	for (unsigned i = 0; !bytes->failed && i < nformats; i++) {
		contents[i] = read_leb(bytes, false);
		forms[i] = read_leb(bytes, false);
	}
	count = read_leb(bytes, false);
	for (uint64_t entry = 0; !bytes->failed && entry < count; entry++)
		for (unsigned i = 0; i < nformats; i++) {
			const char *value = form_text(program, bytes, forms[i]);

			if (entry == wanted && contents[i] == CONTENT_PATH)
				path = value;
		}
	return path;
}

static const char *old_file_name(struct bytes bytes, uint64_t wanted)
{
	while (!bytes.failed && *read_text(&bytes))
		; /* directories */
	for (uint64_t entry = 1; !bytes.failed; entry++) {
		const char *path = read_text(&bytes);

		if (!*path || entry == wanted)
			return *path ? path : NULL;
		for (unsigned i = 0; i < 3; i++)
			read_leb(&bytes, false); /* directory, time, size */
	}
	return NULL;
}

static const char *file_name(const struct program *program, uint64_t wanted)
{
	struct bytes bytes = program->files;
	const char *path, *slash;

	if (program->version < 5) {
		path = old_file_name(bytes, wanted);
	} else {
		read_entries(program, &bytes, UINT64_MAX);
		path = read_entries(program, &bytes, wanted);
	}
	slash = path ? strrchr(path, '/') : NULL;
	return slash ? slash + 1 : path;
}

/* ---- running a program ---- */

struct run {
	struct program *program;
	struct row row, before; /* before: of this sequence, if it has begun */
	bool begun, ended;      /* the sequence; reset by whoever looks at rows */
};

static void advance_run(struct run *run, uint64_t operations)
{
	run->row.address += operations * run->program->minimum;
}

/* true: a row is there. */
static bool run_extended(struct run *run)
{
	struct bytes *code = &run->program->code;
	uint64_t length = read_leb(code, false);
	struct bytes operand = *code;
	unsigned opcode;

	skip_bytes(code, length);
	operand.end = code->at;
	opcode = (unsigned)read_fixed(&operand, 1);
	if (opcode == SET_ADDRESS)
		run->row.address = read_fixed(&operand, length == 5 ? 4 : 8);
	run->ended = opcode == END_SEQUENCE;
	return run->ended;
}

static void run_standard(struct run *run, unsigned opcode)
{
	struct program *program = run->program;
	struct bytes *code = &program->code;

	if (opcode == ADVANCE_PC)
		advance_run(run, read_leb(code, false));
	else if (opcode == ADVANCE_LINE)
		run->row.line += (int64_t)read_leb(code, true);
	else if (opcode == SET_FILE)
		run->row.file = read_leb(code, false);
	else if (opcode == CONST_ADD_PC)
		advance_run(run, (255 - program->base) / program->range);
	else if (opcode == FIXED_ADVANCE_PC)
		run->row.address += read_fixed(code, 2);
	else
		for (unsigned i = 0; i < program->operands[opcode]; i++)
			read_leb(code, false);
}

static void run_special(struct run *run, unsigned opcode)
{
	const struct program *program = run->program;

	opcode -= program->base;
	advance_run(run, opcode / program->range);
	run->row.line += program->line_base + (int)(opcode % program->range);
}

/* Goes on to the next row; false: there is none. */
static bool next_row(struct run *run)
{
	struct bytes *code = &run->program->code;
	bool there = false;

	if (run->ended)
		run->begun = false;
	if (!run->begun)
		run->row = (struct row){0, 1, 1};
	run->ended = false;
	run->before = run->row;
	while (!there && !code->failed && code->at < code->end) {
		unsigned opcode = (unsigned)read_fixed(code, 1);

		there = opcode == COPY || opcode >= run->program->base;
		if (opcode >= run->program->base)
			run_special(run, opcode);
		else if (opcode == 0)
			there = run_extended(run);
		else if (opcode != COPY)
			run_standard(run, opcode);
	}
	return there && !code->failed;
}

/* ---- the index ---- */

/* Every sequence of a unit; into NULL: only counted. */
static size_t index_unit(struct run *run, struct bytes unit, struct sequence *into)
{
	uint64_t low = 0;
	size_t count = 0;

	while (next_row(run)) {
		if (!run->begun)
			low = run->row.address;
		run->begun = true;
		if (!run->ended)
			continue;
		if (into)
			into[count] = (struct sequence){low, run->row.address, unit};
		count++;
	}
	return count;
}

static size_t index_table(const struct cp_lines *lines, struct sequence *into)
{
	struct bytes table = lines->lines, unit, whole;
	size_t count = 0;
	bool wide;

	for (whole = table; next_unit(&table, &unit, &wide); whole = table) {
		struct program program = {0};
		struct run run = {.program = &program};

		whole.end = table.at;
		if (read_program(lines, unit, wide, &program))
			count += index_unit(&run, whole, into ? into + count : NULL);
	}
	return count;
}

/* Rows without a line are the compiler's own. */
static bool find_row(struct program *program, uint64_t offset, struct row *found)
{
	struct run run = {.program = program};

	while (next_row(&run)) {
		if (run.begun && run.before.address <= offset &&
			run.row.address > offset && run.before.line > 0) {
			*found = run.before;
			return true;
		}
		run.begun = true;
	}
	return false;
}

bool cp_lines_find(const struct cp_lines *lines, uint64_t offset, const char **source,
	unsigned *line)
{
	for (size_t i = 0; i < lines->nsequences; i++) {
		const struct sequence *sequence = &lines->sequences[i];
		struct bytes table = sequence->unit, unit;
		struct program program = {0};
		struct row row;
		bool wide;

		if (offset < sequence->low || offset >= sequence->high ||
			!next_unit(&table, &unit, &wide) ||
			!read_program(lines, unit, wide, &program) ||
			!find_row(&program, offset, &row))
			continue;
		*source = file_name(&program, row.file);
		*line = (unsigned)row.line;
		return *source != NULL;
	}
	return false;
}

/* ---- the file ---- */

static bool is_inside(uint64_t offset, uint64_t size, uint64_t all)
{
	return offset <= all && size <= all - offset;
}

static bool has_id(const unsigned char *notes, uint64_t size, const char *build_id)
{
	char found[2 * CP_BUILD_ID_MAX + 1];

	cp_build_id_text(notes, size, found);
	return found[0] && strcmp(found, build_id) == 0;
}

static void take_section(struct cp_lines *lines, const char *name,
	const unsigned char *begin, uint64_t size)
{
	struct bytes section = {begin, begin + size, false};

	if (strcmp(name, ".debug_line") == 0)
		lines->lines = section;
	else if (strcmp(name, ".debug_str") == 0)
		lines->strings = section;
	else if (strcmp(name, ".debug_line_str") == 0)
		lines->line_strings = section;
}

/* The sections that matter; false: another build, or not what we can read. */
static bool take_sections(struct cp_lines *lines, const unsigned char *file,
	uint64_t size, const char *build_id)
{
	const ElfW(Ehdr) *header = (const void *)file;
	const ElfW(Shdr) * sections, *names;
	bool same = strcmp(build_id, "-") == 0;

	if (size < sizeof(*header) || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
		header->e_ident[EI_CLASS] != ELFCLASS64 ||
		header->e_shentsize != sizeof(*sections) || header->e_shoff % 8 ||
		!is_inside(header->e_shoff, header->e_shnum * sizeof(*sections), size) ||
		header->e_shstrndx >= header->e_shnum)
		return false;
	sections = (const void *)(file + header->e_shoff);
	names = &sections[header->e_shstrndx];
	if (!is_inside(names->sh_offset, names->sh_size, size) || !names->sh_size ||
		file[names->sh_offset + names->sh_size - 1])
		return false;
	for (unsigned i = 0; i < header->e_shnum; i++) {
		const ElfW(Shdr) *section = &sections[i];

		if (section->sh_type == SHT_NOBITS ||
			section->sh_flags & SHF_COMPRESSED ||
			!is_inside(section->sh_offset, section->sh_size, size) ||
			section->sh_name >= names->sh_size)
			continue;
		if (section->sh_type == SHT_NOTE)
			same |= has_id(
				file + section->sh_offset, section->sh_size, build_id);
		take_section(lines,
			(const char *)file + names->sh_offset + section->sh_name,
			file + section->sh_offset, section->sh_size);
	}
	return same && lines->lines.at;
}

static bool open_file(struct cp_lines *lines, const char *path, const char *build_id)
{
	char why[160];
	int fd = cp_trusted_open(
		AT_FDCWD, path, CP_NAMED, CP_TRUSTED_PROGRAM, why, sizeof(why));
	void *bytes = MAP_FAILED;
	struct stat status;

	if (fd < 0)
		return false;
	if (cp_fd_stat(fd, &status) == 0 && status.st_size > 0)
		bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	cp_fd_close(fd);
	if (bytes == MAP_FAILED)
		return false;
	memset(lines, 0, sizeof(*lines));
	if (take_sections(lines, bytes, (uint64_t)status.st_size, build_id))
		return true;
	munmap(bytes, (size_t)status.st_size);
	return false;
}

const struct cp_lines *cp_lines_open(
	struct cp_arena *arena, const char *path, const char *build_id)
{
	struct cp_lines *lines = cp_arena_alloc(arena, sizeof(*lines));
	char apart[160];

	cp_format(apart, sizeof(apart), "/usr/lib/debug/.build-id/%.2s/%s.debug",
		build_id, strlen(build_id) > 2 ? build_id + 2 : "");
	if (!open_file(lines, path, build_id) && !open_file(lines, apart, build_id))
		return NULL;
	lines->nsequences = index_table(lines, NULL);
	lines->sequences =
		cp_arena_alloc(arena, lines->nsequences * sizeof(*lines->sequences));
	index_table(lines, lines->sequences);
	return lines;
}
