# SPDX-License-Identifier: MIT
suite='make -j4 -k check'
limit=1800
prepare()
{
	FORCE_UNSAFE_CONFIGURE=1 ./configure --disable-dependency-tracking --disable-nls && make -j2 &&
		make -j2 -k check TESTS=
}
