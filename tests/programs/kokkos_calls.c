/* SPDX-License-Identifier: MIT
 *
 * Calls a tool as Kokkos does, each entry point that it finds; says which those are,
 * and what the tool has given back.
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

struct space {
	char name[64];
};

struct actions {
	void *function[32];
};

static void *tool;

static void *find(const char *name)
{
	void *found = dlsym(tool, name);

	if (!found)
		printf("%s is not there\n", name);
	return found;
}

#define CALL(name, parameters, arguments)                                                \
	do {                                                                             \
		void(*function) parameters;                                              \
                                                                                         \
		*(void **)&function = find("kokkosp_" #name);                            \
		if (function)                                                            \
			function arguments;                                              \
	} while (0)

static void kernels(void)
{
	uint64_t id = 0;

#define KERNEL(kind)                                                                     \
	CALL(begin_##kind, (const char *, uint32_t, uint64_t *), (#kind, 3, &id));       \
	printf(#kind " %lu\n", (unsigned long)id);                                       \
	CALL(end_##kind, (uint64_t), (id));
	KERNEL(parallel_for)
	KERNEL(parallel_reduce)
	KERNEL(parallel_scan)
	KERNEL(fence)
}

static void regions(void)
{
	uint32_t section = 0;

	CALL(push_profile_region, (const char *), ("region"));
	CALL(create_profile_section, (const char *, uint32_t *), ("section", &section));
	printf("section %u\n", section);
	CALL(start_profile_section, (uint32_t), (section));
	CALL(profile_event, (const char *), ("event"));
	CALL(pop_profile_region, (void), ());
	CALL(stop_profile_section, (uint32_t), (section));
	CALL(destroy_profile_section, (uint32_t), (section));
}

static void memory(void)
{
	struct space host = {"Host"}, device = {"Device"};
	int a, b;

	CALL(allocate_data, (struct space, const char *, void *, uint64_t),
		(host, "a", &a, 5));
	CALL(begin_deep_copy,
		(struct space, const char *, void *, struct space, const char *, void *,
			uint64_t),
		(host, "a", &a, device, "b", &b, 6));
	CALL(end_deep_copy, (void), ());
	CALL(dual_view_sync, (const char *, void *, bool), ("a", &a, true));
	CALL(dual_view_modify, (const char *, void *, bool), ("b", &b, false));
	CALL(deallocate_data, (struct space, const char *, void *, uint64_t),
		(host, "a", &a, 5));
	CALL(declare_metadata, (const char *, const char *), ("key", "value"));
}

static void tuning(void)
{
	int info;

	CALL(declare_input_type, (const char *, size_t, void *), ("in", 1, &info));
	CALL(declare_output_type, (const char *, size_t, void *), ("out", 2, &info));
	CALL(begin_context, (size_t), (3));
	CALL(declare_optimization_goal, (size_t, void *), (3, &info));
	CALL(request_values, (size_t, size_t, void *, size_t, void *),
		(3, 1, &info, 1, &info));
	CALL(end_context, (size_t, size_t), (3, 2));
}

int main(int argc, char **argv)
{
	bool settings[256] = {true};
	struct actions actions = {{NULL}};
	const char *path = getenv("KOKKOS_TOOLS_LIBS");

	tool = path ? dlopen(path, RTLD_NOW | RTLD_GLOBAL) : NULL;
	if (!tool) {
		puts("no tool");
		return 0;
	}
	CALL(print_help, (char *), (argv[0]));
	CALL(parse_args, (int, char **), (argc, argv));
	CALL(init_library, (int, uint64_t, uint32_t, void *), (0, 20211015, 0, NULL));
	CALL(provide_tool_programming_interface, (uint32_t, struct actions),
		(32, actions));
	CALL(request_tool_settings, (uint32_t, bool *), (1, settings));
	printf("fences %d\n", settings[0]);
	kernels();
	regions();
	memory();
	tuning();
	CALL(finalize_library, (void), ());
	puts(dlsym(RTLD_DEFAULT, "kokkos_tool_is_global") ? "global" : "local");
	return 0;
}
