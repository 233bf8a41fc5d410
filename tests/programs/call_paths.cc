// SPDX-License-Identifier: MIT
// Calls whose paths are known, and every way to leave a function but to return from it.
// call_paths WAY...
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <pthread.h>
#include <stdexcept>
#include <sys/wait.h>
#include <unistd.h>

extern "C" {

int callee_outer(int n, int (*back)(int));

static volatile int sum;
static sigjmp_buf place;

#define APART __attribute__((noinline, noclone))

APART void leaf(int n)
{
	sum += n;
}

// ---- recursion ----

APART void down(int n)
{
	if (n > 0)
		down(n - 1);
	leaf(n);
}

APART void odd(int n);

APART void even(int n)
{
	if (n > 0)
		odd(n - 1);
	leaf(n);
}

APART void odd(int n)
{
	even(n - 1);
	leaf(n);
}

APART void recursion()
{
	down(9);
	down(4);
	even(4);
	leaf(0);
}

// ---- jumps, exceptions ----

APART void jump_deep(int n)
{
	leaf(n);
	siglongjmp(place, 1);
}

APART void jump_middle(int n)
{
	jump_deep(n);
	leaf(n);
}

APART void after_jump(int n)
{
	leaf(n);
}

APART void jumps()
{
	static volatile int i;

	for (i = 0; i < 5; i++) {
		if (sigsetjmp(place, 1) == 0)
			jump_middle(i);
		after_jump(i);
	}
}

APART void throw_deep(int n)
{
	leaf(n);
	throw std::runtime_error("thrown");
}

APART void throw_middle(int n)
{
	throw_deep(n);
	leaf(n);
}

APART void after_throw(int n)
{
	leaf(n);
}

APART void exceptions()
{
	for (int i = 0; i < 3; i++) {
		try {
			throw_middle(i);
		} catch (const std::runtime_error &) {
			after_throw(i);
		}
		after_throw(i);
	}
}

// ---- signals ----

APART void on_signal(int signal)
{
	leaf(signal);
}

APART void on_signal_jump(int signal)
{
	leaf(signal);
	siglongjmp(place, 1);
}

APART void after_signal(int n)
{
	leaf(n);
}

APART void handle(int signal, void (*handler)(int), int flags)
{
	struct sigaction action;

	memset(&action, 0, sizeof(action));
	action.sa_handler = handler;
	action.sa_flags = flags;
	sigaction(signal, &action, nullptr);
}

APART void signals()
{
	static volatile int i;

	for (i = 0; i < 4; i++) {
		raise(SIGUSR1);
		after_signal(i);
	}
	for (i = 0; i < 2; i++) {
		if (sigsetjmp(place, 1) == 0)
			raise(SIGUSR2);
		after_signal(i);
	}
}

APART void same_stack()
{
	handle(SIGUSR1, on_signal, 0);
	handle(SIGUSR2, on_signal_jump, 0);
	signals();
}

APART void other_stack()
{
	stack_t stack;

	memset(&stack, 0, sizeof(stack));
	stack.ss_size = 256 << 10;
	stack.ss_sp = malloc(stack.ss_size);
	sigaltstack(&stack, nullptr);
	handle(SIGUSR1, on_signal, SA_ONSTACK);
	handle(SIGUSR2, on_signal_jump, SA_ONSTACK);
	signals();
}

// The other stack is above all that the thread has called.
APART void *in_thread(void *area)
{
	stack_t stack;

	memset(&stack, 0, sizeof(stack));
	stack.ss_size = 128 << 10;
	stack.ss_sp = area;
	sigaltstack(&stack, nullptr);
	handle(SIGUSR1, on_signal, SA_ONSTACK);
	handle(SIGUSR2, on_signal_jump, SA_ONSTACK);
	signals();
	return nullptr;
}

APART void stack_above()
{
	char area[256 << 10];
	pthread_t thread;

	memset(area, 0, sizeof(area));
	pthread_create(&thread, nullptr, in_thread, area + (64 << 10));
	pthread_join(thread, nullptr);
	sum += area[1];
}

// What follows a signal calls nothing, and returns from nothing.
APART void traps()
{
#if defined(__x86_64__)
	__asm__ volatile("int3");
	for (int i = 0; i < 10000; i++)
		sum += i;
	__asm__ volatile("int3");
#endif
	leaf(0);
}

APART void trap()
{
	handle(SIGTRAP, on_signal, 0);
	traps();
}

APART void trap_elsewhere()
{
	stack_t stack;

	memset(&stack, 0, sizeof(stack));
	stack.ss_size = 256 << 10;
	stack.ss_sp = malloc(stack.ss_size);
	sigaltstack(&stack, nullptr);
	handle(SIGTRAP, on_signal, SA_ONSTACK);
	traps();
}

// ---- threads, processes ----

APART void *thread(void *n)
{
	for (long i = 0; i < (long)n; i++)
		after_signal(i);
	return nullptr;
}

APART void threads()
{
	pthread_t three, five;

	pthread_create(&three, nullptr, thread, (void *)3);
	pthread_create(&five, nullptr, thread, (void *)5);
	pthread_join(three, nullptr);
	pthread_join(five, nullptr);
}

APART void in_child(int n)
{
	leaf(n);
}

APART void children()
{
	pid_t child = fork();

	if (child == 0) {
		in_child(1);
		in_child(2);
		_exit(0);
	}
	waitpid(child, nullptr, 0);
	leaf(0);
}

// ---- calls that are none, or of somebody else ----

APART int tail_to(int n)
{
	leaf(n);
	return sum + n;
}

APART int tail_from(int n)
{
	return tail_to(n + 1);
}

APART void tails()
{
	for (int i = 0; i < 6; i++)
		sum += tail_from(i);
	leaf(0);
}

// Each jumps to the other.
APART int pong(int n);

APART int ping(int n)
{
	sum += n;
	return n > 0 ? pong(n - 1) : sum;
}

APART int pong(int n)
{
	sum += n;
	return n > 0 ? ping(n - 1) : sum;
}

APART void turns()
{
	sum += ping(5);
	leaf(0);
}

// It is left by a jump to a place that never changes, without its return address.
#if defined(__x86_64__)
void dropping();
void after_drop();
__asm__(".text\n"
	".type dropping, @function\n"
	"dropping:\n"
	"	sub $8, %rsp\n"
	"	call dropped\n"
	"1:	call after_drop\n"
	"	add $8, %rsp\n"
	"	ret\n"
	".type dropped, @function\n"
	"dropped:\n"
	"	add $8, %rsp\n"
	"	jmp 1b\n");
#else
APART void dropping()
{
}
#endif

APART void after_drop()
{
	leaf(1);
}

// A library in the place of another one.
APART void call_from(const char *self, const char *library, const char *function)
{
	char path[4096];
	void *handle;
	void (*called)();

	snprintf(path, sizeof(path), "%.*s/%s", (int)(strrchr(self, '/') - self), self,
		library);
	handle = dlopen(path, RTLD_NOW);
	if (!handle)
		return;
	called = (void (*)())dlsym(handle, function);
	printf("%p\n", (void *)called);
	called();
	dlclose(handle);
}

static const char *self;

APART void reopened()
{
	call_from(self, "libfirst.so", "only_first");
	call_from(self, "libsecond.so", "only_second");
}

APART int called_back(int n)
{
	leaf(n);
	return sum;
}

APART void library()
{
	sum += callee_outer(7, called_back);
	leaf(0);
}
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*go)();
	} ways[] = {{"recursion", recursion}, {"jumps", jumps},
		{"exceptions", exceptions}, {"same_stack", same_stack},
		{"other_stack", other_stack}, {"stack_above", stack_above},
		{"turns", turns}, {"trap", trap}, {"trap_elsewhere", trap_elsewhere},
		{"dropping", dropping}, {"reopened", reopened}, {"threads", threads},
		{"children", children}, {"tails", tails}, {"library", library}};

	self = argv[0];
	for (int i = 1; i < argc; i++)
		for (const auto &way : ways)
			if (strcmp(argv[i], way.name) == 0)
				way.go();
	printf("%d\n", sum != 0);
	return 0;
}
