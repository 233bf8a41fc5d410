/* SPDX-License-Identifier: MIT
 *
 * Overrides: getenv.
 *
 * ITT, NVTX and Kokkos find a tool's library by an environment variable.  For
 * these names, and no other, the answer is our own path, so that we are asked
 * wherever that is done, constructors included, and children inherit nothing.  Only
 * what looks for a tool by that gets it: to all others, tools included, the variable
 * is what it is.
 * A library that the user has named there is loaded by us and gets every call.
 *
 * On the simulated PMU the runtimes of parallel programs are told to wait without
 * spinning, unless the user has told them: threads take turns there, and who spins
 * only counts.  hwloc is told to leave its x86 backend out, which would do that by
 * itself under Valgrind, and print three lines.
 */
#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

#include "base/export.h"
#include "preload/markers/forward.h"
#include "base/text.h"
#include "preload/given.h"
#include "preload/markers/injection.h"
#include "preload/libc/real.h"
#include "preload/reexec.h"
#include "preload/runtime.h"
#include "preload/walk.h"

#define OLD_KOKKOS "KOKKOS_PROFILE_LIBRARY"
#define NEW_KOKKOS "KOKKOS_TOOLS_LIBS"

static const char *const names[] = {
	"INTEL_LIBITTNOTIFY64", "NVTX_INJECTION64_PATH", OLD_KOKKOS, NEW_KOKKOS};

/* The answers, in memory that is the program's to change: Kokkos cuts what it gets
 * at semicolons. */
static struct {
	char own_path[4096];
	/* Settings for the simulated PMU. */
	struct {
		const char *name;
		char value[8];
	} settings[4];
} answers = {
	.settings = {{"OMP_WAIT_POLICY", "passive"},   /* libgomp */
		{"OMPI_MCA_mpi_yield_when_idle", "1"}, /* Open MPI */
		{"MPIR_CVAR_POLLS_BEFORE_YIELD", "1"}, /* MPICH */
		{"HWLOC_COMPONENTS", "-x86"}},
};

void cp_injection_start(void)
{
	if (cp_library_path(answers.own_path, sizeof(answers.own_path)) < 0)
		answers.own_path[0] = '\0';
}

const char *cp_injection_of_user(const char *name)
{
	return CP_REAL(getenv)(name);
}

static bool is_injection(const char *name)
{
	if (name[0] != 'I' && name[0] != 'N' && name[0] != 'K')
		return false;
	return CP_IS_AMONG(name, names);
}

/* ---- the caller: Kokkos, for one, asks for one variable before 3.7, and warns of it
 * from then on ---- */

struct module {
	uintptr_t address;
	const char *text;
	bool has_text;
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
			module->has_text |=
				CP_REAL(memmem)((const void *)(info->dlpi_addr +
							       segment->p_vaddr),
					segment->p_filesz, module->text,
					strlen(module->text)) != NULL;
	}
	return inside;
}

static bool has_text(const void *caller, const char *text)
{
	struct module module = {(uintptr_t)caller, text, false};

	cp_walk_objects(look_into, &module);
	return module.has_text;
}

/* A tool of the user's looks for the next one of a chain. */
static bool is_tool(const void *caller, const char *entry)
{
	void *library, *found;
	Dl_info info, theirs;

	if (!dladdr(caller, &info))
		return false;
	library = CP_REAL(dlopen)(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
	if (!library)
		return false;
	found = dlsym(library, entry);
	dlclose(library);
	return found && dladdr(found, &theirs) && theirs.dli_fbase == info.dli_fbase;
}

/* A tool of Kokkos may have any of its functions, and few of them. */
static bool is_named(const void *caller, const char *users)
{
	size_t length = users ? strcspn(users, ";") : 0;
	void *named, *library;
	char path[4096];
	Dl_info info;

	if (length == 0 || length >= sizeof(path) || !dladdr(caller, &info))
		return false;
	memcpy(path, users, length);
	path[length] = '\0';
	named = CP_REAL(dlopen)(path, RTLD_LAZY | RTLD_NOLOAD);
	library = named ? CP_REAL(dlopen)(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD) : NULL;
	if (library)
		dlclose(library);
	if (named)
		dlclose(named);
	return named && named == library;
}

/* Does the caller look for a tool to call, or does it only look? */
static bool looks_for_tool(const char *name, const char *user, const void *caller)
{
	switch (name[0]) {
	case 'I':
		return has_text(caller, "__itt_api_init") &&
		       !is_tool(caller, "__itt_api_init") && cp_itt_stands_in();
	case 'N':
		return has_text(caller, "InitializeInjectionNvtx2") &&
		       !is_tool(caller, "InitializeInjectionNvtx2");
	default:
		return has_text(caller, "kokkosp_") &&
		       !is_tool(caller, "kokkosp_init_library") &&
		       !is_named(caller, user);
	}
}

static bool answers_for(const char *name, const char *user, const void *caller)
{
	if (!answers.own_path[0] || !cp_counting())
		return false;
	/* Kokkos stops when its option names another library than the variable. */
	if (name[0] == 'K' && cp_given_argument("--kokkos-tools-lib"))
		return false;
	return looks_for_tool(name, user, caller) &&
	       (user || strcmp(name, OLD_KOKKOS) != 0 || !has_text(caller, NEW_KOKKOS));
}

/* ---- settings for the simulated PMU ---- */

static char *set_value(const char *name)
{
	if (name[0] != 'O' && name[0] != 'M' && name[0] != 'H')
		return NULL;
	for (size_t i = 0; i < sizeof(answers.settings) / sizeof(answers.settings[0]);
		i++)
		if (strcmp(name, answers.settings[i].name) == 0)
			return answers.settings[i].value;
	return NULL;
}

EXPORT char *getenv(const char *name)
{
	char *user = CP_REAL(getenv)(name);
	const char *caller = __builtin_return_address(0);

	if (!user && cp_engine->runs_one_thread && cp_counting())
		user = set_value(name);
	if (is_injection(name) && answers_for(name, user, caller))
		return answers.own_path;
	return user;
}
