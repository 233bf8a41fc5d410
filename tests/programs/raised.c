// SPDX-License-Identifier: MIT
// What a handler is told of instructions that raise a signal: each lies alone in a page
// of code.  Prints signal, code, and where the address and the instruction are, from that
// page.
//	raised [late]
// late: the code of divisions ran before the handler of SIGFPE was there, and behind that
// of SIGSEGV.
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <setjmp.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

enum { PAGE = 4096 };

static unsigned char *page;
static sigjmp_buf back;

#if defined(__x86_64__)
#define CODE(name, bytes)                                                                \
	{                                                                                \
		name, bytes, sizeof(bytes) - 1                                           \
	}

// Divisors come in %rdi.
static const struct {
	const char *name, *bytes;
	size_t size;
} codes[] = {
	CODE("hlt", "\xf4"),
	CODE("cli", "\xfa"),
	CODE("sti, with a prefix", "\xf3\xfb"),
	CODE("insb", "\x6c"),
	CODE("out", "\xe6\x80"),
	CODE("wbinvd", "\x0f\x09"),
	CODE("rdmsr", "\x0f\x32"),
	CODE("sysret", "\x48\x0f\x07"),
	CODE("from cr0", "\x0f\x20\xc0"),
	CODE("ltr", "\x0f\x00\xd8"),
	CODE("lgdt", "\x0f\x01\x14\x24"),
	CODE("swapgs", "\x0f\x01\xf8"),
	CODE("int3", "\xcc"),
	CODE("ud2", "\x0f\x0b"),
	CODE("lock nop", "\xf0\x90"),
	CODE("div", "\x31\xd2\x89\xf8\xf7\xf7\xc3"),
	CODE("div of 64 bits", "\x31\xd2\x90\x90\x48\xf7\xf7\xc3"),
	CODE("idiv of a byte", "\x66\x31\xc0\x40\xf6\xff\xc3"),
	CODE("quotient too large", "\xba\x05\x00\x00\x00\x90\xf7\xf7\xc3"),
	CODE("call of nothing", "\x6a\x00\xc3"),
	CODE("call of data", "\x54\xc3"),
};

static void on_signal(int number, siginfo_t *info, void *context)
{
	uintptr_t at = (uintptr_t)((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP],
		  address = (uintptr_t)info->si_addr, start = (uintptr_t)page;

	printf("signal %d, code %d", number, info->si_code);
	if (address - start < PAGE)
		printf(", address page + %zu", address - start);
	else
		printf(", address %s", address ? "of something" : "0");
	if (at - start < PAGE)
		printf(", at page + %zu", at - start);
	puts("");
	siglongjmp(back, 1);
}

static const int all[] = {SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE};

static void listen_to(size_t signals)
{
	struct sigaction action = {
		.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_ONSTACK};

	for (size_t i = 0; i < signals; i++)
		sigaction(all[i], &action, NULL);
}

static void call(unsigned divisor)
{
	((void (*)(unsigned))(uintptr_t)page)(divisor);
}

static void try_code(size_t i, int late)
{
	int divides = strstr(codes[i].name, "div") != NULL;

	memset(page, 0xc3, PAGE);
	memcpy(page, codes[i].bytes, codes[i].size);
	if (late && !divides)
		return;
	listen_to(1);
	if (late)
		call(1);
	listen_to(sizeof(all) / sizeof(all[0]));
	printf("%s: ", codes[i].name);
	if (!sigsetjmp(back, 1))
		call(0);
}

int main(int argc, char **argv)
{
	static char stack[1 << 16];
	stack_t other = {.ss_sp = stack, .ss_size = sizeof(stack)};

	(void)argv;
	sigaltstack(&other, NULL);
	page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
		try_code(i, argc > 1);
	return 0;
}
#else
int main(void)
{
	puts("of x86-64");
	return 0;
}
#endif
