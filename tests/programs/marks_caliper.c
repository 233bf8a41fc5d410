/* SPDX-License-Identifier: MIT
 * Marks itself for Caliper: its C functions, and what its C++ macros become.
 * Linked with libothertool, which plays Caliper.
 */
#include <stdint.h>
#include <stdio.h>

void cali_begin_region(const char *name);
void cali_end_region(const char *name);
void cali_begin_string(uint64_t attribute, const char *value);
void cali_begin_int(uint64_t attribute, int value);
void cali_end(uint64_t attribute);
void _ZN4cali8FunctionC1EPKc(void *object, const char *name);
void _ZN4cali8FunctionD1Ev(void *object);
void _ZN4cali4LoopC1EPKc(void *object, const char *name);
void _ZN4cali4Loop3endEv(void *object);
void _ZN4cali4LoopD1Ev(void *object);

enum { FUNCTION = 1, SOLVER, ITERATION };

int main(void)
{
	char function, loop;

	_ZN4cali8FunctionC1EPKc(&function, "main");
	cali_begin_region("setup");
	cali_begin_string(FUNCTION, "assemble");
	cali_end(FUNCTION);
	cali_end_region("setup");
	_ZN4cali4LoopC1EPKc(&loop, "steps");
	for (int i = 0; i < 3; i++) {
		cali_begin_int(ITERATION, i);
		cali_begin_string(SOLVER, i ? "cg" : "direct");
		cali_end(SOLVER);
		cali_end(ITERATION);
	}
	_ZN4cali4Loop3endEv(&loop);
	_ZN4cali4LoopD1Ev(&loop);
	_ZN4cali8FunctionD1Ev(&function);
	puts("done");
	return 0;
}
