/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * shadow_run(results[2], state, code): executes translated code, which has the guest's
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
	movl	$0x1f80, (%rsp)
	ldmxcsr	(%rsp)
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

	.section .note.GNU-stack, "", @progbits
