/* SPDX-License-Identifier: MIT */
#include "preload/program/illegal.h"

#include <dlfcn.h>
#include <stdint.h>
#include <string.h>

#include "base/format.h"
#include "base/text/instruction_set.h"
#include "preload/program/readable.h"
#include "preload/runtime.h"

enum { SHOWN = 8, TEXT = 512 };

/* " at NAME+0x12 (FILE+0x1234)", as far as the loader knows. */
static size_t tell_place(char *to, size_t size, const void *at)
{
	Dl_info found;
	uintptr_t a = (uintptr_t)at;

	if (!dladdr(at, &found) || !found.dli_fname)
		return cp_format(to, size, " at 0x%llx", (unsigned long long)a);
	if (!found.dli_sname)
		return cp_format(to, size, " at %s+0x%llx", found.dli_fname,
			(unsigned long long)(a - (uintptr_t)found.dli_fbase));
	return cp_format(to, size, " at %s+0x%llx (%s+0x%llx)", found.dli_sname,
		(unsigned long long)(a - (uintptr_t)found.dli_saddr), found.dli_fname,
		(unsigned long long)(a - (uintptr_t)found.dli_fbase));
}

/* Its bytes, and what set of instructions it is of. */
static size_t tell_code(char *to, size_t size, const uint8_t *code)
{
	size_t n = 0, used = 0;
	const char *set;

	for (; n < SHOWN && cp_can_read(code + n, 1); n++)
		used += cp_format(to + used, size - used, n ? " %02x" : "%02x", code[n]);
	set = cp_instruction_set(code, n);
	return set ? used + cp_format(to + used, size - used, " (%s)", set) : used;
}

void cp_illegal_note(const siginfo_t *info)
{
	char text[TEXT];
	size_t used;

	if (!cp_counting() || !cp_can_read(info->si_addr, 1))
		return;
	used = tell_code(text, sizeof(text), info->si_addr);
	if (used < sizeof(text))
		tell_place(text + used, sizeof(text) - used, info->si_addr);
	cp_record_put_meta(&cp_runtime.record, "illegal", text, strlen(text));
}
