# SPDX-License-Identifier: MIT
package=xz-utils
prepare()
{
	./configure --disable-dependency-tracking --disable-nls && make -j2 && make -k check TESTS=
}
