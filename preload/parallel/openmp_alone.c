/* SPDX-License-Identifier: MIT
 *
 * Each takes the arguments of its entries as far as it looks at them: those behind are
 * the caller's to remove.
 */
#include "preload/parallel/openmp_alone.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/text.h"

typedef void body_function(void *);
typedef void copy_function(void *, void *);

/* Runs the body of GOMP_parallel and its kind; some give a number of threads. */
static unsigned run_body(body_function *body, void *data)
{
	body(data);
	return 1;
}

/* The data of a task that is copied by a function are not whole before that. */
static void run_copy(
	body_function *body, void *data, copy_function *copy, long size, long alignment)
{
	uintptr_t room = (uintptr_t)__builtin_alloca((size_t)(size + alignment));
	void *at = (void *)((room + (uintptr_t)alignment - 1) & -(uintptr_t)alignment);

	copy(at, data);
	body(at);
}

static void run_task(
	body_function *body, void *data, copy_function *copy, long size, long alignment)
{
	if (copy)
		run_copy(body, data, copy, size, alignment);
	else
		body(data);
}

/* The bounds, behind flags, a number of tasks and a priority, are the first words of the
 * data. */
static void run_taskloop(body_function *body, void *data, copy_function *copy, long size,
	long alignment, ...)
{
	long bounds[2];
	va_list all;

	va_start(all, alignment);
	(void)va_arg(all, unsigned);
	(void)va_arg(all, unsigned long);
	(void)va_arg(all, int);
	bounds[0] = va_arg(all, long);
	bounds[1] = va_arg(all, long);
	va_end(all);
	memcpy(data, bounds, sizeof(bounds));
	run_task(body, data, copy, size, alignment);
}

static bool pass_barrier(void)
{
	return false;
}

#define MOST 16 /* pointers that a body of LLVM's takes; it has a structure of more */

typedef void microtask(int32_t *, int32_t *, void *, void *, void *, void *, void *,
	void *, void *, void *, void *, void *, void *, void *, void *, void *, void *,
	void *);

static void run_microtask(const void *identity, int count, microtask *body, ...)
{
	int32_t global = 0, bound = 0;
	void *a[MOST] = {NULL};
	va_list all;

	(void)identity;
	va_start(all, body);
	for (int i = 0; i < count && i < MOST; i++)
		a[i] = va_arg(all, void *);
	va_end(all);
	body(&global, &bound, a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9],
		a[10], a[11], a[12], a[13], a[14], a[15]);
}

void *cp_omp_alone(const char *entry)
{
	if (cp_starts_with(entry, "__kmpc_fork_"))
		return (void *)(uintptr_t)run_microtask;
	if (cp_starts_with(entry, "GOMP_taskloop"))
		return (void *)(uintptr_t)run_taskloop;
	if (cp_starts_with(entry, "GOMP_task"))
		return (void *)(uintptr_t)run_task;
	if (cp_starts_with(entry, "GOMP_parallel") || cp_starts_with(entry, "GOMP_teams"))
		return (void *)(uintptr_t)run_body;
	return (void *)(uintptr_t)pass_barrier;
}
