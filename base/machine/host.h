/* SPDX-License-Identifier: MIT
 *
 * The machine "host": as sysfs tells it, and as the user's file of measured figures does.
 */
#ifndef CACHEPEEK_BASE_MACHINE_MACHINE_HOST_H
#define CACHEPEEK_BASE_MACHINE_MACHINE_HOST_H

#include "base/machine/machine.h"

extern const struct cp_machine cp_machine_defaults;

/* Takes sizes from sysfs, or of caches, if it has none, from CPUID; what they do not tell
 * is assumed, and said in note.  Returns false if neither tells caches. */
bool cp_machine_sizes(struct cp_machine *machine);

/* With what was measured, if that was on this processor; plain: as cp_machine_find has
 * it. */
void cp_machine_host(struct cp_machine *machine, bool plain);

/* $XDG_CONFIG_HOME/cachepeek/host.machine, or below ~/.config.  False: neither variable
 * names a directory. */
bool cp_host_file(char *to, size_t size);

/* One word that tells this processor from others: its model and its caches. */
void cp_host_word(const struct cp_machine *machine, char *to, size_t size);

#endif
