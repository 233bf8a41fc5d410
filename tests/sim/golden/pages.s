# SPDX-License-Identifier: MIT
# Touches 2,048 pages twice, in the order of a generator that has each of them once.
	.globl _start
	.text
_start:
	movl $4096, %ecx
	movl $1, %eax
next:	imull $1229, %eax, %eax
	addl $1, %eax
	andl $2047, %eax
	movl %eax, %esi
	shlq $12, %rsi
	addq $0x800000, %rsi
	addl $1, (%rsi)
	subl $1, %ecx
	jne next
	movl $60, %eax
	xorl %edi, %edi
	syscall
	.bss
	.space 8388608
