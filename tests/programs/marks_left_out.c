/* SPDX-License-Identifier: MIT
 *
 * Regions whose ends have no names: letters of the argument begin one of that name, a dot
 * ends the innermost, and each of them touches a page that is new.  Kokkos' interface, of
 * which other tools' markers are the same.
 */
#include <string.h>
#include <sys/mman.h>

void kokkosp_push_profile_region(const char *name) __attribute__((weak));
void kokkosp_pop_profile_region(void) __attribute__((weak));

int main(int argc, char **argv)
{
	const char *steps = argc > 1 ? argv[1] : "";
	volatile char *page = mmap(NULL, (strlen(steps) + 1) << 12,
		PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	for (; *steps; steps++, page += 4096) {
		if (kokkosp_pop_profile_region && *steps == '.')
			kokkosp_pop_profile_region();
		else if (kokkosp_push_profile_region && *steps != '.')
			kokkosp_push_profile_region((char[]){*steps, '\0'});
		*page = 1;
	}
	return 0;
}
