/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Counts by lines of Python: the interpreter's own instructions are everybody's.
 */
#include "base/probe.h"
#include "profile/elf_symbols.h"
#include "profile/profile.h"
#include "sample/sample.h"
#include "scripts/python.h"

/* Where a thread is, and the line of its program that led there. */
struct places {
	struct python_at at, own;
};

/* Open addressing.  Two instructions lead to their lines, which have a slot of their own:
 * there `instruction` is not_line() of them. */
struct script_slot {
	struct places places;
	UInt thread;
	struct cp_profile_script *script; /* NULL: there was no room */
};

static struct {
	Bool any; /* an interpreter is there, whose frames are known */
	UInt thread, last_id;
	struct script_slot *slots, last;
	ULong room, n; /* room: a power of two */
} scripts;

/* ---- the interpreter ---- */

struct looking {
	struct python_symbols found;
	Addr bias;
};

static void look_at_symbol(void *to, const Elf64_Sym *symbol, const HChar *name)
{
	struct looking *looking = to;
	const struct {
		const HChar *name;
		Addr *to;
	} wanted[] = {
		{"_PyRuntime", &looking->found.runtime},
		{"Py_Version", &looking->found.version},
		{"PyCode_Type", &looking->found.code_type},
	};

	if (symbol->st_shndx == SHN_UNDEF)
		return;
	for (UInt i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		if (VG_(strcmp)(name, wanted[i].name) == 0)
			*wanted[i].to = looking->bias + symbol->st_value;
}

/* A sample's counts come later than the program went on. */
static void use_interpreter(const struct python_symbols *symbols)
{
	scripts.any = !sample_wanted() && python_use(symbols);
	profile_note_python(symbols->version ? python_version(symbols) : 1, scripts.any);
	if (scripts.any)
		python_run();
}

void profile_script_module(const HChar *path, Addr start, ULong offset)
{
	const HChar *slash = VG_(strrchr)(path, '/');
	struct looking looking = {.bias = 0};

	if (scripts.any || !VG_(strstr)(slash ? slash : path, "python") ||
		!elf_bias(path, start, offset, &looking.bias))
		return;
	elf_symbols_each(path, look_at_symbol, &looking);
	if (looking.found.runtime && looking.found.code_type)
		use_interpreter(&looking.found);
}

void profile_script_use(UInt thread)
{
	scripts.thread = thread;
	scripts.last.script = NULL;
	if (scripts.any)
		python_run();
}

void profile_script_unmapped(Addr a, SizeT len)
{
	if (scripts.any)
		python_unmapped(a, len);
}

/* ---- lines ---- */

static Bool is_same(const struct python_at *a, const struct python_at *b)
{
	return a->code == b->code && a->instruction == b->instruction &&
	       a->file == b->file && a->line_table == b->line_table;
}

static Bool are_same(const struct places *a, const struct places *b)
{
	return is_same(&a->at, &b->at) && is_same(&a->own, &b->own);
}

static ULong hash_slot(const struct places *p, UInt thread)
{
	return cp_hash_word((p->at.code ^ p->at.instruction << 17) + thread +
			    p->at.line_table +
			    (p->own.instruction << 29 ^ p->own.code)) >>
	       24;
}

static struct script_slot *find_slot(const struct places *places, UInt thread)
{
	struct script_slot *slots = scripts.slots;

	return &slots[CP_PROBE(scripts.room, hash_slot(places, thread), i,
		!slots[i].places.at.code || (are_same(&slots[i].places, places) &&
						    slots[i].thread == thread))];
}

static void make_room(void)
{
	struct script_slot *old = scripts.slots;
	ULong n = scripts.room;

	if (2 * scripts.n < scripts.room)
		return;
	scripts.room = n ? 2 * n : 1 << 10;
	scripts.slots =
		VG_(calloc)("cachepeek.scripts", scripts.room, sizeof(*scripts.slots));
	for (ULong i = 0; i < n; i++)
		if (old[i].places.at.code)
			*find_slot(&old[i].places, old[i].thread) = old[i];
	VG_(free)(old);
}

static struct script_slot *add_slot(const struct places *places)
{
	struct script_slot *slot;

	make_room();
	slot = find_slot(places, scripts.thread);
	if (!slot->places.at.code) {
		*slot = (struct script_slot){.places = *places, .thread = scripts.thread};
		scripts.n++;
	}
	return slot;
}

/* The names of a place, one behind the other. */
struct names {
	HChar text[4 * 4096];
	UInt used;
};

static Bool add_names(struct names *to, const struct python_at *at)
{
	enum { NAME = 4096 };

	if (!python_function(at, to->text + to->used, NAME))
		return False;
	to->used += (UInt)VG_(strlen)(to->text + to->used) + 1;
	if (!python_file(at, to->text + to->used, NAME))
		return False;
	to->used += (UInt)VG_(strlen)(to->text + to->used) + 1;
	return True;
}

static struct cp_profile_script *new_script(
	const struct places *places, UInt line, UInt own_line)
{
	static struct names names;
	struct cp_profile_script *script;

	names.used = 0;
	if (!add_names(&names, &places->at) || !add_names(&names, &places->own))
		return NULL;
	script = profile_allocate(sizeof(*script) + names.used);
	if (!script)
		return NULL;
	script->thread = scripts.thread;
	script->id = ++scripts.last_id;
	script->line = line;
	script->own_line = own_line;
	VG_(memcpy)(script->names, names.text, names.used);
	profile_publish(script, CP_PROFILE_SCRIPT);
	return script;
}

/* No instruction is in the last bytes of memory, and no line is beyond 2^31. */
static Addr not_line(UInt line)
{
	return ~(Addr)line;
}

static struct cp_profile_script *script_of_lines(const struct places *places)
{
	UInt line = python_line(&places->at), own_line = python_line(&places->own);
	struct places key = *places;
	struct script_slot *slot;

	key.at.instruction = not_line(line);
	key.own.instruction = not_line(own_line);
	slot = add_slot(&key);
	if (!slot->script)
		slot->script = new_script(places, line, own_line);
	return slot->script;
}

static struct cp_profile_script *script_of(const struct places *places)
{
	struct cp_profile_script *script = add_slot(places)->script;

	if (!script) {
		script = script_of_lines(places);
		add_slot(places)->script = script; /* the table may be another one */
	}
	return script;
}

struct cp_profile_script *profile_script_now(void)
{
	const struct python_at *at, *own;

	if (!scripts.any)
		return NULL;
	at = python_find(&own);
	if (!at)
		return NULL;
	if (scripts.last.script && is_same(at, &scripts.last.places.at) &&
		is_same(own, &scripts.last.places.own))
		return scripts.last.script;
	scripts.last.places = (struct places){*at, *own};
	scripts.last.script = script_of(&scripts.last.places);
	return scripts.last.script;
}

void profile_script_fork_child(void)
{
	scripts.last.script = NULL;
	scripts.n = 0;
	scripts.last_id = 0;
	if (scripts.room)
		VG_(memset)
	(scripts.slots, 0, scripts.room * sizeof(*scripts.slots));
}
