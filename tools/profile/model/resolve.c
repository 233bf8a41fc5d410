/* SPDX-License-Identifier: MIT
 *
 * From the addresses of a profile to places in code.
 */
#include <string.h>

#include "base/text.h"
#include "base/text/table.h"
#include "tools/profile/model/jit.h"
#include "tools/profile/model/keys.h"
#include "tools/profile/model/line_use.h"
#include "tools/profile/model/profile.h"
#include "tools/profile/model/source.h"
#include "tools/profile/model/symbols.h"

/* The same file was mapped often: by other processes, in several parts. */
static struct cp_symbols *opened_before(
	const struct cp_profile *profile, const struct cp_profiled_module *module)
{
	for (size_t i = 0; &profile->modules[i] < module; i++) {
		const struct cp_profiled_module *other = &profile->modules[i];

		if (other->symbols && other->build_id_size == module->build_id_size &&
			memcmp(other->build_id, module->build_id,
				module->build_id_size) == 0 &&
			strcmp(other->path, module->path) == 0)
			return other->symbols;
	}
	return NULL;
}

static void mark_used(struct cp_profile *profile)
{
	for (size_t i = 0; i < profile->nsites; i++)
		profile->sites[i].at.module->used = true;
	for (size_t i = 0; i < profile->npaths; i++)
		profile->paths[i].at.module->used = true;
	for (size_t i = 0; i < profile->nsharers; i++)
		for (size_t k = 0; k < profile->sharers[i].nplaces; k++)
			profile->sharers[i].places[k].at.module->used = true;
	for (size_t i = 0; i < profile->nobjects; i++) {
		const struct cp_profiled_object *object = &profile->objects[i];

		if (object->module && (object->data == CP_DATA_VARIABLE ||
					      object->data == CP_DATA_HEAP ||
					      object->data == CP_DATA_MMAP ||
					      object->data == CP_DATA_TLS))
			object->module->used = true;
	}
}

static void open_module(struct cp_profile *profile, struct cp_profiled_module *module)
{
	const char *why;

	if (!*module->path || !module->used)
		return;
	module->symbols = opened_before(profile, module);
	if (module->symbols)
		return;
	if (!module->build_id_size &&
		cp_file_changed_since(module->path, module->mapped_ns))
		why = "it is not the file that ran: it has changed since";
	else
		module->symbols = cp_symbols_open(
			module->path, module->build_id, module->build_id_size, &why);
	if (!module->symbols)
		cp_profile_warn(profile, "%s: %s: its functions have no names",
			module->path, why);
}

/* Resolves a place of that process; until then its address is one in memory. */
static void resolve_place(
	struct cp_profile *profile, int32_t pid, struct cp_place_in_code *at)
{
	const struct cp_profiled_module *module = at->module;
	uint64_t offset = at->address - module->start + module->offset;

	if (!*module->path) {
		cp_jit_find(profile, pid, at);
		return;
	}
	at->address = offset;
	if (module->symbols && cp_symbols_address(module->symbols, offset, &at->address))
		cp_symbols_find(module->symbols, profile->arena, at);
}

/* Places that were resolved, by module and address in memory: most functions are on many
 * paths, the same few instructions use most lines, and what a site missed is at it. */
struct resolved {
	struct cp_keys *known; /* number in at, from 1 on */
	const struct cp_place_in_code **at;
	size_t count;
};

static void resolve_once(struct cp_profile *profile, struct resolved *resolved,
	int32_t pid, struct cp_place_in_code *at)
{
	size_t *same =
		cp_keys_number(resolved->known, (uintptr_t)at->module, at->address);

	if (*same && *same <= resolved->count) {
		*at = *resolved->at[*same - 1];
		return;
	}
	resolved->at = cp_profile_grow(
		profile->arena, resolved->at, resolved->count, sizeof(*resolved->at));
	resolved->at[resolved->count++] = at;
	*same = resolved->count;
	resolve_place(profile, pid, at);
}

/* Paths are of functions, which are where they are declared; those of samples are of
 * calls. */
static void resolve_paths(struct cp_profile *profile, struct resolved *resolved)
{
	struct cp_keys *known = cp_keys_new(profile->arena);

	for (size_t i = 0; i < profile->npaths; i++) {
		struct cp_place_in_code *at = &profile->paths[i].at;
		size_t *same;

		resolve_once(profile, resolved, profile->paths[i].thread->pid, at);
		if (profile->sampled || !at->module->symbols)
			continue;
		same = cp_keys_number(known, (uintptr_t)at->module, at->address);
		if (*same) {
			*at = profile->paths[*same - 1].at;
			continue;
		}
		*same = i + 1;
		cp_symbols_declared(at->module->symbols, profile->arena, at);
	}
}

static void resolve_places(struct cp_profile *profile)
{
	struct resolved resolved = {.known = cp_keys_new(profile->arena)};

	for (size_t i = 0; i < profile->nsites; i++)
		resolve_once(profile, &resolved, profile->sites[i].thread->pid,
			&profile->sites[i].at);
	for (size_t i = 0; i < profile->naccesses; i++)
		resolve_once(profile, &resolved, profile->accesses[i].site.thread->pid,
			&profile->accesses[i].site.at);
	for (size_t i = 0; i < profile->nsharers; i++)
		for (size_t k = 0; k < profile->sharers[i].nplaces; k++)
			resolve_once(profile, &resolved, profile->sharers[i].thread->pid,
				&profile->sharers[i].places[k].at);
	resolve_paths(profile, &resolved); /* last: it goes on from these places */
}

/* ---- data ---- */

static void name_variable(struct cp_profile *profile, struct cp_profiled_object *object)
{
	const char *name = NULL;

	if (object->module && object->module->symbols)
		name = cp_symbols_variable(object->module->symbols, profile->arena,
			object->address, &object->file, &object->line);
	object->name = cp_text_format(profile->arena, "%s::%s",
		object->module ? object->module->name : "?", name ? name : "?");
}

static void name_thread_local(
	struct cp_profile *profile, struct cp_profiled_object *object)
{
	const char *name = NULL;

	if (object->module && object->module->symbols)
		name = cp_symbols_thread_local(
			object->module->symbols, profile->arena, object->address);
	object->name = cp_text_format(profile->arena, "TLS %s::%s",
		object->module ? object->module->name : "?", name ? name : "?");
}

/* Whoever found it knows its name. */
static void name_tls(struct cp_profile *profile, struct cp_profiled_object *object)
{
	object->name = cp_text_format(profile->arena, "TLS %s::%s",
		object->module ? object->module->name : "?",
		*object->name ? cp_source_name(profile->arena, object->name) : "?");
}

static bool is_of_jvm(const struct cp_profiled_module *module)
{
	return module && strcmp(module->name, "libjvm.so") == 0;
}

/* Memory that the JVM maps without an alignment is its own: classes, what it counts of
 * methods to compile them, code.  The objects of the program are in what it asks for
 * otherwise.  Returns the name; NULL: of another function. */
static const char *name_of_jvm(struct cp_profiled_object *object, const char *function)
{
	static const char commit[] = "os::pd_commit_memory";

	if (object->data != CP_DATA_MMAP || !cp_starts_with(function, commit))
		return NULL;
	object->of_runtime =
		strcmp(function + strlen(commit), "(char*, unsigned long, bool)") == 0;
	return object->of_runtime ? "the JVM's own counters, classes, code" : "Java heap";
}

static bool is_runtimes(const struct cp_profiled_object *object)
{
	return object->of_runtime ||
	       (is_of_jvm(object->module) && object->data != CP_DATA_MMAP);
}

/* The call is the instruction before the one that it returns to. */
static void name_heap(struct cp_profile *profile, struct cp_profiled_object *object)
{
	struct cp_profiled_module *module = object->module;
	struct cp_place_in_code at = {.module = module,
		.address = object->address - 1,
		.function = "",
		.file = ""};
	const char *size = object->size ? cp_text_format(profile->arena, "%lu B",
						  (unsigned long)object->size)
					: "small blocks",
		   *kept;

	if (module && *module->path) {
		uint64_t offset = at.address - module->start + module->offset;

		at.address = offset;
		if (module->symbols &&
			cp_symbols_address(module->symbols, offset, &at.address))
			cp_symbols_find(module->symbols, profile->arena, &at);
	}
	object->file = at.file;
	object->line = at.line;
	kept = is_of_jvm(module) ? name_of_jvm(object, at.function) : NULL;
	if (kept) {
		object->name = cp_text_format(
			profile->arena, "Mapped: %s (libjvm.so), %s", kept, size);
		return;
	}
	object->name = cp_text_format(profile->arena, "%s: %s::%s, %s",
		object->data == CP_DATA_HEAP ? "Heap" : "Mapped",
		module ? module->name : "?",
		*at.function ? at.function
			     : cp_text_format(profile->arena, "0x%lx",
				       (unsigned long)at.address),
		size);
}

static void name_object(struct cp_profile *profile, struct cp_profiled_object *object)
{
	struct cp_arena *arena = profile->arena;
	const char *path = object->module ? object->module->path : "";

	switch (object->data) {
	case CP_DATA_VARIABLE:
		name_variable(profile, object);
		break;
	case CP_DATA_TLS:
		if (object->name && *object->name)
			name_tls(profile, object);
		else
			name_thread_local(profile, object);
		break;
	case CP_DATA_HEAP:
	case CP_DATA_MMAP:
		name_heap(profile, object);
		break;
	case CP_DATA_MODULE:
		object->name = cp_text_format(arena, "%s: %s",
			object->module ? object->module->name : "?",
			object->size ? "data without a symbol"
				     : "constants, tables, code");
		break;
	case CP_DATA_HEAP_OTHER:
		object->name = "Heap: outside of blocks";
		break;
	case CP_DATA_STACK:
		object->name = cp_text_format(
			arena, "Thread stack (tid %d)", object->thread->tid);
		break;
	case CP_DATA_MAPPED:
		object->name = *path ? cp_text_format(arena, "Memory mapped file %s",
					       cp_text_safe(arena, cp_slice_of(path)))
				     : "Memory mapped regions";
		break;
	default:
		object->name = "*unknown*";
	}
	object->of_runtime = is_runtimes(object);
}

void cp_profile_close(struct cp_profile *profile)
{
	for (size_t i = profile->nmodules; i-- > 0;)
		if (!opened_before(profile, &profile->modules[i]))
			cp_symbols_close(profile->modules[i].symbols);
	cp_source_forget();
	cp_jit_forget();
}

static void warn_of_lines(
	struct cp_profile *profile, const struct cp_profiled_module *module)
{
	const char *why = module->symbols && !opened_before(profile, module)
				  ? cp_symbols_unread(module->symbols)
				  : NULL;

	if (why)
		cp_profile_warn(profile, "%s" CP_PROFILE_UNREAD "%s", module->path, why);
}

const char *cp_profile_unread(
	const struct cp_profile *profile, const struct cp_profiled_module *module)
{
	for (size_t i = 0; i < profile->nwarnings; i++) {
		const char *found = strstr(profile->warnings[i], CP_PROFILE_UNREAD);
		size_t length = found ? (size_t)(found - profile->warnings[i]) : 0;

		if (found && (!module || (strlen(module->path) == length &&
						 memcmp(profile->warnings[i],
							 module->path, length) == 0)))
			return found + 2;
	}
	return NULL;
}

void cp_profile_resolve(struct cp_profile *profile)
{
	mark_used(profile);
	for (size_t i = 0; i < profile->nmodules; i++)
		open_module(profile, &profile->modules[i]);
	resolve_places(profile);
	for (size_t i = 0; i < profile->nobjects; i++)
		name_object(profile, &profile->objects[i]);
	for (size_t i = 0; i < profile->nmodules; i++)
		warn_of_lines(profile, &profile->modules[i]);
	if (profile->has_line_use)
		cp_line_use_link(profile);
}
