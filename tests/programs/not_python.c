/* SPDX-License-Identifier: MIT
 *	not_python CASE
 * Has the variables of an interpreter, and in them what none has: whoever follows them
 * must not believe it.  Misses L1D meanwhile.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Words of the objects, as 3.11 has them. */
struct object {
	uint64_t word[32];
};

const unsigned long Py_Version = 0x030b0000;
struct object _PyRuntime, PyCode_Type;
static struct object interpreter, state, cframe, frame, name, table;
static struct object *code; /* in a page of its own */
static char *gone;

static void *page(int protection)
{
	return mmap(NULL, 4096, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static void link_all(void)
{
	code = page(PROT_READ | PROT_WRITE);
	gone = page(PROT_NONE);
	_PyRuntime.word[5] = (uintptr_t)&interpreter;
	interpreter.word[2] = (uintptr_t)&state;
	state.word[7] = (uintptr_t)&cframe;
	state.word[20] = (uint64_t)syscall(SYS_gettid);
	cframe.word[1] = (uintptr_t)&frame;
	frame.word[4] = (uintptr_t)code;
	frame.word[7] = (uintptr_t)code + 184;
	code->word[1] = (uintptr_t)&PyCode_Type;
	code->word[2] = 8;
	code->word[14] = code->word[16] = (uintptr_t)&name;
	code->word[17] = (uintptr_t)&table;
	name.word[2] = 4;
	name.word[4] = 1 << 2 | 1 << 5 | 1 << 6;
	memcpy(&name.word[6], "name", 4);
	table.word[2] = 6; /* a line for each instruction, from 1 on */
	memcpy(&table.word[4], "\xd8\x0a\x01\xd8\x0a\x01", 6);
}

/* One of them is not as it should be.  What calls the kernel begins another turn, in
 * which everything is looked for again. */
static void spoil(const char *what)
{
	if (strcmp(what, "state") == 0)
		interpreter.word[2] = (uintptr_t)gone;
	else if (strcmp(what, "states") == 0)
		state.word[20] = 0, state.word[1] = (uintptr_t)&state;
	else if (strcmp(what, "interpreters") == 0)
		state.word[20] = 0, interpreter.word[0] = (uintptr_t)&interpreter;
	else if (strcmp(what, "frame") == 0)
		cframe.word[1] = (uintptr_t)gone + 1;
	else if (strcmp(what, "frames") == 0)
		name.word[6] = '<', frame.word[6] = (uintptr_t)&frame;
	else if (strcmp(what, "code") == 0)
		code->word[1] = 0;
	else if (strcmp(what, "name") == 0)
		code->word[16] = (uintptr_t)gone;
	else if (strcmp(what, "length") == 0)
		name.word[2] = UINT64_MAX / 2;
	else if (strcmp(what, "table") == 0)
		table.word[2] = UINT64_MAX / 2;
	else if (strcmp(what, "unmapped") == 0)
		munmap(code, 4096);
	else if (strcmp(what, "ended") == 0)
		interpreter.word[2] = 0;
	else if (strcmp(what, "protected") == 0)
		mprotect(code, 4096, PROT_NONE);
}

/* Two lines in turn, which the same instruction misses for. */
static void touch(volatile char *data, size_t size)
{
	volatile uint64_t *at = &frame.word[7];

	for (size_t i = 0; i < size; i += 64) {
		*at = (uintptr_t)code + 184 + (i >> 5 & 2);
		data[i]++;
	}
}

int main(int argc, char **argv)
{
	static volatile char data[1 << 20];

	link_all();
	for (unsigned round = 0; round < 3; round++) {
		touch(data, sizeof(data));
		if (round == 0)
			spoil(argc > 1 ? argv[1] : "");
	}
	puts("done");
	return 0;
}
