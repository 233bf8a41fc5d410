/* SPDX-License-Identifier: MIT */
#include "preload/program/level.h"

#include <string.h>

#include "base/counters/options.h"
#include "base/engine/simclient.h"
#include "base/format.h"
#include "base/machine/features.h"
#include "preload/planned.h"
#include "preload/program/pinned.h"
#include "preload/runtime.h"
#include "preload/walk.h"
#include "tools/sim/request.h"

#ifdef __x86_64__
#include <elf.h>
#include <link.h>
#include <stdint.h>

enum { ALIGNMENT = 8 };

static size_t padded(size_t size)
{
	return (size + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
}

/* The property of this type in a note's description; 0: it has none. */
static uint32_t find_property(const uint8_t *at, const uint8_t *end, uint32_t type)
{
	uint32_t head[3];

	while ((size_t)(end - at) >= sizeof(head)) {
		memcpy(head, at, sizeof(head));
		if (head[0] == type && head[1] == sizeof(uint32_t))
			return head[2];
		if (padded(head[1]) + 2 * sizeof(uint32_t) > (size_t)(end - at))
			break;
		at += 2 * sizeof(uint32_t) + padded(head[1]);
	}
	return 0;
}

static int look_at(struct dl_phdr_info *module, size_t size, void *found)
{
	(void)size;
	for (unsigned i = 0; i < module->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &module->dlpi_phdr[i];
		const uint8_t *note = (const uint8_t *)module->dlpi_addr + p->p_vaddr;
		ElfW(Nhdr) head;

		if (p->p_type != PT_GNU_PROPERTY || p->p_memsz < sizeof(head) + 4)
			continue;
		memcpy(&head, note, sizeof(head));
		if (head.n_type != NT_GNU_PROPERTY_TYPE_0 || head.n_namesz != 4 ||
			head.n_descsz > p->p_memsz - sizeof(head) - 4)
			continue;
		note += sizeof(head) + head.n_namesz;
		*(uint32_t *)found |= find_property(
			note, note + head.n_descsz, GNU_PROPERTY_X86_ISA_1_NEEDED);
	}
	return 0;
}

/* Does the program, or a library that it was started with, need x86-64-v4? */
static bool is_above_avx2(void)
{
	uint32_t needed = 0;

	cp_walk_objects(look_at, &needed);
	return needed & GNU_PROPERTY_X86_ISA_1_V4;
}

#else

static bool is_above_avx2(void)
{
	return false;
}

#endif

/* The processor that auto stands for. */
static enum cp_shown_cpu suitable(void)
{
#ifdef __x86_64__
	if (cp_plan.nmachines != 1 || cp_is_reproducible(cp_options.reproducible))
		return CP_SHOWN_VALGRINDS;
	if (strcmp(cp_plan.machine[0].name, "host") == 0)
		return CP_SHOWN_HOSTS;
	if (cp_shown_has(&cp_plan.machine[0]))
		return CP_SHOWN_MACHINES;
#endif
	return CP_SHOWN_VALGRINDS;
}

enum cp_shown_cpu cp_level_shown(void)
{
	return cp_options.cpu == CP_CPU_AUTO   ? suitable()
	       : cp_options.cpu == CP_CPU_HOST ? CP_SHOWN_HOSTS
					       : CP_SHOWN_VALGRINDS;
}

enum cp_shown_cpu cp_level_to_show(
	enum cp_shown_cpu wanted, const struct cp_machine *machine)
{
	uint64_t above = cp_features_named("x86-64-v4");

	if (wanted == CP_SHOWN_MACHINES && (machine->shown.features & above) == above)
		return wanted;
	return wanted == CP_SHOWN_HOSTS || is_above_avx2() ? CP_SHOWN_HOSTS : wanted;
}

/* "zen4", "zen4, without avx512f" */
static void note_machine(const struct cp_machine *machine)
{
	char text[1024], names[900];

	cp_features_list(cp_shown_lacking(machine), names, sizeof(names));
	cp_format(text, sizeof(text), "%s%s%s", machine->name, *names ? ", without " : "",
		names);
	cp_record_put_meta(&cp_runtime.record, "cpu", text, strlen(text));
}

void cp_level_note(void)
{
	unsigned long shown;

	if (!cp_plan_machine(&cp_plan))
		return;
	shown = cp_sim_request(CP_SIM_SHOWS_HOST, NULL);
	if (shown == CP_SIM_SHOWS_MACHINES)
		note_machine(&cp_plan.machine[0]);
	else if (shown && cp_level_shown() == CP_SHOWN_HOSTS)
		cp_record_put_meta(&cp_runtime.record, "cpu", "host", 4);
	else if (shown)
		cp_record_put_meta(&cp_runtime.record, "shown", "x86-64-v4", 9);
}
