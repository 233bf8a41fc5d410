/* SPDX-License-Identifier: MIT */
#include "preload/threads/golang.h"

#include <elf.h>
#include <link.h>
#include <linux/futex.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>

#include "base/log.h"
#include "base/syscall.h"
#include "preload/helper.h"
#include "preload/runtime.h"
#include "preload/threads/threads.h"
#include "preload/run.h"

#define FIRST_NS 10000000ull /* the shortest time between readings */
#define LAST_NS 200000000ull /* the longest */
#define SHARE 16             /* of the run so far, between them */

static void wake_helper(void);
static struct cp_helper helper = {.wake = wake_helper};
CP_HELPER_LISTED(helper);

/* ---- is it one? ---- */

/* Go's linker leaves a note with its own name. */
static bool has_note(const char *notes, size_t size)
{
	static const char owner[] = "Go\0"; /* with its NUL, to a multiple of 4 */

	while (size >= sizeof(ElfW(Nhdr)) + sizeof(owner)) {
		const ElfW(Nhdr) *note = (const void *)notes;
		size_t length = sizeof(*note) + (((size_t)note->n_namesz + 3) & ~3ul) +
				(((size_t)note->n_descsz + 3) & ~3ul);

		if (note->n_namesz == sizeof(owner) &&
			memcmp(notes + sizeof(*note), owner, sizeof(owner)) == 0)
			return true;
		if (length > size)
			return false;
		notes += length;
		size -= length;
	}
	return false;
}

/* Is it in memory, too? */
static bool is_mapped(const struct dl_phdr_info *module, const ElfW(Phdr) * part)
{
	for (unsigned i = 0; i < module->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &module->dlpi_phdr[i];

		if (segment->p_type == PT_LOAD && (segment->p_flags & PF_R) &&
			part->p_vaddr >= segment->p_vaddr &&
			part->p_vaddr - segment->p_vaddr <= segment->p_filesz &&
			part->p_filesz <=
				segment->p_filesz - (part->p_vaddr - segment->p_vaddr))
			return true;
	}
	return false;
}

static void look_for_go(const struct dl_phdr_info *module, bool *found)
{
	for (unsigned i = 0; i < module->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &module->dlpi_phdr[i];

		const char *notes = (const char *)module->dlpi_addr + segment->p_vaddr;

		if (notes && segment->p_type == PT_NOTE && segment->p_align <= 4 &&
			is_mapped(module, segment) && has_note(notes, segment->p_filesz))
			*found = true;
	}
}

/* The headers are the kernel's: dl_iterate_phdr(3) may be a sanitizer's, whose runtime
 * is not ready yet. */
static void look_into_program(bool *found)
{
	struct dl_phdr_info program = {
		.dlpi_phdr = (const void *)getauxval(AT_PHDR),
		.dlpi_phnum = (ElfW(Half))getauxval(AT_PHNUM),
	};

	if (!program.dlpi_phdr)
		return;
	for (unsigned i = 0; i < program.dlpi_phnum; i++)
		if (program.dlpi_phdr[i].p_type == PT_PHDR)
			program.dlpi_addr = (ElfW(Addr))program.dlpi_phdr -
					    program.dlpi_phdr[i].p_vaddr;
	look_for_go(&program, found);
}

static bool is_go(void)
{
	bool found = false;

	look_into_program(&found);
	return found;
}

/* ---- readings ---- */

static void take_nothing(void)
{
}

static void wake_helper(void)
{
	if (!cp_confined())
		cp_syscall(SYS_futex, &helper.stopping, FUTEX_WAKE_PRIVATE, 1, NULL, NULL,
			0);
}

static uint64_t pause_after(uint64_t ns)
{
	ns /= SHARE;
	if (ns < FIRST_NS)
		return FIRST_NS;
	return ns < LAST_NS ? ns : LAST_NS;
}

static int run_helper(void *unused)
{
	uint64_t began = cp_now_ns();

	(void)unused;
	while (cp_counting() && !cp_helper_told(&helper)) {
		cp_helper_wait(&helper, pause_after(cp_now_ns() - began));
		if (cp_counting())
			cp_threads_sample(take_nothing);
	}
	cp_syscall(SYS_exit, 0);
	return 0;
}

void cp_golang_start(void)
{
	if (!is_go())
		return;
	if (cp_is_root() && !cp_run.launched && !cp_runtime.forked)
		cp_say("Go programs make the exit system call themselves: "
		       "no report is written at the end. `cachepeek report` "
		       "writes it then; `cachepeek ./app`, instead of LD_PRELOAD, "
		       "does so at once");
	/* A time series has readings of its own. */
	if (!cp_engine->counts_whole_threads && !cp_runtime.record.series)
		cp_helper_start(&helper, run_helper);
}
