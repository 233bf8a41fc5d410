/* SPDX-License-Identifier: MIT
 *
 * Overrides: getenv.
 *
 * ITT, NVTX and Kokkos find a tool's library by an environment variable.  For
 * these names, and no other, the answer is our own path, so that we are asked
 * wherever that is done, constructors included, and children inherit nothing.
 * A library that the user has named there is loaded by us and gets every call.
 *
 * On the simulated PMU the runtimes of parallel programs are told to wait without
 * spinning, unless the user has told them: threads take turns there, and who spins
 * only counts.  hwloc is told to leave its x86 backend out, which would do that by
 * itself under Valgrind, and print three lines.
 */
#include <link.h>
#include <stdlib.h>
#include <string.h>

#include "preload/forward.h"
#include "preload/given.h"
#include "preload/injection.h"
#include "preload/real.h"
#include "preload/reexec.h"
#include "preload/runtime.h"

#define EXPORT __attribute__((visibility("default")))

#define OLD_KOKKOS "KOKKOS_PROFILE_LIBRARY"
#define NEW_KOKKOS "KOKKOS_TOOLS_LIBS"

static const char *const names[] = {
	"INTEL_LIBITTNOTIFY64", "NVTX_INJECTION64_PATH", OLD_KOKKOS, NEW_KOKKOS};

/* In its own memory: Kokkos cuts what it gets at semicolons. */
static char own_path[4096];

void cp_injection_start(void)
{
	if (cp_library_path(own_path, sizeof(own_path)) < 0)
		own_path[0] = '\0';
}

const char *cp_injection_of_user(const char *name)
{
	return CP_REAL(getenv)(name);
}

static bool is_injection(const char *name)
{
	if (name[0] != 'I' && name[0] != 'N' && name[0] != 'K')
		return false;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

/* ---- Kokkos asks for one variable before 3.7 and warns of it from then on ---- */

struct module {
	uintptr_t address;
	bool knows_new_name;
};

static int look_into(struct dl_phdr_info *info, size_t size, void *context)
{
	struct module *module = context;
	bool inside = false;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++)
		inside |= info->dlpi_phdr[i].p_type == PT_LOAD &&
			  module->address - info->dlpi_addr - info->dlpi_phdr[i].p_vaddr <
				  info->dlpi_phdr[i].p_memsz;
	for (int i = 0; inside && i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];

		if (segment->p_type == PT_LOAD && (segment->p_flags & PF_R))
			module->knows_new_name |=
				CP_REAL(memmem)((const void *)(info->dlpi_addr +
							       segment->p_vaddr),
					segment->p_filesz, NEW_KOKKOS,
					sizeof(NEW_KOKKOS) - 1) != NULL;
	}
	return inside;
}

static bool knows_new_name(const void *caller)
{
	struct module module = {(uintptr_t)caller, false};

	dl_iterate_phdr(look_into, &module);
	return module.knows_new_name;
}

static bool answers(const char *name, const char *user, const void *caller)
{
	if (!own_path[0] || !cp_counting())
		return false;
	/* Kokkos stops when its option names another library than the variable. */
	if (name[0] == 'K' && cp_given_argument("--kokkos-tools-lib"))
		return false;
	return user || strcmp(name, OLD_KOKKOS) != 0 || !knows_new_name(caller);
}

/* ---- settings for the simulated PMU ---- */

/* In their own memory: they are the program's to change. */
static struct {
	const char *name;
	char value[8];
} settings[] = {
	{"OMP_WAIT_POLICY", "passive"},        /* libgomp */
	{"OMPI_MCA_mpi_yield_when_idle", "1"}, /* Open MPI */
	{"MPIR_CVAR_POLLS_BEFORE_YIELD", "1"}, /* MPICH */
	{"HWLOC_COMPONENTS", "-x86"},
};

static char *setting(const char *name)
{
	if (name[0] != 'O' && name[0] != 'M' && name[0] != 'H')
		return NULL;
	for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++)
		if (strcmp(name, settings[i].name) == 0)
			return settings[i].value;
	return NULL;
}

EXPORT char *getenv(const char *name)
{
	char *user = CP_REAL(getenv)(name);
	const char *caller = __builtin_return_address(0);

	if (!user && cp_runtime.sim && cp_counting())
		user = setting(name);
	if (is_injection(name) && answers(name, user, caller))
		return own_path;
	return user;
}
