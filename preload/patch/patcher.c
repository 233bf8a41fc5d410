/* SPDX-License-Identifier: MIT */
#include "preload/patch/patch.h"

#include "preload/patch/architecture.h"
#include "preload/patch/calls.h"
#include "preload/patch/choose.h"
#include "preload/patch/modules.h"
#include "preload/patch/refusals.h"

static void start_patcher(const struct cp_patch_host *host, const char *patterns)
{
	enum cp_patch_why why = cp_architecture_start();

	if (why == CP_PATCH_DONE)
		why = cp_calls_start(host, cp_modules_look);
	cp_choose_start(patterns);
	cp_modules_start(host, why);
	cp_modules_look();
}

extern const struct cp_patcher cp_patcher;

__attribute__((visibility("default"))) const struct cp_patcher cp_patcher = {
	.start = start_patcher,
	.missed = cp_calls_missed,
	.found = cp_choose_found,
	.refused = cp_refusals,
	.looks_later = cp_modules_look_later,
	.jump = cp_calls_jump,
};
