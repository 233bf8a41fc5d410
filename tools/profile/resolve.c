/* SPDX-License-Identifier: MIT
 *
 * From the addresses of a profile to places in code.
 */
#include <stdlib.h>
#include <string.h>

#include "tools/profile/jit.h"
#include "tools/profile/profile.h"
#include "tools/profile/symbols.h"

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

static void open_module(struct cp_profile *profile, struct cp_profiled_module *module)
{
	const char *why;

	if (!*module->path)
		return;
	module->symbols = opened_before(profile, module);
	if (module->symbols)
		return;
	module->symbols = cp_symbols_open(
		module->path, module->build_id, module->build_id_size, &why);
	if (!module->symbols)
		cp_profile_warn(profile, "%s: %s: its functions have no names",
			module->path, why);
}

static void resolve(struct cp_profile *profile, struct cp_profiled_site *site)
{
	const struct cp_profiled_module *module = site->at.module;
	uint64_t offset = site->at.address - module->start + module->offset;

	if (!*module->path) {
		cp_jit_find(profile->arena, site->thread->pid, &site->at);
		return;
	}
	site->at.address = offset;
	if (module->symbols &&
		cp_symbols_address(module->symbols, offset, &site->at.address))
		cp_symbols_find(module->symbols, profile->arena, &site->at);
}

void cp_profile_close(struct cp_profile *profile)
{
	for (size_t i = profile->nmodules; i-- > 0;)
		if (!opened_before(profile, &profile->modules[i]))
			cp_symbols_close(profile->modules[i].symbols);
}

void cp_profile_resolve(struct cp_profile *profile)
{
	for (size_t i = 0; i < profile->nmodules; i++)
		open_module(profile, &profile->modules[i]);
	for (size_t i = 0; i < profile->nsites; i++)
		resolve(profile, &profile->sites[i]);
}
