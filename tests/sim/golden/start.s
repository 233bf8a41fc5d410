# SPDX-License-Identifier: MIT
# Reads what a program finds on its first stack: arguments, variables, the auxiliary
# vector, and the random bytes that this points to, which decide where it goes on.
	.globl _start
	.text
_start:
	movq %rsp, %rsi
	movq (%rsi), %rcx
	leaq 16(%rsi,%rcx,8), %rsi
variable:
	movq (%rsi), %rdi
	addq $8, %rsi
	testq %rdi, %rdi
	je vector
byte:	movb (%rdi), %al
	addq $1, %rdi
	testb %al, %al
	jne byte
	jmp variable
vector:	movq (%rsi), %rax
	movq 8(%rsi), %rdx
	addq $16, %rsi
	cmpq $25, %rax
	jne other
	movq (%rdx), %rbx
other:	testq %rax, %rax
	jne vector
	movl $64, %ecx
bits:	movq %rbx, %rdi
	andl $4095, %edi
	addl $1, 0x800000(,%rdi,8)
	rorq $1, %rbx
	subl $1, %ecx
	jne bits
	movl $60, %eax
	xorl %edi, %edi
	syscall
	.bss
	.space 32768
