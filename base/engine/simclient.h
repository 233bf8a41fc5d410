/* SPDX-License-Identifier: MIT
 *
 * Client requests as plain functions, so that valgrind.h stays in one file.
 * Natively each answers 0 and does nothing.
 */
#ifndef CACHEPEEK_BASE_ENGINE_SIMCLIENT_H
#define CACHEPEEK_BASE_ENGINE_SIMCLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* request: enum cp_sim_request of tools/sim/request.h, with its one argument. */
unsigned long cp_sim_request(unsigned long request, const void *argument);

/* CP_SIM_READABLE: may the page be read? */
bool cp_sim_readable(const void *page);

/* CP_SIM_BIND_MACHINE */
unsigned long cp_sim_bind_machine(unsigned number, const void *mirror);
unsigned long cp_sim_bind_machine_sample(unsigned number, const void *mirror);

unsigned long cp_sim_own_code(const void *low, const void *high);

/* CP_SIM_TLS */
unsigned long cp_sim_tls(const void *block, size_t size, const void *image);

/* CP_SIM_THREAD_COMES */
bool cp_sim_thread_comes(bool wanted);

/* CP_SIM_STACK_OF_THREAD */
unsigned long cp_sim_stack(uintptr_t low, uintptr_t high);

/* CP_SIM_FUNCTIONS, CP_SIM_FUNCTION_NAME */
typedef void (*cp_sim_detour)(unsigned long number, unsigned long ended, uintptr_t a1,
	uintptr_t a2, uintptr_t a3, uintptr_t a4);
unsigned long cp_sim_functions(cp_sim_detour detour, const char *patterns);
unsigned long cp_sim_function_name(unsigned long number, char *to, size_t size);

/* CP_SIM_FUNCTION_DONE, CP_SIM_FUNCTION_AGAIN */
void cp_sim_function_done(const void *name);
unsigned long cp_sim_function_again(void);

/* CP_SIM_LINE_CHECK */
unsigned long cp_sim_function_check(unsigned long n, char *to, size_t size);
unsigned long cp_sim_line_check(unsigned long n, char *name, char *why, size_t size);

/* CP_SIM_TITLE */
unsigned long cp_sim_title(const char *arguments, const char *variables, const char *end);

/* CP_SIM_DESCRIPTORS: of the process *pid */
unsigned long cp_sim_descriptors(const int *pid);

/* kind: enum cp_sim_allocator */
unsigned long cp_sim_allocator(const void *function, unsigned long kind);

#endif
