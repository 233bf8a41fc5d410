/* SPDX-License-Identifier: MIT
 *
 * Two coroutines whose functions overlap in time: alpha touches 1000 lines, and 1000 more
 * when beta has touched 300; then beta touches 300 more, and main 5000.  gamma_, in
 * alpha, touches 200, and waits for nobody.
 *
 * usage: coroutines STACKS SWITCH [swapped]
 *   STACKS: mapped, malloc, array (both in one), frame (one in main's frame)
 *   SWITCH: ucontext, direct (from one to the other), asm, jumps (setjmp and longjmp),
 *     threads (each goes on in another thread), handler (a signal's handler on a stack of
 *     its own is in between), called (gamma_ is called on another stack), thrown (gamma_
 *     leaves by longjmp)
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#define SIZE (256 << 10)
#define F __attribute__((noinline, noclone))

static ucontext_t contexts[3]; /* main, alpha, beta */
static void *pointers[3];
static jmp_buf buffers[3];
static char array[2 * SIZE] __attribute__((aligned(4096)));
static char *lines, *stacks[3], others[SIZE];
static const char *how;
static sigjmp_buf out;

F static long touch(long from, long n)
{
	volatile char *p = lines + from * 64;
	long sum = 0;

	for (long i = 0; i < n; i++)
		sum += p[i * 64];
	return sum;
}

F void gamma_(void)
{
	touch(50000, 200);
	if (strcmp(how, "thrown") == 0)
		siglongjmp(out, 1);
	__asm__ volatile("");
}

static void handle(int signal)
{
	(void)signal;
	gamma_();
}

/* ---- switches by hand ---- */

void switch_pointers(void **from, void *to);
void call_there(void *stack, void (*function)(void));

#if defined(__x86_64__)
__asm__(".text\n.type switch_pointers,%function\nswitch_pointers:\n"
	" push %rbp\n push %rbx\n push %r12\n push %r13\n push %r14\n push %r15\n"
	" mov %rsp, (%rdi)\n mov %rsi, %rsp\n"
	" pop %r15\n pop %r14\n pop %r13\n pop %r12\n pop %rbx\n pop %rbp\n ret\n"
	".size switch_pointers, .-switch_pointers\n"
	".type call_there,%function\ncall_there:\n"
	" push %rbp\n mov %rsp, %rbp\n mov %rdi, %rsp\n call *%rsi\n mov %rbp, %rsp\n"
	" pop %rbp\n ret\n"
	".size call_there, .-call_there\n");

static void *prepare(char *stack, void (*function)(void))
{
	void **top = (void **)(stack + SIZE - 64);

	*--top = NULL; /* nobody returns there */
	*--top = (void *)function;
	return top - 6;
}
#else
void switch_pointers(void **from, void *to)
{
	(void)from, (void)to;
	abort();
}
void call_there(void *stack, void (*function)(void))
{
	(void)stack, (void)function;
	abort();
}
static void *prepare(char *stack, void (*function)(void))
{
	(void)function;
	return stack;
}
#endif

F static void go(int from, int to)
{
	if (strcmp(how, "asm") == 0)
		switch_pointers(&pointers[from], pointers[to]);
	else if (strcmp(how, "jumps") != 0)
		swapcontext(&contexts[from], &contexts[to]);
	else if (!_setjmp(buffers[from]))
		_longjmp(buffers[to], 1);
}

static int after(int coroutine)
{
	return strcmp(how, "direct") == 0 ? 3 - coroutine : 0;
}

static void call_gamma(void)
{
	if (strcmp(how, "handler") == 0)
		raise(SIGUSR1);
	else if (strcmp(how, "called") == 0)
		call_there(others + SIZE, gamma_);
	else if (strcmp(how, "thrown") != 0 || !sigsetjmp(out, 0))
		gamma_();
}

F void alpha(void)
{
	touch(0, 1000);
	go(1, after(1));
	call_gamma();
	touch(1000, 1000);
	__asm__ volatile("");
}

F void beta(void)
{
	touch(100000, 300);
	go(2, after(2));
	touch(100300, 300);
	__asm__ volatile("");
}

static void run_alpha(void)
{
	if (strcmp(how, "jumps") == 0 && !_setjmp(buffers[1]))
		swapcontext(&contexts[1], &contexts[0]);
	alpha();
	go(1, after(1));
}

static void run_beta(void)
{
	if (strcmp(how, "jumps") == 0 && !_setjmp(buffers[2]))
		swapcontext(&contexts[2], &contexts[0]);
	beta();
	go(2, 0);
}

static void *resume(void *which)
{
	go(0, (int)(long)which);
	return NULL;
}

static void run(int which)
{
	pthread_t thread;

	if (strcmp(how, "threads") != 0) {
		resume((void *)(long)which);
		return;
	}
	pthread_create(&thread, NULL, resume, (void *)(long)which);
	pthread_join(thread, NULL);
}

static void make(int which, void (*function)(void))
{
	pointers[which] = prepare(stacks[which], function);
	if (strcmp(how, "asm") == 0)
		return;
	getcontext(&contexts[which]);
	contexts[which].uc_stack.ss_sp = stacks[which];
	contexts[which].uc_stack.ss_size = SIZE;
	contexts[which].uc_link = &contexts[0];
	makecontext(&contexts[which], function, 0);
	if (strcmp(how, "jumps") == 0)
		swapcontext(&contexts[0], &contexts[which]);
}

static void choose_stacks(const char *kind, char *frame, int swapped)
{
	char *mapping =
		mmap(NULL, 1 << 20, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	mprotect(mapping + 4096, SIZE, PROT_READ | PROT_WRITE);
	mprotect(mapping + (512 << 10), SIZE, PROT_READ | PROT_WRITE);
	stacks[1] = mapping + 4096;
	stacks[2] = mapping + (512 << 10);
	if (strcmp(kind, "malloc") == 0) {
		stacks[1] = malloc(SIZE);
		stacks[2] = malloc(SIZE);
	} else if (strcmp(kind, "array") == 0) {
		stacks[1] = array;
		stacks[2] = array + SIZE;
	} else if (strcmp(kind, "frame") == 0) {
		stacks[1] = frame;
		stacks[2] = frame + SIZE;
	}
	if (swapped) {
		char *first = stacks[1];

		stacks[1] = stacks[2];
		stacks[2] = first;
	}
}

int main(int argc, char **argv)
{
	char frame[2 * SIZE] __attribute__((aligned(64)));
	stack_t alternative = {.ss_size = SIZE, .ss_sp = malloc(SIZE)};
	struct sigaction action = {.sa_flags = SA_ONSTACK};

	how = argv[2];
	action.sa_handler = handle;
	sigaltstack(&alternative, NULL);
	sigaction(SIGUSR1, &action, NULL);
	lines = mmap(NULL, 64 << 20, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	choose_stacks(argv[1], frame, argc > 3);
	make(1, run_alpha);
	make(2, run_beta);
	run(1);
	if (strcmp(how, "direct") != 0) {
		run(2);
		run(1);
		run(2);
	}
	touch(200000, 5000);
	puts("done");
	return 0;
}
