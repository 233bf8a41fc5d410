/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The core that traces by hand, and random ones, are of.
 */
#ifndef CACHEPEEK_TESTS_SIM_ONE_CORE_H
#define CACHEPEEK_TESTS_SIM_ONE_CORE_H

#include <string.h>

#include "model/batch.h"
#include "model/model.h"

static struct uncore uncore;
struct core *core;

static void begin_core(const struct machine *m)
{
	memset(&uncore, 0, sizeof(uncore));
	uncore_init(&uncore, m);
	core = core_new(m, &uncore);
	core_attach(core);
	running = core;
}

static void end_core(void)
{
	core_free(core);
	uncore_free(&uncore);
}

#endif
