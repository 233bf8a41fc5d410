/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CACHEPEEK_SIM_NATIVE_UNFOLDED_H
#define CACHEPEEK_SIM_NATIVE_UNFOLDED_H

#include "tool.h"

/* The statements from that one on are an instruction's, which VEX has decoded. */
void unfolded_keep_loads(IRSB *out, Int from);

#endif
