/* SPDX-License-Identifier: MIT
 *
 * Uses one of the interfaces for markers, as libraries that are not there would be
 * used: `hammer INTERFACE fork` forks 20 times while another thread marks, and the
 * children mark, too; `hammer INTERFACE signal` marks while a timer's handler, every
 * 100 us, marks as well.  New names all the time: they take the locks.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "markers_abi.h"
#include "regions/cachepeek.h"

enum { FORKS = 20, CHILD = 60, SIGNALS = 1000, MOST = 400000 };

/* A region of that name, as the interface writes it. */
typedef void mark_function(const char *name);
int main(int argc, char **argv);

static void *find(const char *name)
{
	void *found = dlsym(RTLD_DEFAULT, name);

	if (!found)
		exit(3);
	return found;
}

#define FIND(pointer, name) (*(void **)&(pointer) = find(name))

/* ---- begin and end by a name ---- */

static void (*begin)(const char *), (*end)(const char *);

static void mark_named(const char *name)
{
	begin(name);
	end(name);
}

static void mark_own(const char *name)
{
	cachepeek_region region = cachepeek_region_register(name);

	cachepeek_begin(region);
	cachepeek_end(region);
}

/* ---- ITT ---- */

static void nothing(void)
{
}

static struct itt_domain *(*domain_create)(const char *) = (void *)nothing;
static struct itt_string *(*string_create)(const char *) = (void *)nothing;
static void (*task_begin)(struct itt_domain *, struct itt_id, struct itt_id,
	struct itt_string *) = (void *)nothing;
static void (*task_end)(struct itt_domain *) = (void *)nothing;
static void (*overlapped_begin)(struct itt_domain *, struct itt_id, struct itt_id,
	struct itt_string *) = (void *)nothing;
static void (*overlapped_end)(struct itt_domain *, struct itt_id) = (void *)nothing;

#define FUNCTION(name, variable)                                                         \
	{                                                                                \
		name, (void **)&(variable), (void *)nothing, (void *)nothing, 1          \
	}
static struct itt_function functions[] = {FUNCTION("__itt_domain_create", domain_create),
	FUNCTION("__itt_string_handle_create", string_create),
	FUNCTION("__itt_task_begin", task_begin), FUNCTION("__itt_task_end", task_end),
	FUNCTION("__itt_task_begin_overlapped", overlapped_begin),
	FUNCTION("__itt_task_end_overlapped", overlapped_end),
	{NULL, NULL, NULL, NULL, 0}};
static struct itt_global global = {.functions = functions};

static void start_itt(void)
{
	void *collector = dlopen(getenv("INTEL_LIBITTNOTIFY64"), RTLD_LAZY);
	void (*init)(struct itt_global *, int);

	*(void **)&init = dlsym(collector, "__itt_api_init");
	init(&global, -1);
}

static void mark_itt(const char *name)
{
	static const struct itt_id none;
	struct itt_domain *domain = domain_create(name);
	struct itt_string *string = string_create(name);
	struct itt_id id = {(uint64_t)(uintptr_t)&id, 0, 0};

	if (!domain || !string)
		return;
	task_begin(domain, none, none, string);
	overlapped_begin(domain, id, none, string);
	overlapped_end(domain, id);
	task_end(domain);
}

/* ---- NVTX ---- */

static nvtx_function *slots[2][16];
static nvtx_function **tables[2][17];

static int table(int module, nvtx_function ****to, unsigned *size)
{
	int i = module == 5;

	for (int n = 0; n < 16; n++)
		tables[i][n] = &slots[i][n];
	*to = tables[i];
	*size = 16;
	return module == 1 || module == 5;
}

static const void *get(uint32_t which)
{
	static const struct nvtx_callbacks callbacks = {sizeof(callbacks), table};

	return which == 1 ? &callbacks : NULL;
}

static void start_nvtx(void)
{
	void *injection = dlopen(getenv("NVTX_INJECTION64_PATH"), RTLD_LAZY);
	int (*init)(const void *(*)(uint32_t));

	*(void **)&init = dlsym(injection, "InitializeInjectionNvtx2");
	init(get);
}

static void mark_nvtx(const char *name)
{
	const void *(*create)(const void *, const char *) = (void *)slots[1][10];
	int (*push)(const char *) = (void *)slots[0][9],
			       (*pop)(void) = (void *)slots[0][11];
	uint64_t (*range)(const char *) = (void *)slots[0][5], id;
	void (*range_end)(uint64_t) = (void *)slots[0][7];

	create(NULL, name);
	push(name);
	id = range(name);
	range_end(id);
	pop();
}

/* ---- Kokkos, Extrae ---- */

static void (*section_create)(const char *, uint32_t *);
static void (*section_start)(uint32_t), (*section_stop)(uint32_t);

static void start_kokkos(void)
{
	FIND(begin, "kokkosp_push_profile_region");
	FIND(end, "kokkosp_pop_profile_region");
	FIND(section_create, "kokkosp_create_profile_section");
	FIND(section_start, "kokkosp_start_profile_section");
	FIND(section_stop, "kokkosp_stop_profile_section");
}

static void mark_kokkos(const char *name)
{
	uint32_t id;

	begin(name);
	section_create(name, &id);
	section_start(id);
	section_stop(id);
	((void (*)(void))(void *)end)();
}

static void (*event)(unsigned, unsigned long long);

static void mark_extrae(const char *name)
{
	event(1000, 1 + strtoul(name + 1, NULL, 10));
	event(1000, 0);
}

/* ---- Score-P, PerfStubs' and Caliper's other ways, functions ---- */

static void (*scorep_begin)(const char *, uint32_t, const char *, uint32_t);

static void mark_scorep(const char *name)
{
	scorep_begin(name, 0, "here.c", 1);
	end(name);
}

static void *(*ps_create)(const char *);
static void (*timer_start)(void *), (*timer_stop)(void *);

static void mark_perfstubs(const char *name)
{
	void *timer = ps_create(name);

	timer_start(timer);
	timer_stop(timer);
	begin(name);
	end(name);
}

static void (*function_enter)(void *, void *), (*function_exit)(void *, void *);

static void mark_instrumented(const char *name)
{
	char *function = (char *)(uintptr_t)main + strtoul(name + 1, NULL, 10);

	function_enter(function, NULL);
	function_exit(function, NULL);
}

/* ---- which ---- */

static mark_function *choose(const char *interface)
{
	static const struct {
		const char *interface, *begin, *end;
	} named[] = {{"caliper", "cali_begin_region", "cali_end_region"},
		{"tau", "Tau_start", "Tau_stop"},
		{"likwid", "likwid_markerStartRegion", "likwid_markerStopRegion"},
		{"papi", "PAPI_hl_region_begin", "PAPI_hl_region_end"}};

	for (unsigned i = 0; i < sizeof(named) / sizeof(named[0]); i++)
		if (strcmp(interface, named[i].interface) == 0) {
			FIND(begin, named[i].begin);
			FIND(end, named[i].end);
			return mark_named;
		}
	if (strcmp(interface, "own") == 0)
		return mark_own;
	if (strcmp(interface, "itt") == 0)
		return start_itt(), mark_itt;
	if (strcmp(interface, "nvtx") == 0)
		return start_nvtx(), mark_nvtx;
	if (strcmp(interface, "kokkos") == 0)
		return start_kokkos(), mark_kokkos;
	if (strcmp(interface, "extrae") == 0)
		return FIND(event, "Extrae_event"), mark_extrae;
	if (strcmp(interface, "scorep") == 0)
		return FIND(scorep_begin, "SCOREP_User_RegionByNameBegin"),
		       FIND(end, "SCOREP_User_RegionByNameEnd"), mark_scorep;
	if (strcmp(interface, "perfstubs") == 0)
		return FIND(ps_create, "ps_tool_timer_create"),
		       FIND(timer_start, "ps_tool_timer_start"),
		       FIND(timer_stop, "ps_tool_timer_stop"),
		       FIND(begin, "ps_tool_start_string"),
		       FIND(end, "ps_tool_stop_string"), mark_perfstubs;
	if (strcmp(interface, "functions") == 0)
		return FIND(function_enter, "__cyg_profile_func_enter"),
		       FIND(function_exit, "__cyg_profile_func_exit"), mark_instrumented;
	exit(2);
}

/* ---- what is done with it ---- */

static mark_function *mark;
static volatile int stop;
static volatile unsigned signals;

static void mark_number(unsigned number)
{
	char name[32];

	snprintf(name, sizeof(name), "n%u", number);
	mark(name);
}

static void *hammer(void *argument)
{
	for (unsigned i = 0; i < MOST && !stop; i++)
		mark_number(i % 300);
	return argument;
}

/* 1: it hangs. */
static int hangs(pid_t child)
{
	int status;

	for (int tries = 0; tries < 12000; tries++) {
		if (waitpid(child, &status, WNOHANG) == child)
			return status != 0;
		usleep(10000);
	}
	kill(child, SIGKILL);
	waitpid(child, &status, 0);
	return 1;
}

static void fork_in_threads(void)
{
	pthread_t thread;
	int bad = 0;

	pthread_create(&thread, NULL, hammer, NULL);
	for (int i = 0; i < FORKS && !bad; i++) {
		pid_t child = fork();

		if (child == 0) {
			for (unsigned n = 0; n < CHILD; n++)
				mark_number(n * 7);
			exit(0);
		}
		bad += hangs(child);
	}
	stop = 1;
	pthread_join(thread, NULL);
	printf("%d children of %d bad\n", bad, FORKS);
}

static void on_alarm(int number)
{
	static unsigned n;

	(void)number;
	mark_number(500 + n++ % 300);
	signals++;
}

/* In a child, so that one that hangs is seen. */
static void mark_in_signals(void)
{
	struct itimerval every = {{0, 100}, {0, 100}}, never = {{0, 0}, {0, 0}};
	struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
	pid_t child = fork();

	if (child == 0) {
		sigaction(SIGALRM, &action, NULL);
		setitimer(ITIMER_REAL, &every, NULL);
		for (unsigned i = 0; i < MOST && signals < SIGNALS; i++)
			mark_number(i % 400);
		setitimer(ITIMER_REAL, &never, NULL);
		exit(0);
	}
	printf("%d of 1 bad\n", hangs(child));
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 1;
	mark = choose(argv[1]);
	mark("n0");
	if (strcmp(argv[2], "fork") == 0)
		fork_in_threads();
	else
		mark_in_signals();
	return 0;
}
