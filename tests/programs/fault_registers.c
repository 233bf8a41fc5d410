// SPDX-License-Identifier: MIT
// A handler of SIGSEGV that looks at a register which the code before the fault has set
// and the code behind it sets again, and then has the code go on: prints what it saw, and
// what came of it, in each of three rounds.
//	fault_registers first|late|raw
// first: the handler is there before the code runs for the first time; late: only when it
// has run; raw: the same by the system call itself.
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#define PAGE 4096

static uint64_t *page;
static volatile uint64_t seen;

#if defined(__x86_64__)
static uint64_t of_r8(const ucontext_t *context)
{
	return (uint64_t)context->uc_mcontext.gregs[REG_R8];
}

/* value + *from, by way of a register whose value the load's fault shows. */
__attribute__((noinline)) static uint64_t add(uint64_t value, const uint64_t *from)
{
	uint64_t sum;

	__asm__ volatile("mov %1, %%r8\n"
			 "mov (%2), %0\n"
			 "add %%r8, %0\n"
			 "xor %%r8d, %%r8d\n"
			 : "=&r"(sum)
			 : "r"(value), "r"(from)
			 : "r8", "cc", "memory");
	return sum;
}
#elif defined(__aarch64__)
static uint64_t of_r8(const ucontext_t *context)
{
	return context->uc_mcontext.regs[8];
}

__attribute__((noinline)) static uint64_t add(uint64_t value, const uint64_t *from)
{
	uint64_t sum;

	__asm__ volatile("mov x8, %1\n"
			 "ldr %0, [%2]\n"
			 "add %0, %0, x8\n"
			 "mov x8, #0\n"
			 : "=&r"(sum)
			 : "r"(value), "r"(from)
			 : "x8", "memory");
	return sum;
}
#endif

static void handle(int number, siginfo_t *info, void *context)
{
	(void)number, (void)info;
	seen = of_r8(context);
	mprotect(page, PAGE, PROT_READ | PROT_WRITE);
}

/* As the kernel has it. */
struct kernel_action {
	void (*handler)(int, siginfo_t *, void *);
	unsigned long flags;
	void *restorer;
	unsigned long mask;
};

/* libc's own action tells what returns from a handler. */
static void install(const char *how)
{
	struct sigaction action = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO};
	struct kernel_action raw;

	if (strcmp(how, "raw") != 0) {
		sigaction(SIGSEGV, &action, NULL);
		return;
	}
	sigaction(SIGUSR1, &action, NULL);
	syscall(SYS_rt_sigaction, SIGUSR1, NULL, &raw, sizeof(raw.mask));
	syscall(SYS_rt_sigaction, SIGSEGV, &raw, NULL, sizeof(raw.mask));
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "first";
	uint64_t sum = 0;

	page = mmap(
		NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	*page = 1000;
	if (strcmp(how, "first") == 0)
		install(how);
	else
		for (int i = 0; i < 100; i++)
			sum += add(1, page);
	if (sum)
		install(how);
	for (uint64_t i = 1; i <= 3; i++) {
		mprotect(page, PAGE, PROT_NONE);
		seen = 0;
		sum = add(i * 111, page);
		printf("%llu %llu\n", (unsigned long long)seen, (unsigned long long)sum);
	}
	return 0;
}
