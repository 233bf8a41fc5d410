/* SPDX-License-Identifier: MIT
 *
 * Names of C++ and Rust.  The mangled ones and what they stand for are those of the
 * Itanium C++ ABI, RFC 2603 and the book of rustc, and of symbols in use.
 */
#include <stdlib.h>

#include "tests/tap/tap.h"
#include "tools/shared/demangle.h"

static const struct {
	const char *name, *meaning;
} names[] = {
	/* C++ */
	{"_ZN4data5plainEv", "data::plain()"},
	{"_ZNSt6vectorIiSaIiEE9push_backERKi",
		"std::vector<int, std::allocator<int> >::push_back(int const&)"},
	/* Rust, as of 2019 */
	{"_RNvCskwGfYPst2Cb_3foo16example_function", "foo::example_function"},
	{"_RNvC6_123foo3bar", "123foo::bar"},
	{"_RNvMs_Cs4Cv8Wi1oAIB_7mycrateNtB4_7Example3foo", "<mycrate::Example>::foo"},
	{"_RNvXCs15kBYyAo9fc_7mycrateNtB2_7ExampleNtB2_5Trait3foo",
		"<mycrate::Example as mycrate::Trait>::foo"},
	{"_RNCNvCsgStHSCytQ6I_7mycrate4main0B3_", "mycrate::main::{closure#0}"},
	{"_RNCNCNgCs6DXkGYLi8lr_2cc5spawn00B5_", "cc::spawn::{closure#0}::{closure#0}"},
	{"_RINvCsgStHSCytQ6I_7mycrate7examplelKj1_EB2_", "mycrate::example::<i32, 1>"},
	{"_RNvCsdEaTj6DE1fQ_7mycrateu8gdel_5qa", "mycrate::g\xc3\xb6"
						 "del"},
	{"_RINbNbCskIICzLVDPPb_5alloc5alloc8box_freeDINbNiB4_5boxed5FnBoxuEp6OutputuEL_"
	 "ECs1iopQbuBiw2_3std",
		"alloc::alloc::box_free::<dyn alloc::boxed::FnBox<(), Output = ()>>"},
	/* Rust before that */
	{"_ZN63_$LT$core..ptr..Unique$LT$T$GT$$u20$as$u20$core..ops..Deref$GT$5deref17h"
	 "19f2ad4920655e85E",
		"<core::ptr::Unique<T> as core::ops::Deref>::deref"},
	{"_ZN71_$LT$Test$u20$$u2b$$u20$$u27$static$u20$as$u20$foo..Bar$LT$Test$GT$$GT$"
	 "3bar17h930b740aa94f1d3aE",
		"<Test + 'static as foo::Bar<Test>>::bar"},
	/* Neither */
	{"main", NULL},
	{"_R", NULL},
	{"_RNvC6_123foo", NULL},
	{"_Z", NULL},
	{"_Zebra", NULL},
	{"", NULL},
};

int main(void)
{
	plan_lazy();
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char *text = cp_demangled(names[i].name);

		is_string(text, names[i].meaning, "%s", names[i].name);
		free(text);
	}
	return 0;
}
