/* SPDX-License-Identifier: MIT
 *
 * Events that keep registers of AVX-512 as they are, or do not: faults, signals, switches
 * of threads, fork, longjmp, lazy binding, other instructions, and code that changes.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#define PAGE 4096
static char *pages; /* three; the second one cannot be accessed */

/* --- Faults --- */

static sigjmp_buf escape;
static volatile long fault_at, fault_code;

static void on_fault(int signal, siginfo_t *info, void *context)
{
	(void)signal;
	fault_at = (char *)info->si_addr - pages;
	fault_code = (long)((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
	siglongjmp(escape, 1);
}

extern char load_over[], store_over[], masked_over[], gather_over[];
#define FAULT(label, code, ...)                                                          \
	do {                                                                             \
		if (!sigsetjmp(escape, 1)) {                                             \
			__asm__ volatile(#label ": " code ::__VA_ARGS__                  \
					 : "xmm3", "memory");                            \
			puts(#label ": no fault");                                       \
		} else {                                                                 \
			printf(#label ": fault at %ld, %s\n", fault_at,                  \
				fault_code == (long)label ? "there" : "elsewhere");      \
		}                                                                        \
	} while (0)

/* A handler has clean registers, and longjmp leaves them so. */
static void set_lanes(void)
{
	__asm__ volatile(
		"kmovw %0, %%k1; vpbroadcastd %1, %%zmm4" ::"r"(0x1ff), "r"(1024));
}

static void faults(void)
{
	struct sigaction action = {
		.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_NODEFER};
	uint64_t got[8];

	sigaction(SIGSEGV, &action, NULL);
	FAULT(load_over, "vmovdqu64 (%0), %%zmm3", "r"(pages + PAGE - 32));
	FAULT(store_over, "vmovdqu64 %%zmm3, 64(%0,%1,4)", "r"(pages + PAGE), "r"(16l));
	set_lanes();
	FAULT(masked_over, "vmovdqu32 (%0), %%zmm3%{%%k1%}%{z%}", "r"(pages + PAGE - 32));
	set_lanes();
	FAULT(gather_over, "vpgatherdd (%0,%%zmm4,4), %%zmm3%{%%k1%}", "r"(pages));
	__asm__ volatile("kmovw %1, %%k1; vmovdqu32 (%2), %%zmm3%{%%k1%}%{z%};"
			 "vmovdqu64 %%zmm3, %0"
			 : "=m"(got)
			 : "r"(0xff), "r"(pages + PAGE - 32)
			 : "xmm3");
	printf("lanes off: %lx %lx\n", got[3], got[4]);
}

/* --- Other instructions --- */

static void upper_halves(void)
{
	uint64_t vex[8], sse[8], zero[8], narrow[8];

	__asm__ volatile(
		"vpternlogd $255, %%zmm6, %%zmm6, %%zmm6; vmovdqa64 %%zmm6, %%zmm7\n"
		"vmovdqa64 %%zmm6, %%zmm8; vmovdqa64 %%zmm6, %%zmm9\n"
		"vpaddd %%xmm6, %%xmm6, %%xmm6; paddd %%xmm7, %%xmm7\n"
		"vpord %%ymm9, %%ymm9, %%ymm9; vmovdqu64 %%zmm6, %0\n"
		"vmovdqu64 %%zmm7, %1; vmovdqu64 %%zmm9, %3; vzeroupper\n"
		"vmovdqu64 %%zmm8, %2"
		: "=m"(vex), "=m"(sse), "=m"(zero), "=m"(narrow)::"xmm6", "xmm7", "xmm8",
		"xmm9");
	printf("VEX %lx %lx, SSE %lx %lx, vzeroupper %lx %lx %lx, EVEX of 256 bits %lx "
	       "%lx\n",
		vex[1], vex[7], sse[2], sse[7], zero[1], zero[2], zero[7], narrow[3],
		narrow[4]);
}

/* --- Signals --- */

static volatile int ticks;

static void clobber(int signal)
{
	(void)signal;
	__asm__ volatile(
		"vpternlogd $255, %%zmm1, %%zmm1, %%zmm1; vmovdqa64 %%zmm1, %%zmm17\n"
		"vmovdqa64 %%zmm1, %%zmm31; vmovdqa64 %%zmm1, %%zmm0\n"
		"kxnorq %%k1, %%k1, %%k1; kxnorq %%k2, %%k2, %%k2" ::
			: "xmm0", "xmm1");
	ticks++;
}

/* Values that have to survive a signal anywhere in between. */
static int lost(uint64_t value)
{
	uint64_t sum[8], mask;
	int bad = 0;

	__asm__ volatile(
		"vpbroadcastq %2, %%zmm0; vmovdqa64 %%zmm0, %%zmm17\n"
		"vmovdqa64 %%zmm0, %%zmm31; kmovq %2, %%k2\n"
		"mov $20, %%ecx; 1: dec %%ecx; jnz 1b\n"
		"vpaddq %%zmm17, %%zmm31, %%zmm1; vpaddq %%zmm0, %%zmm1, %%zmm1\n"
		"vmovdqu64 %%zmm1, %0; kmovq %%k2, %1"
		: "=m"(sum), "=m"(mask)
		: "r"(value)
		: "rcx", "cc", "xmm0", "xmm1");
	for (int i = 0; i < 8; i++)
		bad += sum[i] != 3 * value;
	return bad + (mask != value);
}

static void signals(void)
{
	struct itimerval often = {{0, 1000}, {0, 1000}}, never = {{0, 0}, {0, 0}};
	uint64_t bad = 0;

	signal(SIGALRM, clobber);
	setitimer(ITIMER_REAL, &often, NULL);
	for (uint64_t i = 0; ticks < 20; i++)
		bad += (uint64_t)lost(i);
	setitimer(ITIMER_REAL, &never, NULL);
	printf("signals: %lu lost\n", bad);
}

/* Before anything has used 512 bits: the second handler does so first. */
static void use_512_bits(int signal)
{
	(void)signal;
	__asm__ volatile("vpternlogd $255, %%zmm5, %%zmm5, %%zmm5" ::: "xmm5");
}

static void use_nothing(int signal)
{
	(void)signal;
}

/* tgkill, without touching any register. */
static void signal_among_256_bits(const char *what, void (*handler)(int))
{
	uint64_t low[4], high[4], mask;

	signal(SIGUSR1, handler);
	__asm__ volatile("vpbroadcastq %3, %%ymm5; vpbroadcastq %3, %%ymm20\n"
			 "kmovq %3, %%k3; mov $234, %%eax; syscall\n"
			 "vmovdqu %%ymm5, %0; vmovdqu64 %%ymm20, %1; kmovq %%k3, %2"
			 : "=m"(low), "=m"(high), "=m"(mask)
			 : "r"(0x1234567ul), "D"((long)getpid()), "S"((long)getpid()),
			 "d"((long)SIGUSR1)
			 : "rax", "rcx", "r11", "xmm5", "memory");
	printf("%s: ymm5 %lx %lx, ymm20 %lx %lx, k3 %lx\n", what, low[0], low[3], high[0],
		high[3], mask);
}

/* --- What a handler sees, and changes --- */

/* Where the kernel has parts of registers.  CPUID, which says so, is not asked in the
 * simulator, which tells of no more than AVX: "state places" prints PLACES. */
static unsigned places[8];

static void print_places(void)
{
	for (unsigned component = 2; component < 8; component++) {
		unsigned size, place, c, d;

		__asm__("cpuid"
			: "=a"(size), "=b"(place), "=c"(c), "=d"(d)
			: "0"(0xd), "2"(component));
		printf("%u ", place);
	}
}

static void read_places(void)
{
	char *at = getenv("PLACES");

	for (unsigned component = 2; at && component < 8; component++)
		places[component] = (unsigned)strtoul(at, &at, 10);
}

static void change_registers(int signal, siginfo_t *info, void *context)
{
	uint8_t *area = (uint8_t *)((ucontext_t *)context)->uc_mcontext.fpregs;
	uint64_t clean[8];

	(void)signal, (void)info;
	__asm__ volatile("vmovdqu64 %%zmm5, %0" : "=m"(clean));
	printf("handler: begins with %lx %lx, sees", clean[0], clean[7]);
	printf(" xmm5 %lx", *(uint64_t *)(area + 160 + 16 * 5));
	printf(" features %lx", *(uint64_t *)(area + 512) & 0xe7);
	printf(" ymm5 %lx", *(uint64_t *)(area + places[2] + 16 * 5));
	printf(" k3 %lx", *(uint64_t *)(area + places[5] + 8 * 3));
	printf(" zmm5 %lx", *(uint64_t *)(area + places[6] + 32 * 5));
	printf(" zmm20 %lx", *(uint64_t *)(area + places[7] + 64 * 4));
	printf(" MXCSR %x\n", *(uint32_t *)(area + 24));
	*(uint64_t *)(area + 160 + 16 * 5) = 1;
	*(uint64_t *)(area + places[2] + 16 * 5) = 2;
	*(uint64_t *)(area + places[5] + 8 * 3) = 3;
	*(uint64_t *)(area + places[6] + 32 * 5) = 4;
	*(uint64_t *)(area + places[7] + 64 * 4) = 5;
	*(uint32_t *)(area + 24) = 0x5f80;
}

/* tgkill, without touching any register. */
static void frames(void)
{
	struct sigaction action = {
		.sa_sigaction = change_registers, .sa_flags = SA_SIGINFO};
	uint64_t low[8], high[8], mask;
	uint32_t mxcsr;

	sigaction(SIGUSR1, &action, NULL);
	__asm__ volatile("vpbroadcastq %4, %%zmm5; vpbroadcastq %4, %%zmm20\n"
			 "kmovq %4, %%k3; mov $234, %%eax; syscall\n"
			 "vmovdqu64 %%zmm5, %0; vmovdqu64 %%zmm20, %1\n"
			 "kmovq %%k3, %2; stmxcsr %3"
			 : "=m"(low), "=m"(high), "=m"(mask), "=m"(mxcsr)
			 : "r"(0x1234567ul), "D"((long)getpid()), "S"((long)getpid()),
			 "d"((long)SIGUSR1)
			 : "rax", "rcx", "r11", "xmm5", "memory");
	printf("changed: xmm5 %lx %lx, ymm5 %lx, zmm5 %lx %lx, zmm20 %lx %lx, k3 %lx, "
	       "MXCSR %x\n",
		low[0], low[1], low[2], low[4], low[7], high[0], high[7], mask, mxcsr);
	__asm__ volatile("ldmxcsr %0" ::"m"((uint32_t){0x1f80}));
}

/* --- Threads, fork, longjmp --- */

/* sched_yield, without touching any register. */
#define YIELD "mov $24, %%eax; syscall\n"

static void *keep(void *number)
{
	uint64_t low[8], high[8], mask, bad = 0;

	for (uint64_t round = 0; round < 200; round++) {
		uint64_t value = (uint64_t)number * 0x0101010101010101 + round;

		__asm__ volatile("vpbroadcastq %3, %%zmm5; vpbroadcastq %3, %%zmm20\n"
				 "kmovq %3, %%k3\n" YIELD YIELD
				 "vmovdqu64 %%zmm5, %0; vmovdqu64 %%zmm20, %1\n"
				 "kmovq %%k3, %2"
				 : "=m"(low), "=m"(high), "=m"(mask)
				 : "r"(value)
				 : "rax", "rcx", "r11", "xmm5", "memory");
		for (int i = 0; i < 8; i++)
			bad += low[i] != value || high[i] != value;
		bad += mask != value;
	}
	return (void *)bad;
}

static void threads(void)
{
	pthread_t thread[4];
	uint64_t bad = 0;
	void *result;

	for (uint64_t i = 0; i < 4; i++)
		pthread_create(&thread[i], NULL, keep, (void *)(i + 1));
	for (int i = 0; i < 4; i++) {
		pthread_join(thread[i], &result);
		bad += (uint64_t)result;
	}
	printf("threads: %lu lost\n", bad);
}

static void over_fork(void)
{
	uint64_t got[8];
	int pid, status;

	fflush(stdout);
	__asm__ volatile("vpbroadcastq %2, %%zmm21; mov $57, %%eax; syscall\n"
			 "mov %%eax, %1; vmovdqu64 %%zmm21, %0"
			 : "=m"(got), "=m"(pid)
			 : "r"(0x1234567ul)
			 : "rax", "rcx", "r11", "memory");
	if (!pid)
		_exit(got[7] == 0x1234567 ? 7 : 1);
	waitpid(pid, &status, 0);
	printf("fork: child %d, parent %lx\n", WEXITSTATUS(status), got[7]);
}

/* --- Functions that are bound when they are called, with vectors as arguments --- */

typedef double doubles __attribute__((vector_size(64)));
doubles _ZGVeN8v_exp(doubles);

static __attribute__((target("avx512f"))) void vector_function(void)
{
	doubles x = {1, 2, 3, 4, 5, 6, 7, 8.5};
	uint64_t bits[8];

	x = _ZGVeN8v_exp(x);
	memcpy(bits, &x, sizeof(bits));
	printf("exp: %lx %lx %lx\n", bits[0], bits[4], bits[7]);
}

/* --- Code that changes --- */

static void changing_code(void)
{
	/* vpternlogd $255, %zmm0, %zmm0, %zmm0; vmovdqu64 %zmm0, (%rdi); vzeroupper; ret
	 */
	static const unsigned char code[] = {0x62, 0xf3, 0x7d, 0x48, 0x25, 0xc0, 0xff,
		0x62, 0xf1, 0xfe, 0x48, 0x7f, 0x07, 0xc5, 0xf8, 0x77, 0xc3};
	unsigned char *at = mmap(NULL, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t ones[8], zeros[8];

	memcpy(at, code, sizeof(code));
	((void (*)(void *))at)(ones);
	at[6] = 0;
	((void (*)(void *))at)(zeros);
	printf("changed: %lx %lx\n", ones[7], zeros[7]);
}

/* --- Fused multiply-add --- */

static void fused(void)
{
	float got[8];

	__asm__ volatile("vbroadcastss %1, %%ymm3; vmovaps %%ymm3, %%ymm4\n"
			 "vmovaps %%ymm3, %%ymm5; vfmadd132ss %%xmm4, %%xmm5, %%xmm3\n"
			 "vmovups %%ymm3, %0"
			 : "=m"(got)
			 : "m"((float){2})
			 : "xmm3", "xmm4", "xmm5");
	printf("fused: %g %g %g %g\n", (double)got[0], (double)got[1], (double)got[3],
		(double)got[4]);
}

int main(int argc, char **argv)
{
	(void)argv;
	if (argc > 1) {
		print_places();
		return 0;
	}
	read_places();
	signal_among_256_bits("a handler that uses nothing", use_nothing);
	signal_among_256_bits("a handler that uses 512 bits", use_512_bits);
	pages = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		-1, 0);
	memset(pages, 1, 3 * PAGE);
	mprotect(pages + PAGE, PAGE, PROT_NONE);
	vector_function();
	faults();
	upper_halves();
	signals();
	frames();
	threads();
	over_fork();
	changing_code();
	fused();
	return 0;
}
