/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The core's line tables are used, which it reads if --lines=yes says so: of the file,
 * or of the separate one that its build ID or debug link names.
 */
#include "watch/lines.h"

#include "base/text/line_spec.h"
#include "watch/function_names.h"
#include "valgrind/core.h"
#include "pub_tool_clientstate.h"

#define MOST 256
/* Bytes of code that are looked through for the nearest line, at most. */
#define MOST_CODE (256u << 20)

struct line {
	struct cp_line_spec spec;
	UInt name;
	Bool seen;
	/* The nearest line that there is, where it is not. */
	Bool has_file;
	UInt below, above;
	const HChar *filename, *dirname; /* the last ones that were compared */
	Bool same;
};

/* The lines that are regions. */
static struct {
	struct line *lines;
	UInt n;
	Bool need_registers;
	HChar unread[256]; /* the objects whose lines the core cannot read, for a message
			    */
} watched;

Bool lines_wanted(void)
{
	return watched.n > 0;
}

/* ---- what is asked for ---- */

static void add_line(const HChar *piece, UInt size)
{
	struct cp_line_spec spec;
	HChar *name;

	if (cp_line_spec_read(piece, size, &spec) != 1 || watched.n == MOST)
		return;
	name = VG_(calloc)("cachepeek.line", 1, spec.name_size + 1);
	VG_(memcpy)(name, spec.name, spec.name_size);
	if (spec.file_size > 2 && name[0] == '.' && name[1] == '/') {
		name += 2;
		spec.file_size -= 2;
	}
	spec.name = name;
	watched.lines[watched.n++] =
		(struct line){.spec = spec, .name = function_number(name)};
}

void lines_choose(const HChar *patterns)
{
	if (!tool_options.lines)
		return;
	watched.lines = VG_(calloc)("cachepeek.lines", MOST, sizeof(*watched.lines));
	for (const HChar *at = patterns, *end; *at; at = *end ? end + 1 : end) {
		for (end = at; *end && *end != ',';)
			end++;
		add_line(at, (UInt)(end - at));
	}
}

static const HChar *base_name(const HChar *path)
{
	const HChar *slash = VG_(strrchr)(path, '/');

	return slash ? slash + 1 : path;
}

void lines_unread(Addr a)
{
	const NSegment *segment = VG_(am_find_nsegment)(a);
	const HChar *path = segment ? VG_(am_get_filename)(segment) : NULL;
	UInt used = (UInt)VG_(strlen)(watched.unread);

	if (!path || VG_(strstr)(watched.unread, base_name(path)))
		return;
	VG_(snprintf)
	(watched.unread + used, (Int)(sizeof(watched.unread) - used), "%s%s",
		used ? ", " : "", base_name(path));
}

/* ---- which instructions ---- */

/* Is the last part of "DIRECTORY/NAME" the file that was asked for? */
static Bool is_file(const struct line *line, const HChar *dirname, const HChar *filename)
{
	const HChar *parts[] = {filename, "/", dirname};
	Int left = (Int)line->spec.file_size;
	const HChar *wanted = line->spec.name;

	for (UInt i = 0; i < 3; i++)
		for (Int k = (Int)VG_(strlen)(parts[i]); k-- > 0;) {
			if (!left)
				return parts[i][k] == '/';
			if (parts[i][k] != wanted[--left])
				return False;
		}
	return !left;
}

static Bool matches_line(struct line *line, const HChar *dirname, const HChar *filename)
{
	if (line->filename != filename || line->dirname != dirname) {
		line->filename = filename;
		line->dirname = dirname;
		line->same = is_file(line, dirname, filename);
	}
	return line->same;
}

Int line_at(Addr a)
{
	const HChar *filename, *dirname;
	UInt number;

	if (!VG_(get_filename_linenum)(
		    VG_(current_DiEpoch)(), a, &filename, &dirname, &number))
		return -1;
	for (UInt i = 0; i < watched.n; i++) {
		struct line *line = &watched.lines[i];

		if (number < line->spec.first || number > line->spec.last ||
			!is_file(line, dirname, filename))
			continue;
		line->seen = True;
		return (Int)line->name;
	}
	return -1;
}

Addr line_function(Addr a)
{
	DiEpoch epoch = VG_(current_DiEpoch)();
	const HChar *name;
	PtrdiffT offset;

	if (!VG_(get_inst_offset_in_function)(epoch, a, &offset))
		return 0;
	if (VG_(get_fnname)(epoch, a, &name) && VG_(strstr)(name, ".cold"))
		return ANY_FUNCTION;
	return a - (Addr)offset;
}

/* ---- registers ---- */

void lines_need_registers(void)
{
	watched.need_registers = True;
}

Bool lines_needed_registers(void)
{
	Bool needed = watched.need_registers;

	watched.need_registers = False;
	return needed;
}

/* ---- what was not there ---- */

static void look_at(
	struct line *line, const HChar *dirname, const HChar *filename, UInt number)
{
	if (line->seen || !matches_line(line, dirname, filename))
		return;
	line->has_file = True;
	if (number >= line->spec.first && number <= line->spec.last)
		line->seen = True;
	else if (number < line->spec.first && number > line->below)
		line->below = number;
	else if (number > line->spec.last && (!line->above || number < line->above))
		line->above = number;
}

/* Returns whether there are any. */
static Bool look_at_lines_of(const DebugInfo *info)
{
	DiEpoch epoch = VG_(current_DiEpoch)();
	Addr a = VG_(DebugInfo_get_text_avma)(info);
	SizeT size = VG_(DebugInfo_get_text_size)(info);
	Bool any = False;

	for (Addr end = a + size; a < end && size < MOST_CODE; a++) {
		const HChar *filename, *dirname;
		UInt number;

		if (!VG_(get_filename_linenum)(epoch, a, &filename, &dirname, &number))
			continue;
		any = True;
		for (UInt i = 0; i < watched.n; i++)
			look_at(&watched.lines[i], dirname, filename, number);
	}
	return any;
}

/* Has the program itself line numbers? */
static Bool look_at_all(void)
{
	const HChar *own = base_name(VG_(args_the_exename));
	const DebugInfo *infos[1024];
	UInt n = 0;
	Bool any = False;

	/* Looking something up changes the order of the list. */
	for (const DebugInfo *i = VG_(next_DebugInfo)(NULL); i && n < 1024;
		i = VG_(next_DebugInfo)(i))
		infos[n++] = i;
	while (n-- > 0)
		if (look_at_lines_of(infos[n]) &&
			VG_(strcmp)(base_name(VG_(DebugInfo_get_filename)(infos[n])),
				own) == 0)
			any = True;
	return any;
}

static void say_nearest(const struct line *line, HChar *to, UInt size)
{
	UInt one = line->below ? line->below : line->above;

	if (line->below && line->above)
		VG_(snprintf)
	(to, (Int)size,
		"no code is of that line; the nearest that have some are %u and %u",
		line->below, line->above);
	else VG_(snprintf)(to, (Int)size,
		"no code is of that line; the nearest that has some is %u", one);
}

static void say_reason(const struct line *line, Bool program_has, HChar *to, UInt size)
{
	to[0] = '\0';
	if (line->seen)
		return;
	if (line->has_file)
		say_nearest(line, to, size);
	else if (*watched.unread)
		VG_(snprintf)
	(to, (Int)size,
		"the simulator cannot read the line numbers of %s: build that with gcc, or "
		"with -gdwarf-4 and without -gsplit-dwarf, -gdwarf64 and -fdebug-types-section",
		watched.unread);
	else if (program_has) VG_(snprintf)(to, (Int)size,
		"no such file in the line numbers of what was loaded: "
		"name it as the compiler was given it, or its last part");
	else VG_(snprintf)(to, (Int)size,
		"%s has no line numbers: build it with -g, "
		"or install its debug symbols",
		base_name(VG_(args_the_exename)));
}

Bool lines_check(UInt n, HChar *name, HChar *why, UInt size)
{
	static Bool looked, program_has;

	if (n >= watched.n)
		return False;
	if (!watched.lines[n].seen && !looked) {
		looked = True;
		program_has = look_at_all();
	}
	VG_(snprintf)(name, (Int)size, "%s", watched.lines[n].spec.name);
	say_reason(&watched.lines[n], program_has, why, size);
	return True;
}
