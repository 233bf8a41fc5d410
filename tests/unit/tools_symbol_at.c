/* SPDX-License-Identifier: MIT
 *
 * The symbol of an address is that of libdw, for every address of this program near which
 * one begins or ends: symbols in others, without a size, of the same address, weak ones.
 */
#include <elfutils/libdwfl.h>
#include <gelf.h>
#include <string.h>

#include "tests/tap/tap.h"
#include "tools/shared/symbol_at.h"

/* Never executed. */
__asm__(".pushsection .text\n"
	".type outer, @function\nouter:\n.skip 16\n"
	".type inner, @function\ninner:\n.skip 8\n.size inner, 8\n"
	".type unsized, @function\nunsized:\n.skip 16\n"
	".size outer, . - outer\n"
	".type behind, @function\nbehind:\n.skip 16\n"
	".weak weak_twin\n.type weak_twin, @function\nweak_twin:\n"
	".globl strong_twin\n.type strong_twin, @function\nstrong_twin:\n.skip 8\n"
	".size weak_twin, 8\n.size strong_twin, 8\n"
	".skip 8\n"
	".popsection\n");

static const Dwfl_Callbacks callbacks = {
	.find_elf = dwfl_build_id_find_elf,
	.find_debuginfo = dwfl_standard_find_debuginfo,
	.section_address = dwfl_offline_section_address,
};

static unsigned compared, named, different;

static void compare_at(
	Dwfl_Module *module, struct cp_symbol_ranges *ranges, uint64_t address)
{
	struct cp_symbol_at at = {NULL, 0, 0, 0};
	GElf_Off offset = 0;
	GElf_Sym symbol;
	const char *name =
		dwfl_module_addrinfo(module, address, &offset, &symbol, NULL, NULL, NULL);
	bool found = cp_symbol_at(ranges, address, &at);

	compared++;
	named += name ? 1 : 0;
	if (found != !!name ||
		(name && (strcmp(at.name, name) != 0 || at.start != address - offset ||
				 at.size != symbol.st_size ||
				 at.type != GELF_ST_TYPE(symbol.st_info)))) {
		different++;
		diag("0x%lx: %s, and libdw says %s", (unsigned long)address,
			found ? at.name : "none", name ? name : "none");
	}
}

/* Twice, as the second answer is one that was kept. */
static void compare_all(Dwfl_Module *module, struct cp_symbol_ranges *ranges)
{
	int n = dwfl_module_getsymtab(module);

	for (int i = 0; i < 2 * n; i++) {
		GElf_Sym symbol;
		GElf_Addr start;

		if (!dwfl_module_getsym_info(
			    module, i % n, &symbol, &start, NULL, NULL, NULL))
			continue;
		for (uint64_t edge = 0; edge < 2; edge++)
			for (uint64_t step = 0; step < 3; step++)
				compare_at(module, ranges,
					start + edge * symbol.st_size + step - 1);
	}
}

/* Also where sections begin and end, and where nothing is. */
static void compare_everywhere(Dwfl_Module *module, struct cp_symbol_ranges *ranges)
{
	GElf_Addr low = 0, high = 0;

	dwfl_module_info(module, NULL, &low, &high, NULL, NULL, NULL, NULL);
	for (uint64_t address = low; address < high + 4096; address++)
		compare_at(module, ranges, address);
}

static void find(struct cp_symbol_ranges *ranges, Dwfl_Module *module, const char *wanted)
{
	int n = dwfl_module_getsymtab(module);
	struct cp_symbol_at at = {NULL, 0, 0, 0};

	for (int i = 1; i < n; i++) {
		GElf_Sym symbol;
		GElf_Addr start;
		const char *name = dwfl_module_getsym_info(
			module, i, &symbol, &start, NULL, NULL, NULL);

		if (name && strcmp(name, wanted) == 0)
			cp_symbol_at(ranges, start + 1, &at);
	}
	is_string(at.name, wanted, "%s is found within itself", wanted);
}

int main(void)
{
	struct cp_symbol_ranges *ranges;
	Dwfl_Module *module;
	Dwfl *dwfl = dwfl_begin(&callbacks);

	plan_lazy();
	dwfl_report_begin(dwfl);
	module = dwfl_report_elf(dwfl, "self", "/proc/self/exe", -1, 0, true);
	dwfl_report_end(dwfl, NULL, NULL);
	if (!ok(module, "libdw reads this program"))
		return 1;
	ranges = cp_symbol_ranges_make(module);
	find(ranges, module, "outer");
	find(ranges, module, "inner");
	find(ranges, module, "strong_twin");
	compare_all(module, ranges);
	compare_everywhere(module, ranges);
	ok(compared > 10000 && named > 1000, "%u addresses, %u with a name", compared,
		named);
	is_u64(different, 0, "as libdw says");
	cp_symbol_ranges_free(ranges);
	dwfl_end(dwfl);
	return 0;
}
