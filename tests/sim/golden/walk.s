# SPDX-License-Identifier: MIT
# Reads an array of 64 KiB eight times, a word in each line, and writes each fourth.
	.globl _start
	.text
_start:
	movl $8, %ecx
again:	movl $0x800000, %esi
	movl $1024, %edx
next:	movq (%rsi), %rax
	addq %rax, %rbx
	testl $3, %edx
	jne skip
	movq %rbx, 8(%rsi)
skip:	addq $64, %rsi
	subl $1, %edx
	jne next
	subl $1, %ecx
	jne again
	movl $60, %eax
	xorl %edi, %edi
	syscall
	.bss
	.space 65536
