/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What the command line says of instructions that the host executes.
 */
#ifndef CACHEPEEK_SIM_NATIVE_OPTIONS_H
#define CACHEPEEK_SIM_NATIVE_OPTIONS_H

#include "pub_tool_basics.h"

extern Bool native_allowed;   /* --native=yes */
extern Bool cpuid_shows_host; /* --cpu=host */
/* --hosted-flush=yes; no is as where the core's dispatcher cannot be patched (mxcsr.c).
 */
extern Bool native_hosts_flush;

#endif
