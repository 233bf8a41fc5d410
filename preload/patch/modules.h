/* SPDX-License-Identifier: MIT
 *
 * The program and its libraries, as they are loaded.
 */
#ifndef CACHEPEEK_PRELOAD_PATCH_MODULES_H
#define CACHEPEEK_PRELOAD_PATCH_MODULES_H

#include "preload/patch/patch.h"

/* why: what forbids any patch, CP_PATCH_DONE if nothing does. */
void cp_modules_start(const struct cp_patch_host *host, enum cp_patch_why why);

/* Patches what has come since the last time. */
void cp_modules_look(void);

bool cp_modules_look_later(void);

#endif
