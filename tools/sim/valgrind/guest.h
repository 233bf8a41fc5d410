/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Where the registers of the guest are in VEX's state, which its versions lay out
 * differently.
 */
#ifndef CACHEPEEK_SIM_VALGRIND_GUEST_H
#define CACHEPEEK_SIM_VALGRIND_GUEST_H

#include "pub_tool_basics.h"

#if defined(VGA_amd64)
#include "libvex_guest_amd64.h"
typedef VexGuestAMD64State guest_state;
#define GUEST_EITHER(amd64, arm64) STATE_OF(guest_##amd64)
#else
#include "libvex_guest_arm64.h"
typedef VexGuestARM64State guest_state;
#define GUEST_EITHER(amd64, arm64) STATE_OF(guest_##arm64)
#endif

#define STATE_OF(field) offsetof(guest_state, field)

/* A system call's or function's result. */
#define GUEST_RESULT GUEST_EITHER(RAX, X0)

#endif
