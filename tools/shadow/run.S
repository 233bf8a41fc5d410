/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * shadow_run(results[2], state, code, mxcsr): executes translated code, which has the guest's
 * state in %rbp, until it comes back to one of the entries below.  results: why, and the
 * place of a jump that may be chained.
 */
#define WHY_CHAIN_SLOW 0x10001
#define WHY_CHAIN_FAST 0x10002
#define WHY_LOOK_UP 0x10003
#define WHY_TURN_OVER 0x10004
#define WHY_DIVERTED 0x10005
#define CALL_LENGTH 13 /* movabs and call, before the return address */

	.text
	.globl	shadow_run, shadow_chain_slow, shadow_chain_fast
	.globl	shadow_look_up, shadow_assisted, shadow_turn_over, shadow_diverted
	.hidden	shadow_run, shadow_chain_slow, shadow_chain_fast
	.hidden	shadow_look_up, shadow_assisted, shadow_turn_over, shadow_diverted
	.hidden	shadow_fast

shadow_run:
	push	%rbx
	push	%rbp
	push	%r12
	push	%r13
	push	%r14
	push	%r15
	push	%rdi
	sub	$16, %rsp
	ldmxcsr	(%rcx)
	movw	$0x27f, (%rsp)
	fninit
	fldcw	(%rsp)
	mov	%rsi, %rbp
	jmp	*%rdx

back:	add	$16, %rsp
	pop	%rdi
	mov	%rax, (%rdi)
	mov	%rdx, 8(%rdi)
	pop	%r15
	pop	%r14
	pop	%r13
	pop	%r12
	pop	%rbp
	pop	%rbx
	ret

shadow_chain_slow:
	mov	$WHY_CHAIN_SLOW, %eax
	pop	%rdx
	sub	$CALL_LENGTH, %rdx
	jmp	back

shadow_chain_fast:
	mov	$WHY_CHAIN_FAST, %eax
	pop	%rdx
	sub	$CALL_LENGTH, %rdx
	jmp	back

/* The table of translate.c: 16384 pairs of an address and its code. */
shadow_look_up:
	mov	SHADOW_GUEST_RIP(%rbp), %rax
	mov	%rax, %rcx
	shr	$8, %rcx
	xor	%rax, %rcx
	and	$0x3fff, %ecx
	shl	$4, %rcx
	add	shadow_fast(%rip), %rcx
	cmp	(%rcx), %rax
	jne	1f
	jmp	*8(%rcx)
1:	mov	$WHY_LOOK_UP, %eax
	xor	%edx, %edx
	jmp	back

shadow_assisted:
	mov	%rbp, %rax
	xor	%edx, %edx
	jmp	back

shadow_turn_over:
	mov	$WHY_TURN_OVER, %eax
	xor	%edx, %edx
	jmp	back

shadow_diverted:
	mov	$WHY_DIVERTED, %eax
	xor	%edx, %edx
	jmp	back

/* As the core has them: what functions keep, the stack, and where to go on. */
	.globl	VG_MINIMAL_SETJMP, VG_MINIMAL_LONGJMP
	.hidden	VG_MINIMAL_SETJMP, VG_MINIMAL_LONGJMP
VG_MINIMAL_SETJMP:
	mov	%rbx, (%rdi)
	mov	%rbp, 8(%rdi)
	mov	%r12, 16(%rdi)
	mov	%r13, 24(%rdi)
	mov	%r14, 32(%rdi)
	mov	%r15, 40(%rdi)
	lea	8(%rsp), %rax
	mov	%rax, 48(%rdi)
	mov	(%rsp), %rax
	mov	%rax, 56(%rdi)
	xor	%eax, %eax
	ret

VG_MINIMAL_LONGJMP:
	mov	(%rdi), %rbx
	mov	8(%rdi), %rbp
	mov	16(%rdi), %r12
	mov	24(%rdi), %r13
	mov	32(%rdi), %r14
	mov	40(%rdi), %r15
	mov	48(%rdi), %rsp
	mov	$1, %eax
	jmp	*56(%rdi)

	.section .note.GNU-stack, "", @progbits
