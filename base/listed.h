/* SPDX-License-Identifier: MIT
 *
 * Lists of objects, made by the linker: each object of a kind (a lock, a thread of
 * ours) is put on the list of its kind where it is defined, and fork, exec and the
 * end go through the whole list.  tests/hook/locks.t compares the lists with what
 * the debugging information says is there.
 */
#ifndef CACHEPEEK_BASE_LISTED_H
#define CACHEPEEK_BASE_LISTED_H

#define CP_LISTED_NAME_(line) cp_listed_##line
#define CP_LISTED_NAME(line) CP_LISTED_NAME_(line)

/* Below the object's definition; list is a section, of a name that C allows. */
#define CP_LISTED(list, type, object)                                                    \
	static type *const CP_LISTED_NAME(__LINE__)                                      \
		__attribute__((used, section(#list))) = &(object)

/* The ends of a list; NULL: it has nothing. */
#define CP_LIST_ENDS(list, type)                                                         \
	extern type *const __start_##list[] __attribute__((weak, visibility("hidden"))); \
	extern type *const __stop_##list[] __attribute__((weak, visibility("hidden")))

#endif
