/* SPDX-License-Identifier: MIT
 *
 * The first sector of boot-amd64.sh's disc, and the parameters behind it: reads the
 * kernel KERNEL and the initramfs to where they belong, and enters the kernel by its
 * 32-bit boot protocol.  All areas of the disc are whole numbers of PIECES.
 */
#define PIECE 64 /* sectors: what is read at a time */
#define BUFFER 0x20000
#define BOOT_PARAMETERS 0x10000
#define COMMAND_LINE 0x11000
#define SYSTEM 0x1000000
#define INITRAMFS 0x9000000
#define MEMORY 0x10000000

	.section .sector, "ax"
	.code16
	cli
	cld
	xorw %ax, %ax
	movw %ax, %ss
	movw $0x7c00, %sp
	movw %ax, %ds
	inb $0x92, %al /* address line 20 */
	orb $2, %al
	outb %al, $0x92
	/* Data segments without a limit stay so in real mode. */
	lgdt descriptors_at
	movl %cr0, %eax
	orb $1, %al
	movl %eax, %cr0
	movw $0x18, %bx
	movw %bx, %ds
	movw %bx, %es
	andb $0xfe, %al
	movl %eax, %cr0
	xorw %ax, %ax
	movw %ax, %ds
	movw %ax, %es
	sti

	movw $areas, %bp
next_area:
	movl (%bp), %edi
next_piece:
	movw $packet, %si
	movw $0x4280, %ax
	movb $0x80, %dl
	int $0x13
	jc stop
	movl $BUFFER, %esi
	movl $PIECE * 128, %ecx
	rep addr32 movsl
	addl $PIECE, sector
	decl 4(%bp)
	jnz next_piece
	addw $8, %bp
	cmpw $areas_end, %bp
	jb next_area

	cli
	movl %cr0, %eax
	orb $1, %al
	movl %eax, %cr0
	ljmp $0x10, $protected
stop:
	hlt
	jmp stop
	.code32
protected:
	movw $0x18, %ax
	movw %ax, %ds
	movw %ax, %es
	movw %ax, %ss
	xorl %ebp, %ebp
	xorl %edi, %edi
	xorl %ebx, %ebx
	movl $BOOT_PARAMETERS, %esi
	movl $SYSTEM, %eax
	jmp *%eax

	.balign 8
packet: /* of the firmware's extended read */
	.byte 16, 0
	.word PIECE, 0, BUFFER / 16
sector:
	.quad PIECE
areas: /* where to, and how many pieces */
	.long BOOT_PARAMETERS, 1
	.long SYSTEM, SYSTEM_PIECES
	.long INITRAMFS, INITRAMFS_PIECES
areas_end:
	.balign 8
descriptors:
	.quad 0, 0
	.quad 0x00cf9a000000ffff, 0x00cf92000000ffff
descriptors_at:
	.word . - descriptors - 1
	.long descriptors
	.org 510
	.word 0xaa55
	.org PIECE * 512

	.section .parameters, "a"
	.org 0x1e8
	.byte 2 /* areas of memory */
	.org 0x1f1
	.incbin KERNEL, 0x1f1, 0x1f
	.byte 0xff /* a loader that has no number */
	.incbin KERNEL, 0x211, 7
	.long INITRAMFS, INITRAMFS_SIZE
	.incbin KERNEL, 0x220, 8
	.long COMMAND_LINE
	.incbin KERNEL, 0x22c, 0x40
	.org 0x2d0
	.quad 0, 0x9f000
	.long 1
	.quad 0x100000, MEMORY - 0x100000
	.long 1
	.org 0x1000
	.asciz COMMAND
	.org PIECE * 512
