/* SPDX-License-Identifier: MIT
 *
 * A tool of Kokkos with every entry point, which writes down each call and what came
 * along, to the file that TOOL_LOG names; addresses by the order in which they come.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct space {
	char name[64];
};

static FILE *file;

#define LOG(...) fprintf(file, __VA_ARGS__)

static unsigned number_of(const void *address)
{
	static const void *known[256];
	unsigned i = 0;

	while (i < 255 && known[i] && known[i] != address)
		i++;
	known[i] = address;
	return i;
}

__attribute__((constructor)) static void start(void)
{
	const char *libraries = getenv("KOKKOS_TOOLS_LIBS"),
		   *older = getenv("KOKKOS_PROFILE_LIBRARY");

	file = fopen(getenv("TOOL_LOG"), "a");
	setvbuf(file, NULL, _IOLBF, 0);
	LOG("libraries %s, %s\n", libraries ? libraries : "-", older ? older : "-");
}

void kokkosp_init_library(int sequence, uint64_t version, uint32_t n, void *devices)
{
	LOG("init %d %lu %u %d\n", sequence, (unsigned long)version, n, devices != NULL);
}
void kokkosp_finalize_library(void)
{
	LOG("finalize\n");
}
void kokkosp_parse_args(int argc, char **argv)
{
	LOG("arguments %d %s\n", argc, argc > 1 ? argv[1] : "-");
}
void kokkosp_print_help(char *program)
{
	LOG("help %d\n", program != NULL);
}
struct actions {
	void *function[32];
};

void kokkosp_provide_tool_programming_interface(uint32_t n, struct actions actions)
{
	LOG("interface %u %d\n", n, actions.function[0] != NULL);
}
void kokkosp_request_tool_settings(uint32_t n, bool *settings)
{
	LOG("settings %u %d\n", n, settings[0]);
	settings[0] = getenv("TOOL_FENCES") != NULL;
}

int kokkos_tool_is_global; /* for those that the tool loads */

/* Kernels have numbers of ours. */
static uint64_t last = 4700;

#define KERNEL(kind)                                                                     \
	void kokkosp_begin_##kind(const char *name, uint32_t device, uint64_t *id)       \
	{                                                                                \
		*id = ++last;                                                            \
		LOG("begin " #kind " %s %u\n", name, device);                            \
	}                                                                                \
	void kokkosp_end_##kind(uint64_t id)                                             \
	{                                                                                \
		LOG("end " #kind " %lu\n", (unsigned long)id);                           \
	}
KERNEL(parallel_for)
KERNEL(parallel_reduce)
KERNEL(parallel_scan)
KERNEL(fence)

void kokkosp_push_profile_region(const char *name)
{
	LOG("push %s\n", name);
}
void kokkosp_pop_profile_region(void)
{
	LOG("pop\n");
}
void kokkosp_create_profile_section(const char *name, uint32_t *id)
{
	*id = (uint32_t)++last;
	LOG("create section %s\n", name);
}
void kokkosp_start_profile_section(uint32_t id)
{
	LOG("start section %u\n", id);
}
void kokkosp_stop_profile_section(uint32_t id)
{
	LOG("stop section %u\n", id);
}
void kokkosp_destroy_profile_section(uint32_t id)
{
	LOG("destroy section %u\n", id);
}
void kokkosp_profile_event(const char *name)
{
	LOG("event %s\n", name);
}

void kokkosp_allocate_data(struct space space, const char *name, void *at, uint64_t size)
{
	LOG("allocate %s %s %u %lu\n", space.name, name, number_of(at),
		(unsigned long)size);
}
void kokkosp_deallocate_data(
	struct space space, const char *name, void *at, uint64_t size)
{
	LOG("deallocate %s %s %u %lu\n", space.name, name, number_of(at),
		(unsigned long)size);
}
void kokkosp_begin_deep_copy(struct space to, const char *to_name, void *to_at,
	struct space from, const char *from_name, void *from_at, uint64_t size)
{
	LOG("copy %s %s %u %s %s %u %lu\n", to.name, to_name, number_of(to_at), from.name,
		from_name, number_of(from_at), (unsigned long)size);
}
void kokkosp_end_deep_copy(void)
{
	LOG("end copy\n");
}
void kokkosp_dual_view_sync(const char *name, void *at, bool device)
{
	LOG("sync %s %u %d\n", name, number_of(at), device);
}
void kokkosp_dual_view_modify(const char *name, void *at, bool device)
{
	LOG("modify %s %u %d\n", name, number_of(at), device);
}
void kokkosp_declare_metadata(const char *key, const char *value)
{
	LOG("metadata %s %s\n", key, value);
}

void kokkosp_declare_input_type(const char *name, size_t id, void *info)
{
	LOG("input %s %zu %d\n", name, id, info != NULL);
}
void kokkosp_declare_output_type(const char *name, size_t id, void *info)
{
	LOG("output %s %zu %d\n", name, id, info != NULL);
}
void kokkosp_declare_optimization_goal(size_t context, void *goal)
{
	LOG("goal %zu %d\n", context, goal != NULL);
}
void kokkosp_request_values(
	size_t context, size_t inputs, void *in, size_t outputs, void *out)
{
	LOG("values %zu %zu %d %zu %d\n", context, inputs, in != NULL, outputs,
		out != NULL);
}
void kokkosp_begin_context(size_t context)
{
	LOG("context %zu\n", context);
}
void kokkosp_end_context(size_t context, ...)
{
	LOG("end context %zu\n", context);
}
