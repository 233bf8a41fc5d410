/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Where stubs are kept: kept.c has one of those that are alike for as long as the tool
 * runs, shadow.so (tools/shadow/native.c) has them as long as translations that call
 * them.
 */
#ifndef CACHEPEEK_SIM_NATIVE_KEPT_H
#define CACHEPEEK_SIM_NATIVE_KEPT_H

#include "native/assembler.h"

/* NULL: there is no memory. */
void *native_keep_stub(const struct assembler *a);

#endif
