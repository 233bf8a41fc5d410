/* SPDX-License-Identifier: MIT
 * Another tool, as a user may have one: a collector of ITT, an injection of NVTX,
 * a Kokkos tool, and Caliper's library.  Counts what it is told, says it at the
 * end.
 */
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "markers_abi.h"

static int itt, nvtx, kokkos, caliper;

__attribute__((destructor)) static void tell(void)
{
	fprintf(stderr, "other tool: itt %d nvtx %d kokkos %d caliper %d\n", itt, nvtx,
		kokkos, caliper);
}

/* ---- ITT ---- */

static struct itt_domain domain = {.flags = 1, .name = "other"};
static struct itt_string string = {.text = "made by the other tool"};

static struct itt_domain *domain_create(const char *name)
{
	(void)name;
	return &domain;
}
static struct itt_string *string_create(const char *text)
{
	string.text = text;
	return &string;
}
static void task_begin(
	struct itt_domain *d, struct itt_id id, struct itt_id p, struct itt_string *s)
{
	(void)p;
	itt += d == &domain && s == &string && id.d1 == 0;
}
static void task_end(struct itt_domain *d)
{
	itt += d == &domain;
}

void __itt_api_init(struct itt_global *global, int groups)
{
	(void)groups;
	for (struct itt_function *f = global->functions; f->name; f++) {
		void *mine = f->null;

		if (!strcmp(f->name, "__itt_domain_create"))
			mine = (void *)domain_create;
		if (!strcmp(f->name, "__itt_string_handle_create"))
			mine = (void *)string_create;
		if (!strcmp(f->name, "__itt_task_begin"))
			mine = (void *)task_begin;
		if (!strcmp(f->name, "__itt_task_end"))
			mine = (void *)task_end;
		*f->pointer = mine;
	}
}

/* ---- NVTX ---- */

static int push_a(const char *text)
{
	nvtx += text != NULL;
	return 7;
}
static int pop(void)
{
	nvtx++;
	return 8;
}

int InitializeInjectionNvtx2(const void *(*get)(uint32_t))
{
	const struct nvtx_callbacks *callbacks = get(1);
	nvtx_function ***table;
	unsigned size;

	if (!callbacks->table(1, &table, &size))
		return 0;
	*table[9] = (nvtx_function *)push_a;
	*table[11] = (nvtx_function *)pop;
	return 1;
}

/* ---- Kokkos ---- */

void kokkosp_init_library(int sequence, uint64_t version, uint32_t n, void *devices)
{
	(void)sequence, (void)version, (void)n, (void)devices;
}
void kokkosp_push_profile_region(const char *name)
{
	kokkos += !strcmp(name, "phase");
}
void kokkosp_begin_parallel_for(const char *name, uint32_t device, uint64_t *id)
{
	(void)device;
	kokkos += !strcmp(name, "fill");
	*id = 4711;
}
void kokkosp_end_parallel_for(uint64_t id)
{
	kokkos += id == 4711;
}

/* ---- Caliper ---- */

void cali_begin_region(const char *name)
{
	caliper += name != NULL;
}
void cali_end_region(const char *name)
{
	caliper += name != NULL;
}
void cali_begin_string(uint64_t attribute, const char *value)
{
	caliper += attribute && value;
}
void cali_begin_int(uint64_t attribute, int value)
{
	(void)value;
	caliper += attribute != 0;
}
void cali_end(uint64_t attribute)
{
	caliper += attribute != 0;
}
const char *cali_attribute_name(uint64_t attribute)
{
	static const char *const names[] = {"?", "function", "solver", "iteration#loop"};

	return names[attribute < 4 ? attribute : 0];
}
void _ZN4cali8FunctionC1EPKc(void *object, const char *name)
{
	caliper += object && name;
}
void _ZN4cali8FunctionD1Ev(void *object)
{
	caliper += object != NULL;
}
void _ZN4cali4LoopC1EPKc(void *object, const char *name)
{
	caliper += object && name;
}
void _ZN4cali4Loop3endEv(void *object)
{
	caliper += object != NULL;
}
void _ZN4cali4LoopD1Ev(void *object)
{
	_ZN4cali4Loop3endEv(object);
}

/* ---- MPI ---- */

int MPI_Pcontrol(const int level, ...)
{
	va_list args;

	va_start(args, level);
	printf("level %d %s\n", level, level == 7 ? va_arg(args, const char *) : "");
	va_end(args);
	return 0;
}

/* As MPICH's, it calls C's. */
void mpi_pcontrol_(const int *level)
{
	MPI_Pcontrol(*level);
}
