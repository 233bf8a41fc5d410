# SPDX-License-Identifier: MIT
prepare()
{
	./configure --disable-dependency-tracking --disable-nls && make -j2 && make -k check TESTS=
}
