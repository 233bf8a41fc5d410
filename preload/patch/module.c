/* SPDX-License-Identifier: MIT */
#include "preload/patch/module.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>

#include "base/arena.h"
#include "preload/patch/calls.h"
#include "preload/patch/choose.h"
#include "base/syscall.h"
#include "base/text/name_pattern.h"
#include "preload/patch/elf_file.h"
#include "preload/patch/jumps.h"
#include "preload/patch/memory.h"
#include "preload/patch/refusals.h"

#define HEAD 16 /* before the trampolines: the address of what they call */

/* Under the dynamic linker's lock, and gone when it is done. */
struct work {
	const struct dl_phdr_info *info;
	const struct cp_patch_host *host;
	enum cp_patch_why never;
	struct cp_elf_file file;
	struct cp_store store;
	struct cp_target *targets; /* by address */
	size_t ntargets;
};

/* ---- which ones ---- */

static const ElfW(Phdr) * code_segment(const struct dl_phdr_info *info, uint64_t value)
{
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *s = &info->dlpi_phdr[i];

		if (s->p_type == PT_LOAD && (s->p_flags & PF_X) && (s->p_flags & PF_R) &&
			value - s->p_vaddr < s->p_filesz)
			return s;
	}
	return NULL;
}

/* It begins in the code, and the next one is behind it. */
static struct cp_code code_of(
	const struct work *work, uint64_t value, uint64_t size, uint64_t next)
{
	const ElfW(Phdr) *s = code_segment(work->info, value);
	uintptr_t bias = work->info->dlpi_addr;
	struct cp_code code = {.address = 0};

	if (!s)
		return code;
	code.address = bias + value;
	code.size = size;
	code.low = bias + s->p_vaddr;
	code.high = code.low + s->p_filesz;
	code.end =
		next > value && next - s->p_vaddr < s->p_filesz ? bias + next : code.high;
	return code;
}

static bool is_as_in_file(
	const struct work *work, const struct cp_code *code, const struct cp_plan *plan)
{
	size_t size = plan->at + plan->replaced - code->address;
	const void *bytes =
		cp_elf_at(&work->file, code->address - work->info->dlpi_addr, size);

	return bytes && memcmp(bytes, (const void *)code->address, size) == 0;
}

static enum cp_patch_why plan_target(
	const struct work *work, const struct cp_code *code, struct cp_plan *plan)
{
	enum cp_patch_why why = work->never;

	if (why == CP_PATCH_DONE)
		why = cp_plan_make(code, plan);
	if (why == CP_PATCH_DONE && !is_as_in_file(work, code, plan))
		why = CP_PATCH_DIFFERENT;
	return why;
}

/* Would a breakpoint do what the patch cannot? */
static bool can_stop(enum cp_patch_why why)
{
	return why == CP_PATCH_SHORT || why == CP_PATCH_TARGET || why == CP_PATCH_FIXED ||
	       why == CP_PATCH_UNKNOWN || why == CP_PATCH_FAR ||
	       why == CP_PATCH_FORBIDDEN;
}

static void stop_or_refuse(const struct work *work, uintptr_t address, const char *name,
	enum cp_patch_why why)
{
	long number = -1;

	if (can_stop(why) && cp_choose_exactly(name))
		number = cp_calls_add(cp_choose_function(work->host, name), 0);
	if (number >= 0 && work->host->stop_at(address, (uint32_t)number, cp_call_enter))
		why = CP_PATCH_STOPPED;
	cp_refuse(why, name);
}

static void add_target(
	struct work *work, const struct cp_code *code, const char *name, bool special)
{
	struct cp_target target = {.name = name};
	enum cp_patch_why why =
		special ? CP_PATCH_SPECIAL : plan_target(work, code, &target.plan);

	if (why == CP_PATCH_DONE)
		work->targets[work->ntargets++] = target;
	else
		stop_or_refuse(work, code->address, name, why);
}

/* All names of one place, from the first on; how many they are. */
static size_t take_place(struct work *work, size_t first)
{
	const struct cp_elf_function *f = &work->file.functions[first];
	size_t left = work->file.nfunctions - first, count = 0;
	const char *name = NULL;
	uint64_t size = 0;
	bool special = false;
	struct cp_code code;

	for (; count < left && f[count].value == f->value; count++) {
		special = special || cp_is_special(f[count].name);
		size = f[count].size > size ? f[count].size : size;
		if (cp_choose(f[count].name) &&
			(!name || cp_name_is_better(f[count].name, name)))
			name = f[count].name;
	}
	if (!name)
		return count;
	code = code_of(work, f->value, size, count < left ? f[count].value : 0);
	if (code.address)
		add_target(work, &code, name, special);
	return count;
}

/* Takes the chosen addresses of modules without symbols. */
static void take_addresses(struct work *work, const char *path)
{
	struct cp_chosen_address chosen;

	for (size_t i = 0; i < CP_MOST_ADDRESSES && cp_choose_address(path, i, &chosen);
		i++) {
		struct cp_code code = code_of(work, chosen.value, 0, 0);
		char *name =
			cp_store_copy(&work->store, chosen.name, strlen(chosen.name));

		if (code.address && name)
			add_target(work, &code, name, false);
	}
}

/* ---- patches ---- */

static bool patch_function(const struct cp_plan *plan, uint32_t number, uintptr_t enter,
	uintptr_t at, enum cp_patch_why *why)
{
	uint8_t code[CP_TRAMPOLINE_SIZE], jump[CP_JUMP_SIZE];
	size_t size = cp_plan_build(plan, number, enter, at, code);

	*why = CP_PATCH_FAR;
	if (!size || !cp_plan_jump(plan, at, jump))
		return false;
	*why = CP_PATCH_FORBIDDEN;
	return cp_code_write(at, code, size) == 0 &&
	       cp_code_write(plan->at, jump, sizeof(jump)) == 0;
}

/* Memory that begins with what trampolines call; 0: there is none. */
static uintptr_t take_memory(
	uintptr_t low, uintptr_t high, size_t count, enum cp_patch_why *why)
{
	uintptr_t enter = (uintptr_t)cp_call_enter_code,
		  at = cp_code_take(low, high, HEAD + count * CP_TRAMPOLINE_SIZE);

	*why = at ? CP_PATCH_FORBIDDEN : CP_PATCH_FAR;
	return at && cp_code_write(at, &enter, sizeof(enter)) == 0 ? at : 0;
}

static void span_of(const struct dl_phdr_info *info, uintptr_t *low, uintptr_t *high)
{
	*low = ~0ul;
	*high = 0;
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *s = &info->dlpi_phdr[i];
		uintptr_t at = info->dlpi_addr + s->p_vaddr;

		if (s->p_type != PT_LOAD)
			continue;
		*low = at < *low ? at : *low;
		*high = at + s->p_memsz > *high ? at + s->p_memsz : *high;
	}
}

static enum cp_patch_why patch_target(const struct work *work,
	const struct cp_target *target, uintptr_t enter, uintptr_t at)
{
	long number = cp_calls_add(
		cp_choose_function(work->host, target->name), target->plan.saved_at);
	enum cp_patch_why why = CP_PATCH_MEMORY;

	return number >= 0 && patch_function(
				      &target->plan, (uint32_t)number, enter, at, &why)
		       ? CP_PATCH_DONE
		       : why;
}

static void patch_all(struct work *work)
{
	enum cp_patch_why why = CP_PATCH_DONE;
	uintptr_t low, high, at = 0;

	span_of(work->info, &low, &high);
	if (work->ntargets)
		at = take_memory(low, high, work->ntargets, &why);
	for (size_t i = 0; i < work->ntargets; i++) {
		const struct cp_target *target = &work->targets[i];
		enum cp_patch_why its = why;

		if (target->jumped_into)
			its = CP_PATCH_TARGET;
		else if (at)
			its = patch_target(
				work, target, at, at + HEAD + i * CP_TRAMPOLINE_SIZE);
		if (its != CP_PATCH_DONE)
			stop_or_refuse(work, target->plan.at, target->name, its);
	}
}

bool cp_module_patch_one(const struct cp_plan *plan, uint32_t number)
{
	enum cp_patch_why why;
	uintptr_t at = take_memory(plan->at, plan->at + plan->replaced, 1, &why);

	return at && patch_function(plan, number, at, at + HEAD, &why);
}

/* ---- a file ---- */

static void look_through(struct work *work, const char *path)
{
	size_t room = work->file.nfunctions + CP_MOST_ADDRESSES;

	work->targets = cp_store_take(&work->store, room * sizeof(*work->targets));
	if (!work->targets)
		return;
	for (size_t i = 0; i < work->file.nfunctions;)
		i += take_place(work, i);
	take_addresses(work, path);
	cp_find_jumps(work->info, work->targets, work->ntargets, &work->store);
	patch_all(work);
}

void cp_module_patch(const struct dl_phdr_info *info, const struct cp_patch_host *host,
	enum cp_patch_why never)
{
	static const char program[] = "/proc/self/exe";
	bool is_program = !*info->dlpi_name;
	struct work work = {.info = info, .host = host, .never = never};
	char path[PATH_MAX] = "";

	if (is_program)
		cp_syscall(SYS_readlinkat, AT_FDCWD, program, path, sizeof(path) - 1);
	if (cp_elf_open(&work.file, is_program ? program : info->dlpi_name,
		    is_program ? path : info->dlpi_name, host, &work.store))
		look_through(&work, is_program ? path : info->dlpi_name);
	cp_elf_close(&work.file);
	cp_store_free(&work.store);
}
