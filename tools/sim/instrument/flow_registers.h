/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The numbers of the registers that values flow through (model/flow.h), by where VEX
 * keeps them.
 */
#ifndef CACHEPEEK_SIM_FLOW_REGISTERS_H
#define CACHEPEEK_SIM_FLOW_REGISTERS_H

#include "pub_tool_guest.h"
#include "model/flow.h"
#include "tool.h"

#if defined(VGA_amd64)
#define STACK_REGISTER 4
#define VECTORS_FROM ((Int)offsetof(VexGuestAMD64State, guest_YMM0))
#define VECTOR_BYTES                                                                     \
	((Int)(offsetof(VexGuestAMD64State, guest_YMM1) -                                \
		offsetof(VexGuestAMD64State, guest_YMM0)))
#define NVECTORS 16
#define GENERAL_FROM ((Int)offsetof(VexGuestAMD64State, guest_RAX))
#define NGENERAL 16
#define FLAGS_FROM ((Int)offsetof(VexGuestAMD64State, guest_CC_OP))
#define FLAGS_TO ((Int)offsetof(VexGuestAMD64State, guest_DFLAG))
#elif defined(VGA_arm64)
#define STACK_REGISTER 31
#define VECTORS_FROM ((Int)offsetof(VexGuestARM64State, guest_Q0))
#define VECTOR_BYTES 16
#define NVECTORS 29
#define GENERAL_FROM ((Int)offsetof(VexGuestARM64State, guest_X0))
#define NGENERAL 32
#define FLAGS_FROM ((Int)offsetof(VexGuestARM64State, guest_CC_OP))
#define FLAGS_TO ((Int)offsetof(VexGuestARM64State, guest_CC_NDEP) + 8)
#endif
#define FLAGS NGENERAL
#define FIRST_VECTOR (FLAGS + 1)
#define FIRST_WORD (FIRST_VECTOR + NVECTORS) /* of memory (carried.h) */

/* -1: none that values flow through. */
static Int register_at(Int offset)
{
	if (offset >= FLAGS_FROM && offset < FLAGS_TO)
		return FLAGS;
	if (offset >= GENERAL_FROM && offset < GENERAL_FROM + 8 * NGENERAL)
		return (offset - GENERAL_FROM) / 8;
	if (offset >= VECTORS_FROM && offset < VECTORS_FROM + VECTOR_BYTES * NVECTORS)
		return FIRST_VECTOR + (offset - VECTORS_FROM) / VECTOR_BYTES;
	return -1;
}

#endif
