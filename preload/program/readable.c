/* SPDX-License-Identifier: MIT */
#include "preload/program/readable.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "base/syscall.h"
#include "base/engine/simclient.h"
#include "preload/runtime.h"

#define PAGE 4096ul
#define NO_PAGE ((uintptr_t)-1)

/* The kernel reads a set of signals before it refuses to do nonsense with it; nothing
 * else happens.  The simulator answers that call itself. */
static bool ask_kernel(uintptr_t page)
{
	if (cp_is_reexecuted())
		return cp_sim_readable((const void *)page);
	return cp_confined() || cp_syscall(SYS_rt_sigprocmask, -1, page, NULL,
					sizeof(uint64_t)) != -EFAULT;
}

/* known: the page that was asked about last. */
static bool can_read_page(uintptr_t at, uintptr_t *known)
{
	uintptr_t page = at & ~(PAGE - 1);

	if (page == *known)
		return true;
	if (!page || !ask_kernel(page))
		return false;
	*known = page;
	return true;
}

static bool can_read(const void *memory, size_t size, uintptr_t *known)
{
	uintptr_t at = (uintptr_t)memory, end = at + size;

	if (end < at)
		return false;
	for (; at < end; at = (at | (PAGE - 1)) + 1)
		if (!can_read_page(at, known))
			return false;
	return true;
}

static bool can_read_text(const char *text, uintptr_t *known)
{
	for (;;) {
		size_t rest = PAGE - ((uintptr_t)text & (PAGE - 1));

		if (!can_read_page((uintptr_t)text, known))
			return false;
		if (memchr(text, '\0', rest))
			return true;
		text += rest;
	}
}

bool cp_can_read(const void *memory, size_t size)
{
	uintptr_t known = NO_PAGE;

	return can_read(memory, size, &known);
}

bool cp_can_read_text(const char *text)
{
	uintptr_t known = NO_PAGE;

	return can_read_text(text, &known);
}

bool cp_can_read_texts(char *const texts[])
{
	uintptr_t array = NO_PAGE, text = NO_PAGE;

	if (!texts)
		return true;
	for (;; texts++) {
		if (!can_read(texts, sizeof(*texts), &array))
			return false;
		if (!*texts)
			return true;
		if (!can_read_text(*texts, &text))
			return false;
	}
}
