/* SPDX-License-Identifier: MIT
 *
 * Where entries of patched functions come to, and what they return to; calls.h says what
 * for.  All registers are kept: callers inside a file may know which ones a function
 * leaves alone, and the state of vector registers is saved as the CPU has it.
 */
#include "preload/patch/calls.h"
#include "preload/patch/x86_64/frame.h"

#define WORD 8
#define SAVED 10 /* words below the frame pointer */
#define ARGUMENTS 6 /* where the first four are, in their order: rdi, rsi, rdx, rcx */

/* Where cp_vectors (registers.c) has what is saved, and in which form. */
#define VECTORS_MASK 8
#define VECTORS_COMPACT 12

	.macro save
	pushfq
	cld
	push %rax
	push %rcx
	push %rdx
	push %rsi
	push %rdi
	push %r8
	push %r9
	push %r10
	push %r11
	.endm

	/* What xrstor takes: its header has to be zero where xsave does not write. */
	.macro save_vectors
	sub cp_vectors(%rip), %rsp
	and $-64, %rsp
	xor %eax, %eax
	mov %rax, 512(%rsp)
	mov %rax, 520(%rsp)
	mov %rax, 528(%rsp)
	mov %rax, 536(%rsp)
	mov %rax, 544(%rsp)
	mov %rax, 552(%rsp)
	mov %rax, 560(%rsp)
	mov %rax, 568(%rsp)
	mov cp_vectors+VECTORS_MASK(%rip), %eax
	xor %edx, %edx
	cmpb $0, cp_vectors+VECTORS_COMPACT(%rip)
	je 1f
	xsavec (%rsp)
	jmp 2f
1:	xsave (%rsp)
2:
	.endm

	.macro restore
	mov cp_vectors+VECTORS_MASK(%rip), %eax
	xor %edx, %edx
	xrstor (%rsp)
	lea -SAVED*WORD(%rbp), %rsp
	pop %r11
	pop %r10
	pop %r9
	pop %r8
	pop %rdi
	pop %rsi
	pop %rdx
	pop %rcx
	pop %rax
	popfq
	pop %rbp
	.endm

	.text
	.globl cp_call_enter_code
	.hidden cp_call_enter_code
	.type cp_call_enter_code, @function
	/* Above the stack pointer: where to go back, the number, what is skipped, and the
	 * function's return address, with which this unwinds. */
cp_call_enter_code:
	.cfi_startproc
	.cfi_def_cfa %rsp, CP_CALLS_SKIP + 3*WORD
	push %rbp
	.cfi_adjust_cfa_offset WORD
	.cfi_offset %rbp, -(CP_CALLS_SKIP + 4*WORD)
	mov %rsp, %rbp
	.cfi_def_cfa_register %rbp
	save
	save_vectors
	mov 2*WORD(%rbp), %edi
	lea CP_CALLS_SKIP + 3*WORD(%rbp), %rsi
	mov %rsi, %rcx
	lea -ARGUMENTS*WORD(%rbp), %rdx
	call cp_call_enter
	restore
	.cfi_def_cfa %rsp, CP_CALLS_SKIP + 3*WORD
	ret
	.cfi_endproc
	.size cp_call_enter_code, .-cp_call_enter_code

	.type leave, @function
	/* Above the stack pointer: the address behind the call in the stub, in the place of
	 * the return address.  The return that ends this is the function's caller's. */
leave:
	.cfi_startproc
	push %rbp
	.cfi_adjust_cfa_offset WORD
	.cfi_offset %rbp, -2*WORD
	mov %rsp, %rbp
	.cfi_def_cfa_register %rbp
	save
	save_vectors
	mov WORD(%rbp), %rdi
	call cp_call_leave
	mov %rax, WORD(%rbp)
	restore
	.cfi_def_cfa %rsp, WORD
	ret
	.cfi_endproc
	.size leave, .-leave

	/*
	 * One for each place, of eight bytes.  The return addresses are as far behind the
	 * stub as the stubs are long: a table of eight bytes for each is mapped there.
	 * So the caller's address is *((pc & -8) + CP_CALLS_BYTES), and its stack pointer
	 * is ours, as behind any return.  libgcc tells frames apart by their CFA, which
	 * therefore is not the stack pointer.
	 */
	.section .text.cp_stubs, "ax", @progbits
	.p2align 12
	.globl cp_call_stubs
	.hidden cp_call_stubs
	.type cp_call_stubs, @function
cp_call_stubs:
	.cfi_startproc
	.cfi_personality 0x9b, personality_reference
	.cfi_def_cfa %rsp, 1
	/* val_expression, 7 (rsp): breg7 0 */
	.cfi_escape 0x16, 0x07, 0x02, 0x77, 0x00
	/* val_expression, 16 (rip): breg16 0, const1s -8, and, plus_uconst, deref */
	.cfi_escape 0x16, 0x10, 0x0a, 0x80, 0x00, 0x09, 0xf8, 0x1a, 0x23, 0x80, 0x80, 0x08, 0x06
	.rept CP_CALLS_ROOM
	call leave
	.p2align 3
	.endr
	.cfi_endproc
	.size cp_call_stubs, .-cp_call_stubs

#include "preload/patch/returns.inc"
