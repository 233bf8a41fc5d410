// SPDX-License-Identifier: MIT
// What a handler is told of instructions that raise a signal: each lies alone in a page
// of code.  Prints signal, code, where the address and the instruction are, from that
// page, and the trap's number, with the error code of an address that is not there.
//	raised [late | hosted | lacking]
// late: the code of divisions ran before the handler of SIGFPE was there, and behind that
// of SIGSEGV.
// hosted: instructions of which the processor decides whether there are such.
// lacking: instructions that the simulator has not.
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <setjmp.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

enum { PAGE = 4096, PAGE_FAULT = 14 };

static unsigned char *page;
static sigjmp_buf back;
static uintptr_t last; // that was not there

#if defined(__x86_64__)
#define CODE(name, bytes)                                                                \
	{                                                                                \
		name, bytes, sizeof(bytes) - 1                                           \
	}

struct code {
	const char *name, *bytes;
	size_t size;
};

// Divisors come in %rdi.
static const struct code codes[] = {
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
	CODE("jump to the kernel", "\x48\xc7\xc0\x00\x00\x00\xff\xff\xe0"),
	CODE("load of nothing", "\x31\xc0\x8a\x00"),
	CODE("store of a bad address",
		"\x48\xb8\x00\x00\x00\x00\x00\x80\x00\x00\x88\x00"),
	CODE("int 3", "\xcd\x03"),
	CODE("int 4", "\xcd\x04"),
	CODE("int 32", "\xcd\x20"),
	CODE("icebp", "\xf1"),
	CODE("xsetbv", "\x31\xc9\x31\xc0\x0f\x01\xd1"),
	CODE("16 bytes",
		"\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x90"),
};

static const struct code hosted[] = {
	CODE("sysexit", "\x0f\x35"),
	CODE("from cr1", "\x0f\x20\xc8"),
	CODE("to a debug register", "\x0f\x23\xc0"),
	CODE("xend", "\x0f\x01\xd5"),
	CODE("xabort", "\xc6\xf8\x01\xc3"),
	CODE("vmrun", "\x0f\x01\xd8"),
	CODE("invlpga", "\x0f\x01\xdf"),
	CODE("VEX behind 66", "\x66\xc5\xf8\x58\xc0\xc3"),
	CODE("VEX behind F2", "\xf2\xc5\xf8\x58\xc0\xc3"),
	CODE("VEX behind REX", "\x48\xc5\xf8\x58\xc0\xc3"),
	CODE("from a seventh segment", "\x8c\xf0\xc3"),
	CODE("feni", "\xdb\xe0\xdb\xe1\xdb\xe4\xc3"),
	CODE("invpcid", "\x66\x0f\x38\x82\x04\x24\xc3"),
	CODE("xsaves", "\x48\x0f\xc7\x2c\x24\xc3"),
	CODE("xrstors", "\x0f\xc7\x1c\x24\xc3"),
	CODE("pvalidate", "\xf2\x0f\x01\xff\xc3"),
	CODE("monitorx", "\x54\x58\x31\xc9\x31\xd2\x0f\x01\xfa\xc3"),
	CODE("monitorx with an extension",
		"\x54\x58\x31\xc9\xff\xc1\x31\xd2\x0f\x01\xfa\xc3"),
	CODE("mwaitx with an extension", "\x31\xc0\x31\xc9\xb1\x08\x0f\x01\xfb\xc3"),
	CODE("femms", "\x0f\x0e\xc3"),
	CODE("fma4", "\xc4\xe3\xe9\x69\xc1\x10\xc3"),
	CODE("fma4 of one number", "\xc4\xe3\x69\x7f\xc1\x10\xc3"),
	CODE("between the first calls", "\x48\xc7\xc0\x01\x00\x60\xff\xff\xd0\xc3"),
};

static const struct code lacking[] = {
	CODE("sldt", "\x0f\x00\xc0\xc3"),
	CODE("smsw", "\x0f\x01\xe0\xc3"),
	CODE("lar", "\x0f\x02\xc7\xc3"),
	CODE("lsl", "\x0f\x03\xc7\xc3"),
	CODE("verr", "\x0f\x00\xe7\xc3"),
	CODE("to ds", "\x31\xc0\x8e\xd8\xc3"),
	CODE("fs pushed", "\x0f\xa0\x58\xc3"),
	CODE("lss", "\x0f\xb2\x04\x24"),
	CODE("far jump", "\xff\x2c\x24"),
	CODE("far call", "\xff\x1c\x24"),
	CODE("far return", "\xcb"),
	CODE("iret", "\xcf"),
	CODE("jump to a bad address", "\x48\xb8\x00\x00\x00\x00\x00\x80\x00\x00\xff\xe0"),
	CODE("int 128", "\xb8\x14\x00\x00\x00\xcd\x80\xc3"),
};

static void on_signal(int number, siginfo_t *info, void *context)
{
	const greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
	uintptr_t at = (uintptr_t)registers[REG_RIP], address = (uintptr_t)info->si_addr,
		  start = (uintptr_t)page;

	printf("signal %d, code %d, trap %d", number, info->si_code,
		(int)registers[REG_TRAPNO]);
	if (registers[REG_TRAPNO] == PAGE_FAULT)
		last = address;
	if (registers[REG_TRAPNO] == PAGE_FAULT)
		printf(", error %#x", (unsigned)registers[REG_ERR]);
	if ((uintptr_t)registers[REG_CR2] != last)
		printf(", another address");
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

static void try_code(const struct code *code, int late)
{
	int divides = strstr(code->name, "div") != NULL;

	memset(page, 0xc3, PAGE);
	memcpy(page, code->bytes, code->size);
	if (late && !divides)
		return;
	listen_to(1);
	if (late)
		call(1);
	listen_to(sizeof(all) / sizeof(all[0]));
	printf("%s: ", code->name);
	if (sigsetjmp(back, 1))
		return;
	call(0);
	puts("no signal");
}

int main(int argc, char **argv)
{
	static char stack[1 << 16];
	stack_t other = {.ss_sp = stack, .ss_size = sizeof(stack)};

	sigaltstack(&other, NULL);
	page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (argc > 1 && strcmp(argv[1], "hosted") == 0) {
		for (size_t i = 0; i < sizeof(hosted) / sizeof(hosted[0]); i++)
			try_code(&hosted[i], 0);
		return 0;
	}
	if (argc > 1 && strcmp(argv[1], "lacking") == 0) {
		for (size_t i = 0; i < sizeof(lacking) / sizeof(lacking[0]); i++)
			try_code(&lacking[i], 0);
		return 0;
	}
	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
		try_code(&codes[i], argc > 1);
	return 0;
}
#else
int main(void)
{
	puts("of x86-64");
	return 0;
}
#endif
