/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What the host can execute.
 */
#ifndef CACHEPEEK_SIM_NATIVE_HOST_H
#define CACHEPEEK_SIM_NATIVE_HOST_H

#include "native/decode.h"

void native_host_start(void);
Bool native_host_has(const struct native *n);
/* Is it certain that VEX decodes nothing of this kind? */
Bool native_is_foreign(const struct native *n);

#endif
