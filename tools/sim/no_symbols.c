/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Nobody asks this tool for a function's name, but Valgrind's core reads the
 * symbols and debug information of every object that is mapped: half of the
 * time that a short program takes.  The linker puts this function in the place
 * of the reader (--wrap); the core then knows the objects without their symbols.
 */
#include "tool.h"

Bool __wrap_vgModuleLocal_read_elf_debug_info(void *info);

Bool __wrap_vgModuleLocal_read_elf_debug_info(void *info)
{
	(void)info;
	return False;
}
