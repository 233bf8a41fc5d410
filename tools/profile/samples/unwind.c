/* SPDX-License-Identifier: MIT */
#include "tools/profile/samples/unwind.h"
#include "tools/profile/model/symbols_parts.h"

#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/files/trusted.h"

/* The one thread that libdw is told of. */
enum { THREAD = 1 };

struct cp_unwinder {
	Dwfl *dwfl;
	bool attached;
	const struct cp_samples_chain *chain;
	const struct cp_memory *memory;
	uint64_t *address; /* of the frames up to now */
	uint64_t last;     /* what the last one was before it was an address of a call */
	size_t n;
};

struct cp_unwinder *cp_unwinder_new(struct cp_arena *arena)
{
	struct cp_unwinder *unwinder = cp_arena_alloc(arena, sizeof(*unwinder));

	unwinder->dwfl = dwfl_begin(&cp_dwfl_callbacks);
	return unwinder->dwfl ? unwinder : NULL;
}

void cp_unwinder_close(struct cp_unwinder *unwinder)
{
	if (unwinder)
		dwfl_end(unwinder->dwfl);
}

/* ---- the code ---- */

static bool may_be_read(const char *path)
{
	char reason[160];
	int fd = cp_trusted_open(
		AT_FDCWD, path, CP_NAMED, CP_TRUSTED_PROGRAM, reason, sizeof(reason));

	if (fd < 0)
		return false;
	close(fd);
	return true;
}

/* Tells libdw of the file that is mapped there. */
static void report_file(struct cp_unwinder *unwinder, uint64_t address)
{
	size_t at = cp_memory_find(unwinder->memory, address);
	const struct cp_mapped *mapped = &unwinder->memory->mapped[at];

	if (at == unwinder->memory->nmapped || *mapped->path != '/' ||
		dwfl_addrmodule(unwinder->dwfl, address) || !may_be_read(mapped->path))
		return;
	dwfl_report_begin_add(unwinder->dwfl);
	dwfl_report_elf(unwinder->dwfl, mapped->path, mapped->path, -1,
		mapped->start - mapped->offset, false);
	dwfl_report_end(unwinder->dwfl, NULL, NULL);
}

/* ---- what libdw asks for ---- */

static pid_t next_thread(Dwfl *dwfl, void *of, void **thread_arg)
{
	(void)dwfl;
	if (*thread_arg)
		return 0;
	*thread_arg = of;
	return THREAD;
}

/* Where a frame pointer points to is the next one, and behind it the address that the
 * kernel has found there. */
static bool read_word(Dwfl *dwfl, Dwarf_Addr address, Dwarf_Word *result, void *of)
{
	const struct cp_unwinder *unwinder = of;
	const struct cp_samples_chain *chain = unwinder->chain;
	uint64_t offset = address - chain->registers.sp;

	(void)dwfl;
	if (address >= chain->registers.sp && offset / 8 < chain->stack &&
		offset % 8 == 0) {
		*result = chain->word[chain->n + offset / 8];
		return true;
	}
	if (address != chain->registers.fp + 8 || chain->n < 2)
		return false;
	*result = chain->word[1];
	return true;
}

static bool set_registers(Dwfl_Thread *thread, void *of)
{
	const struct cp_unwinder *unwinder = of;
	const struct cp_unwound_registers *r = &unwinder->chain->registers;
#if defined(__x86_64__)
	const Dwarf_Word known[] = {r->fp, r->sp};

	dwfl_thread_state_register_pc(thread, r->pc);
	return dwfl_thread_state_registers(thread, 6, 2, known) &&
	       dwfl_thread_state_registers(thread, 16, 1, &r->pc);
#elif defined(__aarch64__)
	const Dwarf_Word known[] = {r->fp, r->lr, r->sp};

	dwfl_thread_state_register_pc(thread, r->pc);
	return dwfl_thread_state_registers(thread, 29, 3, known);
#else
	(void)thread;
	(void)r;
	return false;
#endif
}

static const Dwfl_Thread_Callbacks thread_callbacks = {
	.next_thread = next_thread,
	.memory_read = read_word,
	.set_initial_registers = set_registers,
};

static int add_frame(Dwfl_Frame *frame, void *of)
{
	struct cp_unwinder *unwinder = of;
	Dwarf_Addr pc;
	bool exact;

	if (!dwfl_frame_pc(frame, &pc, &exact) || !pc || unwinder->n == CP_CHAIN_LENGTH)
		return DWARF_CB_ABORT;
	report_file(unwinder, pc);
	unwinder->last = pc;
	unwinder->address[unwinder->n++] = exact ? pc : pc - 1;
	return DWARF_CB_OK;
}

/* ---- a chain ---- */

/* libdw learns the machine from a file. */
static bool attach_state(struct cp_unwinder *unwinder)
{
	if (!unwinder->attached)
		unwinder->attached = dwfl_attach_state(
			unwinder->dwfl, NULL, THREAD, &thread_callbacks, unwinder);
	return unwinder->attached;
}

/* Adds the frames that frame pointers lead to from the last of these on; all of them,
 * if there are none. */
static void add_rest(struct cp_unwinder *unwinder)
{
	const struct cp_samples_chain *chain = unwinder->chain;
	uint32_t i = 0;

	if (!unwinder->n && chain->n)
		unwinder->address[unwinder->n++] = unwinder->last = chain->word[0];
	while (i < chain->n && chain->word[i] != unwinder->last)
		i++;
	while (++i < chain->n && unwinder->n < CP_CHAIN_LENGTH)
		unwinder->address[unwinder->n++] = chain->word[i] - 1;
}

/* The stack behind the innermost frame up to where nothing is mapped: a register that is
 * no frame pointer leads to no caller. */
static size_t in_memory(const struct cp_unwinder *unwinder)
{
	size_t n = 1;

	while (n < unwinder->n && cp_memory_find(unwinder->memory, unwinder->address[n]) <
					  unwinder->memory->nmapped)
		n++;
	return n < unwinder->n ? n : unwinder->n;
}

size_t cp_unwind(struct cp_unwinder *unwinder, const struct cp_memory *memory,
	const struct cp_samples_chain *chain, uint64_t address[CP_CHAIN_LENGTH])
{
	unwinder->chain = chain;
	unwinder->memory = memory;
	unwinder->address = address;
	unwinder->n = 0;
	unwinder->last = 0;
	if (chain->stack) {
		report_file(unwinder, chain->registers.pc);
		if (attach_state(unwinder))
			dwfl_getthread_frames(
				unwinder->dwfl, THREAD, add_frame, unwinder);
	}
	add_rest(unwinder);
	return in_memory(unwinder);
}
