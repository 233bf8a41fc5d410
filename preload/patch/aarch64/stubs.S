/* SPDX-License-Identifier: MIT
 *
 * Where entries of patched functions come to, and what they return to; calls.h says what
 * for.  All registers are kept, but x16 and x17 behind a return, which linkers use, too:
 * callers inside a file may know which ones a function leaves alone.
 */
#include "preload/patch/architecture.h"
#include "preload/patch/calls.h"

#define SAVED 160 /* bytes below the frame pointer */
#define VECTORS 512

	.arch armv8-a+sve

	.macro each_pair do
	.irp n, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30
	\do \n
	.endr
	.endm

	/* Register names are made of numbers: %expression is one, after .altmacro. */
	.altmacro
	.macro pair what, first, second
	\what q\first, q\second, [sp, #16 * \first]
	.endm
	.macro save_pair n
	pair stp, %(\n), %(\n + 1)
	.endm
	.macro restore_pair n
	pair ldp, %(\n), %(\n + 1)
	.endm
	.macro scaled what, n, slot
	\what z\n, [sp, #\slot, mul vl]
	.endm
	.macro scaled_pair what, n
	scaled \what, %(\n), %(\n + 3)
	scaled \what, %(\n + 1), %(\n + 4)
	.endm
	.macro save_scaled n
	scaled_pair str, \n
	.endm
	.macro restore_scaled n
	scaled_pair ldr, \n
	.endm

	/* Predicates are an eighth of a vector: 16 and the first-fault register take three. */
	.macro predicates what
	.irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	\what p\n, [sp, #\n, mul vl]
	.endr
	.endm

	.macro save
	sub sp, sp, #SAVED
	stp x0, x1, [sp]
	stp x2, x3, [sp, #16]
	stp x4, x5, [sp, #32]
	stp x6, x7, [sp, #48]
	stp x8, x9, [sp, #64]
	stp x10, x11, [sp, #80]
	stp x12, x13, [sp, #96]
	stp x14, x15, [sp, #112]
	mrs x9, nzcv
	mrs x10, fpsr
	stp x9, x10, [sp, #128]
	str x18, [sp, #144]
	adrp x9, cp_vectors_scale
	ldrb w9, [x9, #:lo12:cp_vectors_scale]
	cbnz w9, 1f
	sub sp, sp, #VECTORS
	each_pair save_pair
	b 2f
1:	addvl sp, sp, #-32
	addvl sp, sp, #-3
	predicates str
	rdffr p0.b
	str p0, [sp, #16, mul vl]
	each_pair save_scaled
2:
	.endm

	.macro restore
	adrp x9, cp_vectors_scale
	ldrb w9, [x9, #:lo12:cp_vectors_scale]
	cbnz w9, 1f
	each_pair restore_pair
	b 2f
1:	each_pair restore_scaled
	ldr p0, [sp, #16, mul vl]
	wrffr p0.b
	predicates ldr
2:	sub x9, x29, #SAVED
	mov sp, x9
	ldr x18, [sp, #144]
	ldp x9, x10, [sp, #128]
	msr nzcv, x9
	msr fpsr, x10
	ldp x14, x15, [sp, #112]
	ldp x12, x13, [sp, #96]
	ldp x10, x11, [sp, #80]
	ldp x8, x9, [sp, #64]
	ldp x6, x7, [sp, #48]
	ldp x4, x5, [sp, #32]
	ldp x2, x3, [sp, #16]
	ldp x0, x1, [sp]
	mov sp, x29
	.endm

	.text
	.globl cp_call_enter_code
	.hidden cp_call_enter_code
	.type cp_call_enter_code, @function
	/* The trampoline has pushed x29 and x30 of the function's caller, with which this
	 * unwinds, then x16 and x17; w17 is the number. */
cp_call_enter_code:
	.cfi_startproc
	.cfi_def_cfa sp, 32
	.cfi_offset x29, -16
	.cfi_offset x30, -8
	hint #34 /* bti c */
	stp x29, x30, [sp, #-16]!
	.cfi_def_cfa_offset 48
	mov x29, sp
	.cfi_def_cfa_register x29
	save
	mov w0, w17
	add x1, x29, #40
	sub x2, x29, #SAVED
	add x3, x29, #40 /* the first word that is the function's */
	bl cp_call_enter
	restore
	.cfi_def_cfa sp, 48
	ldp x29, x30, [sp], #16
	.cfi_def_cfa_offset 32
	ret
	.cfi_endproc
	.size cp_call_enter_code, .-cp_call_enter_code

	.type leave, @function
	/* x16 is the stub, in the place of the return address.  The return that ends this is
	 * the function's caller's. */
leave:
	.cfi_startproc
	.cfi_register x30, x16
	stp x29, x16, [sp, #-16]!
	.cfi_def_cfa_offset 16
	.cfi_offset x29, -16
	.cfi_offset x30, -8
	mov x29, sp
	.cfi_def_cfa_register x29
	save
	mov x0, x16
	bl cp_call_leave
	str x0, [x29, #8]
	restore
	.cfi_def_cfa sp, 16
	ldp x29, x30, [sp], #16
	.cfi_def_cfa_offset 0
	.cfi_restore x29
	.cfi_restore x30
	ret
	.cfi_endproc
	.size leave, .-leave

	/*
	 * One for each place, of eight bytes.  The return addresses are as far behind the
	 * stub as the stubs are long: a table of eight bytes for each is mapped there.
	 * So the caller's address is *((x30 & mask) + CP_CALLS_BYTES), where the mask leaves
	 * out a signature above; and its stack pointer is ours, as behind any return.
	 * libgcc tells frames apart by their CFA, which therefore is not the stack pointer.
	 */
	.section .text.cp_stubs, "ax", @progbits
	.p2align 16
	.globl cp_call_stubs
	.hidden cp_call_stubs
	.type cp_call_stubs, @function
cp_call_stubs:
	.cfi_startproc
	.cfi_personality 0x9b, personality_reference
	.cfi_def_cfa sp, 1
	/* val_expression, 31 (sp): breg31 0 */
	.cfi_escape 0x16, 0x1f, 0x02, 0x8f, 0x00
	/* val_expression, 30: breg30 0, const8u mask, and, plus_uconst, deref */
	.cfi_escape 0x16, 0x1e, 0x11, 0x8e, 0x00
	.cfi_escape 0x0e, 0xf8, 0xff, 0xff, 0xff, 0xff, 0xff, 0x00, 0x00
	.cfi_escape 0x1a, 0x23, 0x80, 0x80, 0x08, 0x06
	.rept CP_CALLS_ROOM
	adr x16, .
	b leave
	.endr
	.cfi_endproc
	.size cp_call_stubs, .-cp_call_stubs

#include "preload/patch/returns.inc"
