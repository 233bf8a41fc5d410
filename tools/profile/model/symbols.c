/* SPDX-License-Identifier: MIT */
#include "tools/profile/model/symbols.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/files/trusted.h"
#include "base/text/table.h"
#include "tools/profile/model/disassemble.h"
#include "tools/profile/model/symbols_parts.h"
#include "tools/shared/symbol_at.h"
#include "tools/shared/units.h"

struct entry;

/* In the order of their addresses. */
struct entries {
	size_t n;
	struct entry *entry;
};

struct cp_symbols {
	Dwfl *dwfl;
	Dwfl_Module *module;
	Elf *elf;
	int fd;
	struct cp_symbol_ranges *ranges; /* made when a symbol is asked for */
	struct cp_units *units;          /* made when a line is */
	const char *unread;              /* why no lines can be read; NULL: they can */
	bool collected;
	struct entries variables, functions;
	Dwarf_Addr bias; /* of the addresses in DWARF */
};

const Dwfl_Callbacks cp_dwfl_callbacks = {
	.find_elf = dwfl_build_id_find_elf,
	.find_debuginfo = dwfl_standard_find_debuginfo,
	.section_address = dwfl_offline_section_address,
};

static const char *text_of(struct cp_arena *arena, const char *text)
{
	return cp_text_safe(arena, cp_slice_of(text));
}

/* ---- opening ---- */

static const char *check_build_id(
	struct cp_symbols *symbols, const uint8_t *build_id, size_t size)
{
	const unsigned char *bits;
	GElf_Addr address;
	int found = dwfl_module_build_id(symbols->module, &bits, &address);

	if (!size || (found == (int)size && memcmp(bits, build_id, size) == 0))
		return NULL;
	return "it is not the file that ran: its build ID is another one";
}

static const char *load_module(struct cp_symbols *symbols, const char *path,
	const uint8_t *build_id, size_t build_id_size)
{
	static char reason[160];
	GElf_Addr bias;

	symbols->fd = cp_trusted_open(
		AT_FDCWD, path, CP_NAMED, CP_TRUSTED_PROGRAM, reason, sizeof(reason));
	if (symbols->fd < 0)
		return reason;
	symbols->dwfl = dwfl_begin(&cp_dwfl_callbacks);
	if (!symbols->dwfl)
		return "libdw does not start";
	dwfl_report_begin(symbols->dwfl);
	symbols->module = dwfl_report_elf(symbols->dwfl, path, path, -1, 0, true);
	dwfl_report_end(symbols->dwfl, NULL, NULL);
	if (!symbols->module)
		return "it is no ELF file";
	symbols->elf = dwfl_module_getelf(symbols->module, &bias);
	if (!symbols->elf)
		return "it is no ELF file";
	return check_build_id(symbols, build_id, build_id_size);
}

struct cp_symbols *cp_symbols_open(
	const char *path, const uint8_t *build_id, size_t build_id_size, const char **why)
{
	struct cp_symbols *symbols = calloc(1, sizeof(*symbols));

	*why = symbols ? load_module(symbols, path, build_id, build_id_size)
		       : "no memory";
	if (!*why)
		return symbols;
	cp_symbols_close(symbols);
	return NULL;
}

void cp_symbols_close(struct cp_symbols *symbols)
{
	if (!symbols)
		return;
	if (symbols->dwfl)
		dwfl_end(symbols->dwfl);
	if (symbols->fd >= 0)
		close(symbols->fd);
	cp_symbol_ranges_free(symbols->ranges);
	cp_units_free(symbols->units);
	free(symbols->variables.entry);
	free(symbols->functions.entry);
	free(symbols);
}

/* ---- addresses ---- */

/* The segment that holds this offset (by_offset) or address. */
static bool find_segment(
	struct cp_symbols *symbols, bool by_offset, uint64_t at, GElf_Phdr *segment)
{
	size_t n;

	if (elf_getphdrnum(symbols->elf, &n) < 0)
		return false;
	for (size_t i = 0; i < n; i++) {
		uint64_t from;

		if (!gelf_getphdr(symbols->elf, (int)i, segment) ||
			segment->p_type != PT_LOAD)
			continue;
		from = by_offset ? segment->p_offset : segment->p_vaddr;
		if (at >= from && at - from < segment->p_filesz)
			return true;
	}
	return false;
}

bool cp_symbols_address(struct cp_symbols *symbols, uint64_t offset, uint64_t *address)
{
	GElf_Phdr segment;

	if (!find_segment(symbols, true, offset, &segment))
		return false;
	*address = segment.p_vaddr + (offset - segment.p_offset);
	return true;
}

/* ---- names and lines ---- */

static bool find_symbol(
	struct cp_symbols *symbols, uint64_t address, struct cp_symbol_at *at)
{
	if (!symbols->ranges)
		symbols->ranges = cp_symbol_ranges_make(symbols->module);
	return symbols->ranges && cp_symbol_at(symbols->ranges, address, at);
}

static void find_function(
	struct cp_symbols *symbols, struct cp_arena *arena, struct cp_place_in_code *at)
{
	struct cp_symbol_at symbol;

	if (!find_symbol(symbols, at->address, &symbol) ||
		(symbol.size && at->address - symbol.start >= symbol.size))
		return;
	at->function = cp_source_name(arena, symbol.name);
	at->offset = at->address - symbol.start;
}

static bool find_unit(
	struct cp_symbols *symbols, uint64_t address, Dwarf_Die *unit, Dwarf_Addr *bias)
{
	Dwarf_Addr of_module;
	Dwarf *dwarf =
		symbols->units ? NULL : dwfl_module_getdwarf(symbols->module, &of_module);

	if (dwarf)
		symbols->units = cp_units_make(dwarf, of_module);
	return symbols->units && cp_unit_at(symbols->units, address, unit, bias);
}

/* The file as the unit names it: relative to the directory that it was compiled in. */
static const char *path_of(struct cp_arena *arena, Dwarf_Die *unit, const char *file)
{
	Dwarf_Attribute attribute;
	const char *directory =
		dwarf_formstring(dwarf_attr_integrate(unit, DW_AT_comp_dir, &attribute));

	if (*file != '/' && directory)
		file = cp_text_format(arena, "%s/%s", directory, file);
	return text_of(arena, file);
}

/* elfutils 0.196 ends the line tables of 64-bit DWARF too early, and refuses them. */
static void note_unread(struct cp_symbols *symbols, Dwarf_Die *unit)
{
	uint8_t offset_size = 0;
	Dwarf_Lines *lines;
	Dwarf_Die die;
	size_t n;

	if (symbols->unread || !dwarf_hasattr(unit, DW_AT_stmt_list) ||
		dwarf_getsrclines(unit, &lines, &n) == 0)
		return;
	symbols->unread = dwarf_errmsg(-1);
	if (dwarf_cu_die(unit->cu, &die, NULL, NULL, NULL, &offset_size, NULL, NULL) &&
		offset_size == 8)
		symbols->unread = "this libdw reads none of 64-bit DWARF: build that "
				  "with -gdwarf32";
}

static void find_line(
	struct cp_symbols *symbols, struct cp_arena *arena, struct cp_place_in_code *at)
{
	Dwarf_Addr bias;
	Dwarf_Die unit;
	Dwarf_Line *line;
	const char *file;
	int number = 0;

	if (!find_unit(symbols, at->address, &unit, &bias))
		return;
	line = dwarf_getsrc_die(&unit, at->address - bias);
	if (!line)
		note_unread(symbols, &unit);
	file = line ? dwarf_linesrc(line, NULL, NULL) : NULL;
	if (!file || dwarf_lineno(line, &number) != 0 || number <= 0)
		return;
	at->file = path_of(arena, &unit, file);
	at->line = (unsigned)number;
}

void cp_symbols_find(
	struct cp_symbols *symbols, struct cp_arena *arena, struct cp_place_in_code *at)
{
	find_function(symbols, arena, at);
	find_line(symbols, arena, at);
}

const char *cp_symbols_unread(const struct cp_symbols *symbols)
{
	return symbols->unread;
}

/* ---- variables, and where functions are declared ---- */

/* Variables at fixed addresses and beginnings of functions, from all units: made when one
 * is asked for. */
struct entry {
	uint64_t address;     /* as DWARF counts */
	const char *function; /* that a variable is in; NULL: none */
	Dwarf_Die die;
};

/* The depth to which a unit's tree of entries is searched. */
#define MAX_DEPTH 64

/* The operation has an address, or an index of one (clang's DWARF 5, split units). */
static bool address_of(Dwarf_Die *die, uint64_t *address)
{
	Dwarf_Attribute attribute, indexed;
	Dwarf_Op *ops;
	size_t n;

	if (!dwarf_attr(die, DW_AT_location, &attribute) ||
		dwarf_getlocation(&attribute, &ops, &n) != 0 || n != 1)
		return false;
	if (ops[0].atom == DW_OP_addrx || ops[0].atom == DW_OP_GNU_addr_index)
		return dwarf_getlocation_attr(&attribute, ops, &indexed) == 0 &&
		       dwarf_formaddr(&indexed, address) == 0;
	*address = ops[0].number;
	return ops[0].atom == DW_OP_addr;
}

static void add_entry(struct entries *to, const struct entry *entry)
{
	struct entry *larger;

	if (!(to->n & (to->n - 1))) {
		larger = realloc(to->entry, (to->n ? 2 * to->n : 1) * sizeof(*entry));
		if (!larger)
			return;
		to->entry = larger;
	}
	to->entry[to->n++] = *entry;
}

static void add_variable(struct cp_symbols *symbols, Dwarf_Die *die, const char *function)
{
	struct entry variable = {.function = function, .die = *die};

	if (address_of(die, &variable.address))
		add_entry(&symbols->variables, &variable);
}

static void add_function(struct cp_symbols *symbols, Dwarf_Die *die)
{
	struct entry function = {.die = *die};

	if (dwarf_entrypc(die, &function.address) == 0)
		add_entry(&symbols->functions, &function);
}

static void collect_entries(struct cp_symbols *symbols, Dwarf_Die *parent,
	const char *function, unsigned depth)
{
	Dwarf_Die die;

	if (depth == MAX_DEPTH || dwarf_child(parent, &die) != 0)
		return;
	do {
		int tag = dwarf_tag(&die);

		if (tag == DW_TAG_variable) {
			add_variable(symbols, &die, function);
		} else if (tag == DW_TAG_subprogram) {
			add_function(symbols, &die);
			collect_entries(symbols, &die, dwarf_diename(&die), depth + 1);
		} else if (tag == DW_TAG_lexical_block || tag == DW_TAG_namespace) {
			collect_entries(symbols, &die, function, depth + 1);
		}
	} while (dwarf_siblingof(&die, &die) == 0);
}

static int by_address(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	return x->address < y->address ? -1 : x->address > y->address;
}

static void sort_entries(struct entries *entries)
{
	if (entries->n)
		qsort(entries->entry, entries->n, sizeof(*entries->entry), by_address);
}

static void collect_all(struct cp_symbols *symbols)
{
	Dwarf_Die *unit = NULL, entries;

	symbols->collected = true;
	while ((unit = dwfl_module_nextcu(symbols->module, unit, &symbols->bias)))
		if (cp_unit_entries(unit, &entries))
			collect_entries(symbols, &entries, NULL, 0);
	sort_entries(&symbols->variables);
	sort_entries(&symbols->functions);
}

static const struct entry *find_entry(
	struct cp_symbols *symbols, const struct entries *in, uint64_t address)
{
	struct entry wanted = {.address = address};

	if (!symbols->collected)
		collect_all(symbols);
	wanted.address -= symbols->bias;
	return in->n ? bsearch(&wanted, in->entry, in->n, sizeof(wanted), by_address)
		     : NULL;
}

/* Leaves what is not known. */
static void declared_at(struct cp_arena *arena, const struct entry *entry,
	const char **file, unsigned *line)
{
	Dwarf_Die die = entry->die, unit;
	const char *source = cp_declared_in(&die);
	int number = 0;

	if (!source || dwarf_decl_line(&die, &number) != 0 || number <= 0)
		return;
	*file = path_of(arena, dwarf_diecu(&die, &unit, NULL, NULL), source);
	*line = (unsigned)number;
}

void cp_symbols_declared(
	struct cp_symbols *symbols, struct cp_arena *arena, struct cp_place_in_code *at)
{
	const struct entry *function =
		find_entry(symbols, &symbols->functions, at->address - at->offset);

	if (function)
		declared_at(arena, function, &at->file, &at->line);
}

bool cp_symbols_entry(struct cp_symbols *symbols, uint64_t address, Dwarf_Die *die)
{
	const struct entry *v = find_entry(symbols, &symbols->variables, address);

	if (v)
		*die = v->die;
	return v != NULL;
}

static const char *describe_variable(
	struct cp_arena *arena, const struct entry *v, const char **file, unsigned *line)
{
	Dwarf_Die die = v->die;
	const char *own = dwarf_diename(&die);

	declared_at(arena, v, file, line);
	if (!v->function || !own)
		return NULL;
	return cp_text_format(
		arena, "%s::%s", text_of(arena, v->function), text_of(arena, own));
}

const char *cp_symbols_variable(struct cp_symbols *symbols, struct cp_arena *arena,
	uint64_t address, const char **file, unsigned *line)
{
	const struct entry *v = find_entry(symbols, &symbols->variables, address);
	const char *own = v ? describe_variable(arena, v, file, line) : NULL;
	struct cp_symbol_at symbol;

	if (own)
		return own;
	return find_symbol(symbols, address, &symbol) && symbol.type == STT_OBJECT
		       ? cp_source_name(arena, symbol.name)
		       : NULL;
}

const char *cp_symbols_thread_local(
	struct cp_symbols *symbols, struct cp_arena *arena, uint64_t offset)
{
	int n = dwfl_module_getsymtab(symbols->module);

	for (int i = 1; i < n; i++) {
		GElf_Sym symbol;
		GElf_Word section;
		const char *name =
			dwfl_module_getsym(symbols->module, i, &symbol, &section);

		if (name && GELF_ST_TYPE(symbol.st_info) == STT_TLS &&
			section != SHN_UNDEF && symbol.st_size &&
			symbol.st_value == offset)
			return cp_source_name(arena, name);
	}
	return NULL;
}

/* ---- inlined calls ---- */

static const char *inlined_call(
	struct cp_arena *arena, Dwarf_Die *call, const char *before)
{
	const char *name = dwarf_diename(call);
	Dwarf_Attribute attribute;
	Dwarf_Word line = 0;

	if (dwarf_attr(call, DW_AT_call_line, &attribute))
		dwarf_formudata(&attribute, &line);
	return cp_text_format(arena, "%s [inlined %s @%lu]", before,
		name ? text_of(arena, name) : "?", (unsigned long)line);
}

/* The outermost first. */
struct inlined_calls {
	unsigned n;
	Dwarf_Die call[MAX_DEPTH];
};

static bool has_code_of_others(int tag)
{
	return tag == DW_TAG_namespace || tag == DW_TAG_module ||
	       tag == DW_TAG_structure_type || tag == DW_TAG_class_type ||
	       tag == DW_TAG_union_type || tag == DW_TAG_enumeration_type;
}

static bool has_code(int tag)
{
	return tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine ||
	       tag == DW_TAG_lexical_block || tag == DW_TAG_try_block ||
	       tag == DW_TAG_catch_block;
}

/* dwarf_getscopes() has no functions in namespaces, as all of Rust's are, and leaves an
 * inlined call for where its function is declared, not for where it is called. */
static bool collect_calls(
	Dwarf_Die *parent, Dwarf_Addr at, unsigned depth, struct inlined_calls *calls)
{
	Dwarf_Die die;

	if (depth == MAX_DEPTH || dwarf_child(parent, &die) != 0)
		return false;
	do {
		int tag = dwarf_tag(&die);
		bool here = has_code(tag) && dwarf_haspc(&die, at) > 0;

		if (here && tag == DW_TAG_inlined_subroutine)
			calls->call[calls->n++] = die;
		if (here || has_code_of_others(tag))
			here |= collect_calls(&die, at, depth + 1, calls);
		if (here)
			return true;
	} while (dwarf_siblingof(&die, &die) == 0);
	return false;
}

static void find_calls(struct cp_symbols *symbols, uint64_t address, Dwarf_Die *unit,
	struct inlined_calls *calls)
{
	Dwarf_Addr bias;
	Dwarf_Die entries;

	calls->n = 0;
	if (find_unit(symbols, address, unit, &bias) && cp_unit_entries(unit, &entries))
		collect_calls(&entries, address - bias, 0, calls);
}

const char *cp_symbols_inlined(
	struct cp_symbols *symbols, struct cp_arena *arena, uint64_t address)
{
	struct inlined_calls calls;
	const char *text = "";
	Dwarf_Die unit;

	find_calls(symbols, address, &unit, &calls);
	while (calls.n)
		text = inlined_call(arena, &calls.call[--calls.n], text);
	return text;
}

/* The path without "x/.." and "." in it. */
static const char *plain_path(struct cp_arena *arena, const char *path)
{
	char *plain = cp_arena_alloc(arena, strlen(path) + 2);
	size_t n = 0;

	while (*path) {
		size_t length = strcspn(path, "/");
		bool is_up = length == 2 && strncmp(path, "..", 2) == 0;

		if (is_up && n > 1)
			for (n--; n && plain[n - 1] != '/';)
				n--;
		else if (length && !(length == 1 && *path == '.')) {
			memcpy(plain + n, path, length);
			n += length;
			plain[n++] = '/';
		} else if (!length && !n) {
			plain[n++] = '/';
		}
		path += length + (path[length] == '/');
	}
	plain[n] = '\0';
	return plain;
}

/* The folder of the file, with a slash at the end. */
static const char *folder_of(struct cp_arena *arena, const char *path)
{
	return plain_path(arena, cp_text_format(arena, "%s/..", path));
}

static bool is_below(const char *path, const char *folder)
{
	size_t length = strlen(folder);

	return length > 1 && strncmp(path, folder, length) == 0;
}

/* Is the file where the unit was compiled, or beside its own source?  Headers of
 * libraries, and sources of a language's own, are elsewhere. */
static bool is_own(struct cp_arena *arena, Dwarf_Die *unit, const char *path)
{
	const char *name = dwarf_diename(unit);

	path = plain_path(arena, path);
	return is_below(path, plain_path(arena, path_of(arena, unit, "."))) ||
	       (name && is_below(path, folder_of(arena, path_of(arena, unit, name))));
}

/* Where the inlined call stands; NULL: that is not known. */
static const char *call_site(
	struct cp_arena *arena, Dwarf_Die *unit, Dwarf_Die *call, unsigned *line)
{
	Dwarf_Attribute attribute;
	Dwarf_Word file, number;
	Dwarf_Files *files;
	const char *path;
	size_t n;

	if (dwarf_formudata(dwarf_attr(call, DW_AT_call_file, &attribute), &file) != 0 ||
		dwarf_formudata(dwarf_attr(call, DW_AT_call_line, &attribute), &number) !=
			0 ||
		dwarf_getsrcfiles(unit, &files, &n) != 0)
		return NULL;
	path = dwarf_filesrc(files, file, NULL, NULL);
	*line = (unsigned)number;
	return path ? path_of(arena, unit, path) : NULL;
}

bool cp_symbols_caller(struct cp_symbols *symbols, struct cp_arena *arena,
	const struct cp_place_in_code *at, struct cp_place_in_code *caller)
{
	struct inlined_calls calls;
	Dwarf_Die unit;

	if (!*at->file)
		return false;
	find_calls(symbols, at->address, &unit, &calls);
	if (!calls.n || is_own(arena, &unit, at->file))
		return false;
	*caller = *at;
	while (calls.n) {
		const char *path =
			call_site(arena, &unit, &calls.call[--calls.n], &caller->line);

		caller->file = path;
		if (path && is_own(arena, &unit, path))
			return true;
	}
	return false;
}

/* ---- instructions ---- */

#define MOST_CODE 65536 /* of a function, before and behind the instruction */
#define AFTER 1024      /* for the end of its loop */

/* Bytes of code; returns how many, and the processor that they are for. */
static size_t read_code(struct cp_symbols *symbols, uint64_t address, uint8_t *to,
	size_t size, unsigned *machine)
{
	GElf_Phdr segment;
	GElf_Ehdr file;
	ssize_t n;

	if (!find_segment(symbols, false, address, &segment) ||
		!gelf_getehdr(symbols->elf, &file))
		return 0;
	*machine = file.e_machine;
	n = pread(symbols->fd, to, size,
		(off_t)(segment.p_offset + (address - segment.p_vaddr)));
	return n > 0 ? (size_t)n : 0;
}

/* Asks does() about the instruction, in the function that begins there. */
static bool ask_of_code(struct cp_symbols *symbols, uint64_t function, uint64_t address,
	bool (*does)(unsigned machine, const struct cp_code *code, uint64_t address))
{
	uint8_t bytes[MOST_CODE];
	size_t wanted = (size_t)(address - function) + AFTER;
	struct cp_code code = {.bytes = bytes, .start = function};
	unsigned machine;

	if (wanted > sizeof(bytes))
		return false;
	code.size = read_code(symbols, function, bytes, wanted, &machine);
	return code.size && does(machine, &code, address);
}

bool cp_symbols_chains(struct cp_symbols *symbols, uint64_t function, uint64_t address)
{
	return ask_of_code(symbols, function, address, cp_disassemble_chains);
}

bool cp_symbols_indexes(struct cp_symbols *symbols, uint64_t function, uint64_t address)
{
	return ask_of_code(symbols, function, address, cp_disassemble_indexes);
}

bool cp_symbols_updates(struct cp_symbols *symbols, uint64_t function, uint64_t address)
{
	return ask_of_code(symbols, function, address, cp_disassemble_updates);
}

const char *cp_symbols_instruction(
	struct cp_symbols *symbols, struct cp_arena *arena, uint64_t address)
{
	uint8_t bytes[16];
	unsigned machine;
	size_t n = read_code(symbols, address, bytes, sizeof(bytes), &machine);

	return n ? cp_disassemble(arena, machine, bytes, n, address) : "";
}
