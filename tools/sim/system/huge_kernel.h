/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CACHEPEEK_SIM_HUGE_KERNEL_H
#define CACHEPEEK_SIM_HUGE_KERNEL_H

#include "pub_tool_basics.h"

void huge_register(void); /* before the options are read */
void huge_start(void);    /* before there are machines */

#endif
