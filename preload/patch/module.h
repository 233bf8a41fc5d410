/* SPDX-License-Identifier: MIT
 *
 * The functions of one file of the process.
 */
#ifndef CACHEPEEK_PRELOAD_PATCH_MODULE_H
#define CACHEPEEK_PRELOAD_PATCH_MODULE_H

#include <link.h>

#include "preload/patch/plan.h"

/* Patches those that are chosen. */
void cp_module_patch(const struct dl_phdr_info *info, const struct cp_patch_host *host,
	enum cp_patch_why never);

/* One function, whose plan is made. */
bool cp_module_patch_one(const struct cp_plan *plan, uint32_t number);

#endif
