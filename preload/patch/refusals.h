/* SPDX-License-Identifier: MIT
 *
 * Functions that are no regions, and why.
 */
#ifndef CACHEPEEK_PRELOAD_PATCH_REFUSALS_H
#define CACHEPEEK_PRELOAD_PATCH_REFUSALS_H

#include "preload/patch/patch.h"

void cp_refuse(enum cp_patch_why why, const char *name);
void cp_refusals(enum cp_patch_why why, struct cp_patch_refused *refused);

#endif
