/* SPDX-License-Identifier: MIT
 *
 * Looks up what is loaded: which objects call a function of some name, or have one.
 */
#ifndef CACHEPEEK_PRELOAD_MARKERS_LOADED_H
#define CACHEPEEK_PRELOAD_MARKERS_LOADED_H

#include <stdbool.h>
#include <stdint.h>

#define CP_LOADED_MOST 64 /* more of them than that are not looked at */

/* Objects, each by the address of its dynamic section, in the order of their loading;
 * ours is none of them. */
struct cp_loaded {
	const void *dynamic[CP_LOADED_MOST];
	bool weak[CP_LOADED_MOST]; /* it does without that function, too */
	unsigned n;
};

/* cp_loaded_users finds the objects that the dynamic linker has to tell where the
 * function is: they call it, or have its address.  cp_loaded_owners finds those that have
 * it. */
void cp_loaded_users(const char *function, struct cp_loaded *found);
void cp_loaded_owners(const char *function, struct cp_loaded *found);

/* The object that an address is in: its dynamic section, NULL for none.  Ours? */
const void *cp_loaded_at(const void *address);
bool cp_loaded_is_ours(const void *address);

/* Called before anything but the program and what it is linked with is loaded: is the
 * address in one of those? */
void cp_loaded_note_first(void);
bool cp_loaded_is_first(const void *address);

/* At the same time: the path of a library, not ours, that asks to be initialised before
 * all others (the last is, -z initfirst), and so was before us; NULL: there is none. */
const char *cp_loaded_before_us(void);

/*
 * Changes before anything is loaded, so that what was found out about the loaded
 * objects is known to be old.  Async-signal-safe; takes no lock.
 */
uint64_t cp_loaded_count(void);

/* Looks up, and keeps, what was found, or not (NULL), by a key that is made of that
 * number and more; some are forgotten.  Async-signal-safe, too. */
bool cp_loaded_is_known(uint64_t key, void **found);
void cp_loaded_know(uint64_t key, const void *found);

#endif
