/* SPDX-License-Identifier: MIT
 *
 * The dynamic linker calls an empty function, for debuggers, when it has changed the list
 * of what is loaded: behind the mapping of a library, before anything in it runs, its
 * relocations included.  That function is patched as any other is.
 */
#include "preload/patch/modules.h"

#include <link.h>
#include <string.h>
#include <sys/auxv.h>

#include "base/arena.h"
#include "preload/patch/calls.h"
#include "preload/patch/module.h"
#include "preload/patch/plan.h"

#define LINKER_FUNCTION 16 /* bytes that are its own, or its alignment's */

struct seen {
	struct seen *next;
	uintptr_t bias;
	const char *path;
	unsigned round; /* in which it was there last */
};

/* All modules that were looked through. */
static struct {
	const struct cp_patch_host *host;
	enum cp_patch_why never;
	struct cp_store store;
	struct seen *seen, *unused;
	unsigned round;
	bool looks_later;
} modules;

static struct seen *find_module(const struct dl_phdr_info *info)
{
	struct seen *s = modules.seen;

	while (s && (s->bias != info->dlpi_addr || strcmp(s->path, info->dlpi_name) != 0))
		s = s->next;
	return s;
}

static struct seen *add_module(const struct dl_phdr_info *info)
{
	struct seen *s = modules.unused ? modules.unused
					: cp_store_take(&modules.store, sizeof(*s));

	if (!s)
		return NULL;
	if (s == modules.unused)
		modules.unused = s->next;
	s->bias = info->dlpi_addr;
	s->path = cp_store_copy(&modules.store, info->dlpi_name, strlen(info->dlpi_name));
	s->next = modules.seen;
	modules.seen = s;
	return s->path ? s : NULL;
}

/* The dynamic linker itself, and what the kernel maps, are nobody's functions. */
static bool is_system(const struct dl_phdr_info *info)
{
	return info->dlpi_addr == getauxval(AT_BASE) ||
	       strncmp(info->dlpi_name, "linux-vdso", 10) == 0;
}

static bool has_address(const struct dl_phdr_info *info, uintptr_t address)
{
	for (unsigned i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_LOAD &&
			address - info->dlpi_addr - info->dlpi_phdr[i].p_vaddr <
				info->dlpi_phdr[i].p_memsz)
			return true;
	return false;
}

static bool is_ours(const struct dl_phdr_info *info)
{
	return has_address(info, (uintptr_t)modules.host->begin) ||
	       has_address(info, (uintptr_t)cp_modules_look) ||
	       strstr(info->dlpi_name, "/libcachepeek/");
}

static int look_at(struct dl_phdr_info *info, size_t size, void *context)
{
	struct seen *s = find_module(info);

	(void)size;
	(void)context;
	if (!s) {
		s = add_module(info);
		if (s && !is_system(info) && !is_ours(info))
			cp_module_patch(info, modules.host, modules.never);
	}
	if (s)
		s->round = modules.round;
	return 0;
}

/* Another library may come to where one was. */
static void forget_closed(void)
{
	for (struct seen **link = &modules.seen, *s; (s = *link);) {
		if (s->round == modules.round) {
			link = &s->next;
			continue;
		}
		*link = s->next;
		s->next = modules.unused;
		modules.unused = s;
	}
}

/* Two frames with one stack pointer are one to it: it asks the first of them to stop. */
static int look_for_unwinder(struct dl_phdr_info *info, size_t size, void *context)
{
	(void)size;
	(void)context;
	if (strstr(info->dlpi_name, "/libunwind.so.1") && modules.never == CP_PATCH_DONE)
		modules.never = CP_PATCH_UNWINDER;
	return 0;
}

void cp_modules_look(void)
{
	if (!modules.host->enter())
		return;
	modules.round++;
	modules.host->walk(look_for_unwinder, NULL);
	modules.host->walk(look_at, NULL);
	forget_closed();
	modules.host->leave();
}

static bool patch_linker(void)
{
	struct cp_code code = {.address = (uintptr_t)_r_debug.r_brk};
	struct cp_plan plan;

	if (!code.address)
		return false;
	code.low = code.address;
	code.high = code.end = code.address + LINKER_FUNCTION;
	return cp_plan_make(&code, &plan) == CP_PATCH_DONE &&
	       cp_module_patch_one(&plan, CP_CALL_LOADED);
}

void cp_modules_start(const struct cp_patch_host *library, enum cp_patch_why why)
{
	modules.host = library;
	modules.never = why;
	modules.looks_later = modules.never == CP_PATCH_DONE && patch_linker();
}

bool cp_modules_look_later(void)
{
	return modules.looks_later;
}
