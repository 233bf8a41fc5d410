/* SPDX-License-Identifier: MIT
 *	vm_functions
 * Functions that are known to be called so and so often: in loops and threads, by
 * themselves, left by longjmp and by pthread_exit, and such as begin with each kind of
 * instruction that a patch has to move.  What they compute is printed.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>

#define FAR __attribute__((noinline, noclone))
#define AFTER __asm__ volatile("" ::: "memory") /* no tail call */

volatile long sink;
static jmp_buf back;

FAR long many(long n)
{
	AFTER;
	return n * 3 + 1;
}
FAR long deep(long n)
{
	long r = n ? deep(n - 1) + 1 : 0;
	AFTER;
	return r;
}
FAR void touch(char *p, long n)
{
	for (long i = 0; i < n; i++)
		p[i * 4096] = 1;
}
FAR void inner_jump(int n)
{
	if (n)
		inner_jump(n - 1);
	else
		longjmp(back, 1);
	AFTER;
}
FAR void outer_jump(void)
{
	if (!setjmp(back))
		inner_jump(3);
	AFTER;
}
FAR void after_all(int *p)
{
	sink += *p;
	AFTER;
}
FAR void leaves(int n)
{
	if (n)
		leaves(n - 1);
	else
		pthread_exit(NULL);
	AFTER;
}
FAR double floats(double a, float b, long double c)
{
	return a + b + (double)c;
}
FAR long tail_to(long n)
{
	return n + sink;
}
FAR long tail_from(long n)
{
	return tail_to(n * 2);
}
struct big {
	long v[10];
};
FAR struct big big(int n)
{
	struct big x;
	for (int i = 0; i < 10; i++)
		x.v[i] = n + i;
	return x;
}
/* The early way out saves nothing. */
FAR long early(long n)
{
	if (n < 2)
		return n;
	long r = many(n) + n;
	AFTER;
	return r;
}

/* Each gets a number, and returns one. */
#define SHAPE(name, ...)                                                                 \
	long name(long n);                                                               \
	__asm__(".text\n\t.p2align 2\n\t.globl " #name "\n\t.type " #name                \
		", %function\n" #name ":\n\t" __VA_ARGS__ "\n\t.size " #name             \
		", . - " #name "\n");
#define BTI "hint #34\n\t"
#define SIGN "hint #25\n\t"
#define CHECK "hint #29\n\t"

SHAPE(s_ret, "ret")
SHAPE(s_adr,
	"adr x1, 1f\n\tldr x2, [x1]\n\tadd x0, x0, x2\n\tret\n\t.p2align 3\n1:\t.quad 77")
SHAPE(s_adrp, "adrp x1, sink\n\tadd x1, x1, :lo12:sink\n\tldr x2, [x1]\n\tadd x0, x0, "
	      "#5\n\tret")
SHAPE(s_ldr_x,
	"ldr x1, 1f\n\tadd x0, x0, x1\n\tret\n\t.p2align 3\n1:\t.quad 0x123456789a")
SHAPE(s_ldr_w,
	"ldr w1, 1f\n\tadd x0, x0, x1\n\tret\n\t.p2align 3\n1:\t.quad 0xf23456789a")
SHAPE(s_ldrsw,
	"ldrsw x1, 1f\n\tadd x0, x0, x1\n\tret\n\t.p2align 3\n1:\t.quad 0x8a345678")
SHAPE(s_ldr_s, "ldr s1, 1f\n\tfmov w1, s1\n\tadd x0, x0, x1\n\tret\n\t.p2align "
	       "3\n1:\t.quad 0x1f0000001")
SHAPE(s_ldr_d, "ldr d1, 1f\n\tfmov x1, d1\n\tadd x0, x0, x1\n\tret\n\t.p2align "
	       "3\n1:\t.quad 0x1f0000001")
SHAPE(s_ldr_q, "ldr q1, 1f\n\tfmov x1, v1.d[1]\n\tadd x0, x0, x1\n\tret\n\t.p2align "
	       "4\n1:\t.quad 1, 0x1f0000001")
SHAPE(s_prfm, "prfm pldl1keep, 1f\n1:\tadd x0, x0, #9\n\tret")
SHAPE(s_cbz, "cbz x0, 1f\n\tadd x0, x0, #3\n\tret\n1:\tmov x0, #99\n\tret")
SHAPE(s_cbnz, "cbnz w0, 1f\n\tmov x0, #98\n\tret\n1:\tadd x0, x0, #4\n\tret")
SHAPE(s_tbz, "tbz x0, #1, 1f\n\tadd x0, x0, #6\n\tret\n1:\tadd x0, x0, #8\n\tret")
SHAPE(s_tbnz, "tbnz x0, #33, 1f\n\tadd x0, x0, #10\n\tret\n1:\tadd x0, x0, #12\n\tret")
SHAPE(s_cond, "b.eq 1f\n\tadd x0, x0, #14\n\tret\n1:\tadd x0, x0, #16\n\tret")
SHAPE(s_b, "b many")
SHAPE(s_bl, "mov x9, x30\n\tb 1f\n1:\tbl 2f\n\tadd x0, x0, #1\n\tret x9\n2:\tadd x0, x0, "
	    "#20\n\tret")
/* With their return addresses in x9, where no patch is: they are open until the end. */
SHAPE(s_bl_first, "bl 2f\n\tadd x0, x0, #2\n\tret x9\n2:\tadd x0, x0, #21\n\tret")
SHAPE(s_blr_first, "blr x10\n\tadd x0, x0, #2\n\tret x9")
SHAPE(s_loop, "subs w0, w0, #1\n\tb.gt s_loop\n\tmov x0, #22\n\tret")
SHAPE(s_bti, BTI "add x0, x0, #23\n\tret")
SHAPE(s_signed, SIGN
	"stp x29, x30, [sp, #-16]!\n\tbl many\n\tldp x29, x30, [sp], #16\n\t" CHECK "ret")
SHAPE(s_bti_signed, BTI SIGN
	"stp x29, x30, [sp, #-16]!\n\tbl many\n\tldp x29, x30, [sp], #16\n\t" CHECK "ret")
/* Comes back to where its return address would be signed twice. */
SHAPE(s_signed_loop, SIGN "1:\tsubs w0, w0, #1\n\tb.gt 1b\n\tmov x0, #24\n\t" CHECK "ret")
/* Keeps what calls may change: x9 to x15, and the flags. */
SHAPE(s_keeps, "add x0, x9, x15\n\tret")

static long call_aside(long (*function)(long), long n)
{
	register long x0 __asm__("x0") = n;
	register void *x10 __asm__("x10") = (void *)many;

	__asm__ volatile("adr x9, 1f\n\tbr %1\n1:"
			 : "+r"(x0)
			 : "r"(function), "r"(x10)
			 : "x1", "x9", "x30", "memory", "cc");
	return x0;
}

/* Registers that a caller in the same file may know to be left alone. */
static long call_knowing(void)
{
	register long x0 __asm__("x0") = 0;
	double kept, other;
	long flags;

	__asm__ volatile(
		"mov x9, #1000\n\tmov x15, #234\n\tmov x1, #5\n\tfmov d20, #3.0\n\tfmov "
		"d7, #5.0\n\t"
		"cmp x9, x9\n\tbl s_keeps\n\tcset %3, eq\n\tfmov %d1, d20\n\tfmov %d2, "
		"d7\n\tadd x0, x0, x1"
		: "+r"(x0), "=&w"(kept), "=&w"(other), "=&r"(flags)
		:
		: "x1", "x9", "x15", "x16", "x17", "x30", "v20", "v7", "memory", "cc");
	return x0 * 100 + (long)(kept + other) * 10 + flags;
}

static long (*const shapes[])(long) = {s_ret, s_adr, s_adrp, s_ldr_x, s_ldr_w, s_ldrsw,
	s_ldr_s, s_ldr_d, s_ldr_q, s_prfm, s_cbz, s_cbnz, s_tbz, s_tbnz, s_cond, s_b,
	s_bl, s_loop, s_bti, s_signed, s_bti_signed, s_signed_loop};

static void *thread(void *unused)
{
	int mine __attribute__((cleanup(after_all))) = 1;

	(void)unused;
	for (long i = 0; i < 1000; i++)
		many(i);
	leaves(2);
	return NULL;
}

static void call_all(void)
{
	char *pages = mmap(NULL, 4096 * 300, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	long sum = 0;

	madvise(pages, 4096 * 300, MADV_NOHUGEPAGE);
	touch(pages, 100);
	touch(pages + 4096 * 100, 200);
	for (long i = 0; i < 1 << 12; i++)
		sum += many(i);
	for (int i = 0; i < 10; i++)
		outer_jump();
	printf("%ld %ld %g %ld %ld %ld\n", sum, deep(100), floats(1.5, 2.5f, 3.5L),
		big(3).v[9], tail_from(4), early(1) + early(9));
}

int main(void)
{
	pthread_t threads[4];

	call_all();
	for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); i++)
		for (long n = 0; n < 5; n++)
			printf("%lx ", (unsigned long)shapes[i](n * 0x100000001));
	printf("\n%ld\n", call_knowing());
	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, thread, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	printf("%ld\n", sink);
	printf("%lx %lx\n", (unsigned long)call_aside(s_bl_first, 1),
		(unsigned long)call_aside(s_blr_first, 1));
	return 0;
}
