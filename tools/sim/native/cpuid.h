/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CACHEPEEK_SIM_NATIVE_CPUID_H
#define CACHEPEEK_SIM_NATIVE_CPUID_H

#include "native/native.h"

extern Bool cpuid_shows_host; /* --cpu=host */

#endif
