/* SPDX-License-Identifier: MIT
 *
 * Capstone's library has a table of what it knows of ten architectures, of which we need
 * one: for the others the linker finds this, and leaves 5 MB out.
 */
#include <capstone/capstone.h>

#define WITHOUT(architecture)                                                            \
	cs_err architecture##_global_init(void *handle);                                 \
	cs_err architecture##_option(void *handle, int type, size_t value);              \
	cs_err architecture##_global_init(void *handle)                                  \
	{                                                                                \
		(void)handle;                                                            \
		return CS_ERR_ARCH;                                                      \
	}                                                                                \
	cs_err architecture##_option(void *handle, int type, size_t value)               \
	{                                                                                \
		(void)handle;                                                            \
		(void)type;                                                              \
		(void)value;                                                             \
		return CS_ERR_ARCH;                                                      \
	}

WITHOUT(ARM)
WITHOUT(AArch64)
WITHOUT(Mips)
WITHOUT(PPC)
WITHOUT(Sparc)
WITHOUT(SystemZ)
WITHOUT(XCore)
WITHOUT(M68K)
WITHOUT(TMS320C64x)
WITHOUT(M680X)
WITHOUT(EVM)
